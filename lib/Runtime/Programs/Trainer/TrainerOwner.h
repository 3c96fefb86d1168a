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

/// Owner of a part of the state in a trainer's process, in modes in which
/// trainers own state. It reads data that this process sends in place, so it
/// must be destroyed before the training's other parts. Only one thread may use
/// it.
class TrainerOwner {
public:
  /// Both must outlive the owner.
  TrainerOwner(const pdl_descriptor &descriptor, const SessionOptions &options)
      : descriptor(descriptor), options(options) {}

  /// Returns true if this trainer is to own a part of the state.
  bool isNeeded() const { return options.ownerProgram && options.distributed; }
  /// Starts to listen and to load. Returns an error if it cannot listen.
  Status start(uint64_t seed);
  /// Returns true if another process of the same rank may be using the address,
  /// and may be alive. Other trainers must then not hear of this failure.
  bool lacksAddress() const { return isAddressTaken; }
  /// Returns the running owner; null: none.
  StateHost *host() const { return running.get(); }
  /// Serves until all trainers have left, because this one may be the first.
  /// `outcome` is the result of this trainer; if it is a failure, the others
  /// are told. Does nothing if no owner runs.
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
