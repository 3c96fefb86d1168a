//===- ClusterFlags.h - Flags of a trainer with servers ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_CLUSTERFLAGS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_CLUSTERFLAGS_H

#include "pdlabi/abi.h"
#include "pdlabi/defaults.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Where CLI11 puts what it read.
struct ClusterFlags {
  int64_t rank = 0, trainers = 1;
  std::vector<std::string> servers, peers;
  std::string bind, job, tokenFile,
      placement = "least-loaded", onFailure = "abort", packKeys = "none",
      packGradients = "none", overlap = "auto", deviceSums = "auto";
  double silenceLimit = 10, joinPatience = 60;
  int64_t geoSteps = pdlabi::defaultGeoSteps;
  int64_t pushQueue = 0, maxMerge = 1;
  int64_t partBytes = OverlapOptions().partBytes;
};

/// Adds the flags to `train`. A program for one process has them too, but out
/// of its help, so that it can say what it lacks.
void addClusterFlags(CLI::App &command, const pdl_descriptor &descriptor,
                     ClusterFlags &flags);

/// Checks what was given to `train`, and brings it into `options`, of which
/// groups and workers are set. An error is a wrong flag.
Status takeClusterFlags(const CLI::App &command,
                        const pdl_descriptor &descriptor,
                        const ClusterFlags &flags, SessionOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_CLUSTERFLAGS_H
