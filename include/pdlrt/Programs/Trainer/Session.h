//===- Session.h - Commands of a trainer ------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_TRAINER_SESSION_H
#define PDLRT_PROGRAMS_TRAINER_SESSION_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Job/DistributedJob.h"
#include "pdlrt/State/TableBound.h"
#include "pdlrt/Transport/Address.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Memory of the tables of a program that computes on devices.
enum class TablePlacement { Host, Device };

/// Formats of predictions (Predictions.h).
enum class PredictionFormat { Tsv, Csv, Safetensors };

/// Options of a trainer's command.
struct SessionOptions {
  /// Name of the frozen program with which to evaluate or predict. Empty: the
  /// program that has the name of the command.
  std::string program;
  /// Files, rows, batch size, shuffling, bad rows. The seed is `seed` below,
  /// not `data.seed`.
  DataOptions data;
  /// Seed. Nullopt: the seed of the checkpoint or of the --init-from file, or 0
  /// if there is none.
  std::optional<uint64_t> seed;

  int groups = 1;
  int workers = 1;
  /// True if workers update the state of this process without locks (Hogwild).
  bool hogwild = false;
  int threads = 1;
  /// True if each thread is pinned to its own CPU.
  bool pinThreads = false;
  /// True if products of bf16 factors are emulated without AVX512-BF16
  /// instructions.
  bool emulateBFloat16 = false;
  /// True if f32 products of numerics fast never use bf16x6.
  bool keepsF32 = false;
  /// Devices for a program that was compiled for devices (ProgramDevice.h).
  std::string device = "cuda";
  /// True if products may round their factors to TF32.
  bool roundsToTF32 = false;
  TablePlacement tablePlacement = TablePlacement::Host;
  /// Memory limit of the tables of this process.
  TableBound tableBound;
  /// Maximum number of samples that grouped metrics may store in all processes
  /// of the job together. Each process may store an equal share.
  int64_t maxGroupedSamples = 100'000'000;

  /// Number of passes over the data. Nullopt: 1, or as many as `steps` needs.
  std::optional<int64_t> epochs;
  /// Total number of steps, including the steps before the checkpoint from
  /// which the training resumes. Nullopt: no limit.
  std::optional<int64_t> steps;

  /// Data on which metrics are computed after each epoch. If `evaluateFiles` is
  /// empty but rows are given, uses these rows of `data.files`.
  std::vector<std::string> evaluateFiles;
  std::optional<RowRange> evaluateRows;
  /// Number of steps between two evaluations on these data within an epoch.
  /// Nullopt: evaluates only after each epoch.
  std::optional<int64_t> evaluateEvery;
  /// Number of consecutive evaluations without an improvement after which the
  /// training stops. Nullopt: no early stopping.
  std::optional<int64_t> patience;
  /// Minimum difference that counts as an improvement.
  std::optional<double> minDelta;
  /// Metric that early stopping uses; empty: the default (TrackedMetric.h).
  std::string monitor;
  /// Metric whose best checkpoint is kept; empty: none.
  std::string keepBest;

  /// True if values of layout 1 may be opened (ModelParts.h).
  bool acceptOldLayout = false;
  /// Paths of files; empty: none.
  std::string initFrom, dump, dumpBatches, dumpInputs, logLosses, logMetrics,
      output, trace, costs;
  /// Folder of event files for TensorBoard; empty: none.
  std::string tensorboard;
  /// Interval of figures in `logMetrics` and `tensorboard`: a number of steps,
  /// or of seconds if there is none.
  std::optional<int64_t> logMetricsSteps;
  double logMetricsSeconds = 10;
  /// True if the figures of all processes of the job are reported here.
  bool printsFigures = true;
  bool dumpSlots = false;
  /// True if training loads only values from `initFrom`, without slots and step
  /// counts.
  bool initValuesOnly = false;
  /// Format of predictions. Nullopt: the extension of `output` decides; tsv if
  /// it has none.
  std::optional<PredictionFormat> outputFormat;
  /// Maximum time in milliseconds that a row from a pipe waits for other rows
  /// of its batch before it is predicted.
  int64_t flushAfter = 100;

  /// Path of checkpoints; empty: none. Training saves them in this folder, and
  /// resumes from it. Other commands use the newest checkpoint in this folder;
  /// the path may also name one checkpoint.
  std::string checkpoint;
  /// Number of steps between two saves. Nullopt: none by steps. There is also a
  /// save after each epoch and at the end.
  std::optional<int64_t> checkpointSteps;
  /// Maximum time between the starts of two saves, in minutes.
  std::optional<double> checkpointMinutes;
  /// A checkpoint is saved when the event time crosses a multiple of this many
  /// milliseconds. Nullopt: none by event time.
  std::optional<int64_t> checkpointEventTime;
  /// True if the training does not save after each epoch, but only at its end.
  bool checkpointAtEnd = false;
  /// Number of consecutive saves that may fail before the training shuts down
  /// gracefully.
  int64_t maxFailedSaves = 3;
  /// Folder for the last checkpoint if it cannot be saved to `checkpoint`;
  /// empty: none.
  std::string emergencyCheckpoint;
  /// Maximum number of deltas between two full checkpoints; 0: no deltas.
  int64_t checkpointDeltas = 0;
  /// Number of checkpoints to keep; 0: all. Predecessors of kept deltas are
  /// kept too.
  int64_t checkpointKeep = 3;
  /// True if the training resumes from the newest checkpoint, if there is one.
  bool resume = false;

  /// Set for training in a distributed job; `groups` is then the number of
  /// trainers. `transport` must outlive the call.
  std::optional<DistributedOptions> distributed;
  Transport *transport = nullptr;
  /// Set in modes in which trainers own state: the program of the owner in this
  /// trainer, which has role pserver, and the address at which the owner
  /// listens. The transport delivers requests of this process to its own owner
  /// without a socket (LoopbackTransport.h).
  const pdl_descriptor *ownerProgram = nullptr;
  ListenPlace ownerPlace;
  /// Called with an error message before other processes are told of the error,
  /// because telling them may take long. The command also returns the error.
  /// May be empty.
  std::function<void(const std::string &message)> onError;
};

/// The following functions run a command. `descriptor` must have passed
/// `checkDescriptor`. They print the report to the standard output, and
/// progress to the standard error. A stop signal ends a command after the
/// current step; all requested outputs are still written, and the command
/// returns success. They throw std::bad_alloc and std::system_error.
Status runTrain(const pdl_descriptor &descriptor,
                const SessionOptions &options);
Status runEvaluate(const pdl_descriptor &descriptor,
                   const SessionOptions &options);
Status runPredict(const pdl_descriptor &descriptor,
                  const SessionOptions &options);

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_SESSION_H
