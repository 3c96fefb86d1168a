//===- StepPrediction.h - Predict the time of a step ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time of a step is predicted from measured constants of a machine,
// measured costs of a training in one process, and the computed load of a job.
// No constant is fitted to measurements of jobs.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_PS_STEPPREDICTION_H
#define LIB_TRANSFORMS_PS_STEPPREDICTION_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace pdlc {

/// Results of `pdl-measure`. `flops`, `memoryBytes` and `networkBytes` are per
/// second, those of computation for one core. All times are in seconds.
/// `message` and `messageByte` are the processor time that sender and receiver
/// together need for a message with its response, and for each byte of it.
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

/// Costs of a step in one process in mode local, from the file that `trainer
/// train --costs` writes. Times are in seconds, and sizes in bytes.
struct MeasuredCosts {
  double batchSize = 0, replicas = 0;
  double step = 0, processors = 0, apply = 0;
  double ids = 0, keys = 0;
  /// Number of measured steps, and number of keys in all tables after them.
  double steps = 0, tableKeys = 0;
  double residentBytes = 0, tableBytes = 0;
  /// Device memory in bytes: in total, of tables, for each sample of a step,
  /// and for each key of a step. 0 if no device was used.
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
  /// Number of requests that a sender sends to each owner in a step. It is a
  /// fraction if one request serves several steps.
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
  /// True if the processors of the shared host limit the throughput. False if a
  /// step takes as long as its parts one after the other.
  bool limitedByProcessors = false;
};

/// Returns the number of distinct keys in `steps` consecutive steps, as a
/// multiple of the number in one step. It is a power of the number of samples
/// (Heaps' law), whose exponent follows from the keys of one step and of all
/// measured steps.
double keyGrowth(const MeasuredCosts &costs, double steps);

/// Reads the file at `path`. On failure, reports a single error at `module`.
mlir::FailureOr<MachineConstants> readMachine(mlir::ModuleOp module,
                                              llvm::StringRef path);
mlir::FailureOr<MeasuredCosts> readCosts(mlir::ModuleOp module,
                                         llvm::StringRef path);

/// Predicts the time of a step. If `costs` is null, the time of a worker is
/// computed from the operations of its products, and the time of rules from the
/// bytes that they access.
PredictedStep predictStep(const JobLoad &job, const MachineConstants &machine,
                          const MeasuredCosts *costs);

} // namespace pdlc

#endif // LIB_TRANSFORMS_PS_STEPPREDICTION_H
