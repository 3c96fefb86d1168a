//===- StepPrediction.h - Predict the time of a step ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The prediction uses measured constants of a machine and of a single training
// process, and the computed load of a job. It is not fitted to measurements of
// jobs.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_PS_STEPPREDICTION_H
#define LIB_TRANSFORMS_PS_STEPPREDICTION_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace pdlc {

/// Results of `pdl-measure`: operations and bytes per second of one core, and
/// times in seconds. Times of messages are processor time on both ends, per
/// message with its response and per byte of it.
struct MachineConstants {
  double flops = 0, memoryBytes = 0, networkBytes = 0, roundTrip = 0;
  /// Time per key that a table contains, and per key that it does not contain.
  double findKey = 0, newKey = 0;
  /// Time per byte of newly allocated memory.
  double newByte = 0;
  double message = 0, messageByte = 0;
  /// Message times between processes of one host, over unix sockets.
  double localMessage = 0, localMessageByte = 0;
  double cores = 1;
  /// Memory of a process without state.
  double processBytes = 0;
};

/// Costs of a step in one process in mode local, as `trainer train --costs`
/// writes them: seconds, bytes and numbers.
struct MeasuredCosts {
  double batchSize = 0, replicas = 0;
  double step = 0, processors = 0, apply = 0;
  double ids = 0, keys = 0;
  /// Number of measured steps, and number of keys in all tables after them.
  double steps = 0, tableKeys = 0;
  double residentBytes = 0, tableBytes = 0;
  /// Memory of the device: total, tables, and memory per sample and per key of
  /// a step. 0 if no device was used.
  double deviceBytes = 0, deviceTableBytes = 0;
  double deviceBytesOfSample = 0, deviceBytesOfKey = 0;
};

/// One owner of state, and the traffic between it and one sender in a step.
struct OwnerLoad {
  bool inTrainer = false;
  double bytesIn = 0, bytesOut = 0, keys = 0;
  /// Mode geo: keys that others have changed, in a response.
  double otherKeys = 0;
  /// Mode geo: bytes of the values of `keys`, without slots.
  double valueBytes = 0;
  /// Bytes of values and slots that a step of one sender accesses.
  double denseBytes = 0, rowBytes = 0;
};

/// Work of a job in a step.
struct JobLoad {
  int64_t trainers = 1, workers = 1, sendersOfTrainer = 1, batchSize = 1;
  /// Number of requests from a sender to each owner per step. A fraction if
  /// several steps share a request.
  double messages = 1;
  bool stepsAreRounds = false, trainersApply = false;
  /// True if messages are sent in the background during the next step.
  bool isConcurrent = false;
  /// True if all processes run on one host.
  bool sharesHost = false;
  double flopsOfSample = 0;
  std::vector<OwnerLoad> owners;
};

/// Predicted times of a step, in seconds.
struct PredictedStep {
  /// Time of a worker without the exchange.
  double compute = 0;
  double network = 0, roundTrips = 0;
  /// Time of the busiest owner per step.
  double owner = 0;
  /// Processor time of all processes.
  double processors = 0;
  /// Time from one step of a trainer to its next.
  double step = 0;
  /// True if the processors of the host are the limit rather than the sequence
  /// of work.
  bool limitedByProcessors = false;
};

/// Returns the number of distinct keys of `steps` consecutive steps, relative
/// to that of one step. The number grows as a power of the number of samples
/// (Heaps' law). The power is determined from the keys of one step and of all
/// measured steps.
double keyGrowth(const MeasuredCosts &costs, double steps);

/// Reads the file at `path`. On failure, reports a single error at `module`.
mlir::FailureOr<MachineConstants> readMachine(mlir::ModuleOp module,
                                              llvm::StringRef path);
mlir::FailureOr<MeasuredCosts> readCosts(mlir::ModuleOp module,
                                         llvm::StringRef path);

/// Predicts the time of a step. `costs` may be null if none were measured. Then
/// a worker's time follows from the operations of its products, and that of
/// rules from the bytes that they access.
PredictedStep predictStep(const JobLoad &job, const MachineConstants &machine,
                          const MeasuredCosts *costs);

} // namespace pdlc

#endif // LIB_TRANSFORMS_PS_STEPPREDICTION_H
