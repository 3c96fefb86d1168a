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
  /// Frozen program to evaluate or predict with; empty: the one with the
  /// command's name.
  std::string program;
  /// Files, rows, batch size, shuffling, bad rows. The seed is `seed` below.
  DataOptions data;
  /// Absent: the seed of the --init-from file, else 0.
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
  /// Devices that a program for devices computes on (ProgramDevice.h).
  std::string device = "cuda";
  /// True if products may round their factors to TF32.
  bool roundsToTF32 = false;
  TablePlacement tablePlacement = TablePlacement::Host;
  /// Memory limit of the tables of this process.
  TableBound tableBound;
  /// Maximum number of samples that group metrics may store in this process.
  int64_t maxGroupedSamples = 100'000'000;

  /// Passes over the data; absent: 1, or as many as `steps` needs.
  std::optional<int64_t> epochs;
  /// Total number of steps, including steps before a resumed checkpoint;
  /// absent: no limit.
  std::optional<int64_t> steps;

  /// Data for the test metrics after each epoch. If only rows are given, these
  /// rows of `data.files`.
  std::vector<std::string> evaluateFiles;
  std::optional<RowRange> evaluateRows;

  /// True if values of layout 1 may be opened (ModelParts.h).
  bool acceptOldLayout = false;
  /// Paths of files; empty: none.
  std::string initFrom, dump, dumpBatches, dumpInputs, logLosses, output, trace,
      costs;
  /// True if the figures of all processes of the job are reported here.
  bool printsFigures = true;
  bool dumpSlots = false;
  /// Training only: loads only values from `initFrom`, without slots and step
  /// counts.
  bool initValuesOnly = false;
  /// Format of predictions. Absent: given by the extension of `output`, else
  /// tsv.
  std::optional<PredictionFormat> outputFormat;
  /// Maximum time in milliseconds that a row from a pipe waits for other rows
  /// of its batch before it is predicted.
  int64_t flushAfter = 100;

  /// Training: folder to save to and to resume from. Other commands: this
  /// folder, or one checkpoint in it, to start from. Empty: none.
  std::string checkpoint;
  /// Number of steps between saves, in addition to saves after each epoch and
  /// at the end.
  std::optional<int64_t> checkpointSteps;
  /// Maximum time between the starts of two saves, in minutes.
  std::optional<double> checkpointMinutes;
  /// True if the training saves at its end, but not after each epoch.
  bool checkpointAtEnd = false;
  /// Number of consecutive saves that may fail before the training shuts down
  /// gracefully.
  int64_t maxFailedSaves = 3;
  /// Folder for the last checkpoint if it cannot be saved to `checkpoint`;
  /// empty: none.
  std::string emergencyCheckpoint;
  /// Maximum number of deltas between two whole checkpoints; 0: no deltas.
  int64_t checkpointDeltas = 0;
  /// Number of checkpoints to keep, in addition to those that they depend on;
  /// 0: all.
  int64_t checkpointKeep = 3;
  /// True if the training resumes from the newest checkpoint, if there is one.
  bool resume = false;

  /// Training with servers; then `groups` is the number of trainers.
  /// `transport` must outlive the call.
  std::optional<DistributedOptions> distributed;
  Transport *transport = nullptr;
  /// If trainers own state: the program of this trainer's owner, with role
  /// pserver, and its listening address. The transport delivers requests of
  /// this process to it without a socket (LoopbackTransport.h).
  const pdl_descriptor *ownerProgram = nullptr;
  ListenPlace ownerPlace;
  /// Receives an error message before other processes are told, because that
  /// may take long. The command returns the error too. May be empty.
  std::function<void(const std::string &sentence)> onError;
};

/// Run a command on a checked descriptor. They print the report to the standard
/// output and progress to the error stream. A stop signal ends a command after
/// the current step; all requested outputs are still written, and the command
/// returns success. Throw std::bad_alloc and std::system_error.
Status runTrain(const pdl_descriptor &descriptor,
                const SessionOptions &options);
Status runEvaluate(const pdl_descriptor &descriptor,
                   const SessionOptions &options);
Status runPredict(const pdl_descriptor &descriptor,
                  const SessionOptions &options);

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_SESSION_H
