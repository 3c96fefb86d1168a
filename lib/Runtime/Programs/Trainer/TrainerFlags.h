//===- TrainerFlags.h - Tables of flags of a trainer ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAINERFLAGS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAINERFLAGS_H

#include "Programs/Trainer/ClusterFlags.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <string>

namespace pdlrt {

/// Value of --replicas.
struct Replicas {
  int groups = 1, workers = 1;
};

/// Values of all flags of a trainer. A command sets some of them.
struct TrainerFlags {
  SessionOptions session;
  ClusterFlags cluster;
  Replicas replicas;
  /// Address of the monitoring endpoint (Monitor.h); empty: none.
  std::string metricsAddress;
  /// Path of the summary of the run (RunSummary.h); empty: none.
  std::string summary;
};

// These functions return the tables of commands. Flags that this program cannot
// use because of its mode or target are in the tables, but not offered.
CommandTable trainCommand(const pdl_descriptor &descriptor,
                          TrainerFlags &flags);
CommandTable evaluateCommand(const pdl_descriptor &descriptor,
                             TrainerFlags &flags);
CommandTable predictCommand(const pdl_descriptor &descriptor,
                            TrainerFlags &flags);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAINERFLAGS_H
