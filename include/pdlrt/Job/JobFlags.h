//===- JobFlags.h - Flags that trainers and servers share -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_JOBFLAGS_H
#define PDLRT_JOB_JOBFLAGS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Protocol/Packing.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/State/Placement.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Upper bounds of flags.
inline constexpr uint64_t maxProcesses = 4096, maxThreads = 1024,
                          maxCount = uint64_t(1) << 60;

/// Values of flags that trainers and servers both have. Most values must be
/// equal in all processes of a job.
struct JobFlags {
  int64_t rank = 0, trainers = 1;
  std::vector<std::string> servers;
  std::string bind, job, tokenFile;
  PlacementPolicy placement = PlacementPolicy::LeastLoaded;
  FailurePolicy onFailure = FailurePolicy::Abort;
  GradientPacking packGradients = GradientPacking::None;
  double silenceLimit = 10, joinPatience = 60;
};

// Rows for the flag tables of trainers and servers. Parts of help texts that
// differ between the two are arguments.

Flag serversFlag(JobFlags &flags, const std::string &placeholder);
/// Returns the flag --bind. `own` describes the address of this process if the
/// flag is not given.
Flag bindFlag(JobFlags &flags, const std::string &own);
Flag jobFlag(JobFlags &flags, const std::string &help);
Flag tokenFileFlag(JobFlags &flags);
Flag placementFlag(JobFlags &flags);
Flag onFailureFlag(JobFlags &flags, const std::string &help);
Flag packGradientsFlag(JobFlags &flags, const std::string &help);
/// Returns the flag for the limit of silence. `other` is the kind of the other
/// processes, such as "a server".
Flag silenceLimitFlag(JobFlags &flags, const std::string &other);
/// Returns the flag for the time to wait at the start. `others` is the kind of
/// the other processes in the plural, such as "servers".
Flag waitFlag(JobFlags &flags, const std::string &others);

Flag seedFlag(std::optional<uint64_t> &seed, const std::string &purpose);
Flag initValuesOnlyFlag(bool &target);
Flag acceptOldLayoutFlag(bool &target);
Flag checkpointMinutesFlag(std::optional<double> &minutes,
                           const std::string &help);
Flag traceFlag(std::string &target, const std::string &time = {});
Flag metricsAddressFlag(std::string &target);
Flag summaryFlag(std::string &target);

/// Opens the summary of a run of `program`, such as "trainer train", at `path`;
/// does nothing if that is empty. `app` has parsed the command line. Call
/// before other checks of flags, whose errors the summary contains.
Status openSummary(const std::string &path, const std::string &program,
                   const pdl_descriptor &descriptor, const JobFlags &flags,
                   const CLI::App &app);

} // namespace pdlrt

#endif // PDLRT_JOB_JOBFLAGS_H
