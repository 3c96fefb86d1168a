//===- StepPrediction.h - How long a job's step will take -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From constants that were measured, of a machine and of one process that
// trains, and from what a job will move. No part is fitted to measurements of
// jobs.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_STEPPREDICTION_H
#define LIB_TRANSFORMS_STEPPREDICTION_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace pdlc {

/// What `pdl-measure` finds: operations and bytes a second, of one core;
/// seconds; processor time of both ends of a message and its answer, and of
/// each byte of them.
struct MachineConstants {
  double flops = 0, memoryBytes = 0, networkBytes = 0, roundTrip = 0;
  /// Of a key that a table has, and of one that it has not.
  double findKey = 0, newKey = 0;
  /// Of a byte of memory that a process did not have.
  double newByte = 0;
  double message = 0, messageByte = 0;
  /// The same between processes of one host, over unix sockets.
  double localMessage = 0, localMessageByte = 0;
  double cores = 1;
  /// Memory of a process that holds no state.
  double processBytes = 0;
};

/// What `trainer train --costs` of one process in mode local writes: of a step,
/// in seconds, bytes and numbers.
struct MeasuredCosts {
  double batchSize = 0, replicas = 0;
  double step = 0, processors = 0, apply = 0;
  double ids = 0, keys = 0;
  /// How many steps were measured, and keys of all tables behind them.
  double steps = 0, tableKeys = 0;
  double residentBytes = 0, tableBytes = 0;
  /// Of its device: all, and of that its tables, and what each sample and key
  /// of a step makes. 0: it used none.
  double deviceBytes = 0, deviceTableBytes = 0;
  double deviceBytesOfSample = 0, deviceBytesOfKey = 0;
};

/// One owner of state, and what goes between it and one sender in a step.
struct OwnerLoad {
  bool inTrainer = false;
  double bytesIn = 0, bytesOut = 0, keys = 0;
  /// Mode geo: keys that others have changed, which an answer brings.
  double otherKeys = 0;
  /// Of a row's value, without slots.
  double valueBytes = 0;
  /// Of values, slots and gradients that a step of one sender touches.
  double denseBytes = 0, rowBytes = 0;
};

/// What a job does in a step.
struct JobLoad {
  int64_t trainers = 1, workers = 1, sendersOfTrainer = 1, batchSize = 1;
  /// Requests of a sender to each owner, in a step; a fraction where several
  /// steps have one.
  double messages = 1;
  bool stepsAreRounds = false, trainersApply = false;
  /// What is sent travels while the next step is computed.
  bool isBeside = false;
  /// All processes are on one host.
  bool sharesHost = false;
  double flopsOfSample = 0;
  std::vector<OwnerLoad> owners;
};

/// Seconds of a step.
struct PredictedStep {
  /// Of a worker, without the exchange.
  double compute = 0;
  double network = 0, roundTrips = 0;
  /// What the busiest owner does for a step.
  double owner = 0;
  /// Processor time of all processes.
  double processors = 0;
  /// From one step of a trainer to its next.
  double step = 0;
  /// Whether the processors of the host are the limit, not the order of things.
  bool limitedByProcessors = false;
};

/// The distinct keys of so many steps that follow each other, over those of
/// one. They grow as a power of the number of samples (Heaps' law), which goes
/// through those of one step and those of all that were measured.
double keyGrowth(const MeasuredCosts &costs, double steps);

/// Reads the file of that name; else one error at `module`.
mlir::FailureOr<MachineConstants> readMachine(mlir::ModuleOp module,
                                              llvm::StringRef path);
mlir::FailureOr<MeasuredCosts> readCosts(mlir::ModuleOp module,
                                         llvm::StringRef path);

/// `costs`: null where none were measured; then a worker computes as many
/// operations as products have, and rules cost the bytes that they touch.
PredictedStep predictStep(const JobLoad &job, const MachineConstants &machine,
                          const MeasuredCosts *costs);

} // namespace pdlc

#endif // LIB_TRANSFORMS_STEPPREDICTION_H
