//===- ClusterFlags.h - Flags of a trainer with servers ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_CLUSTERFLAGS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_CLUSTERFLAGS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlabi/defaults.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Job/JobFlags.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Values of flags about other processes.
struct ClusterFlags : JobFlags {
  std::vector<std::string> peers;
  KeyPacking packKeys = KeyPacking::None;
  Overlap overlap = Overlap::Auto;
  bool printFigures = false;
  /// Absent: automatic.
  std::optional<DeviceSumsUse> deviceSums;
  int64_t geoSteps = pdlabi::defaultGeoSteps;
  int64_t pushQueue = 0, maxMerge = 1;
  /// Absent: the default of `OverlapOptions`.
  std::optional<int64_t> partBytes;
};

/// Returns those flags of `train` that concern other processes. They are not
/// offered in a program of one process.
FlagGroup clusterFlags(const pdl_descriptor &descriptor, ClusterFlags &flags);

/// Checks the flags that were given to `train`, and sets `options.distributed`
/// accordingly. `options.groups` and `options.workers` must be set. Does
/// nothing in a program of one process. An error is always the error of a wrong
/// flag.
Status takeClusterFlags(const pdl_descriptor &descriptor,
                        const ClusterFlags &flags, SessionOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_CLUSTERFLAGS_H
