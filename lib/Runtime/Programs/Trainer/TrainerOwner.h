//===- TrainerOwner.h - Owner of state in a trainer -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAINEROWNER_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAINEROWNER_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Job/StateHost.h"
#include "pdlrt/Programs/Trainer/Session.h"
#include "pdlrt/State/Placement.h"

#include <cstdint>
#include <memory>

namespace pdlrt {

/// Owner of a part of the state in the process of a trainer, in modes in which
/// trainers own state. Reads data of this process without a copy, so it must be
/// destroyed before the other objects of the training. Only one thread may use
/// it.
class TrainerOwner {
public:
  /// Both arguments must outlive the owner.
  TrainerOwner(const pdl_descriptor &descriptor, const SessionOptions &options)
      : descriptor(descriptor), options(options) {}

  /// Returns true if this trainer must own a part of the state.
  bool isNeeded() const { return options.ownerProgram && options.distributed; }
  /// Starts to listen and to load. Returns an error if it cannot listen on its
  /// address.
  Status start(uint64_t seed);
  /// Returns true if `start` could not listen on its address. Another process
  /// of the same rank may use the address and still be alive, so the other
  /// trainers must not be told about this failure.
  bool lacksAddress() const { return isAddressTaken; }
  /// Returns the running owner; null: none.
  StateHost *host() const { return running.get(); }
  /// Serves until all trainers have left the job, because this trainer may be
  /// the first to leave. `outcome`: result of this trainer; a failure is
  /// reported to the others. Does nothing if no owner runs.
  void end(const Status &outcome);

private:
  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  bool isAddressTaken = false;
  std::unique_ptr<const Placement> placement;
  std::unique_ptr<StateHost> running;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAINEROWNER_H
