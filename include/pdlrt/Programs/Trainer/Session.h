//===- Session.h - The commands of a trainer --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_TRAINER_SESSION_H
#define PDLRT_PROGRAMS_TRAINER_SESSION_H

#include "pdlabi/abi.h"
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

/// What a trainer was asked to do.
struct SessionOptions {
  /// To evaluate and to predict: the frozen program to run; empty: that of the
  /// command's name.
  std::string program;
  /// Files, rows, batch size, shuffling, bad rows. The seed is `seed` below.
  DataOptions data;
  /// Absent: the seed of the --init-from file, else 0.
  std::optional<uint64_t> seed;

  int groups = 1;
  int workers = 1;
  /// Whether they update the state of this process without waiting.
  bool hogwild = false;
  int threads = 1;
  /// Whether each keeps to a processor of its own.
  bool pinThreads = false;
  /// Products of bf16 factors are computed without AVX512-BF16.
  bool emulateBFloat16 = false;
  /// What a program for devices computes on (ProgramDevice.h).
  std::string device = "cuda";
  /// Its products may round factors to TF32.
  bool roundsToTF32 = false;
  /// Where tables are: "host" or "device".
  std::string tablePlacement = "host";
  /// What tables of this process hold at most.
  TableBound tableBound;
  /// How many samples metrics of groups may keep in this process.
  int64_t maxGroupedSamples = 100'000'000;

  /// Passes over the data; absent: 1, or as many as `steps` takes.
  std::optional<int64_t> epochs;
  /// Steps in total, those before a resumed checkpoint included; absent: no
  /// limit.
  std::optional<int64_t> steps;

  /// Data for the test metrics after each epoch; with rows only, those rows of
  /// `data.files`.
  std::vector<std::string> evaluateFiles;
  std::optional<RowRange> evaluateRows;

  /// Whether values of layout 1 are opened (ModelParts.h).
  bool acceptOldLayout = false;
  /// Files; empty: none.
  std::string initFrom, dump, dumpBatches, dumpInputs, logLosses, output, trace,
      costs;
  bool dumpSlots = false;
  /// Training: of `initFrom`, takes values without slots and step counts.
  bool initValuesOnly = false;
  /// How predictions are written: "tsv", "csv" or "safetensors"; empty: as the
  /// end of the name of `output` says, else "tsv".
  std::string outputFormat;
  /// How many milliseconds a row from a pipe waits for others of its batch
  /// before it is predicted.
  int64_t flushAfter = 100;

  /// Training: the folder to save to and to resume from. Else: the folder, or
  /// one checkpoint in it, to start from. Empty: none.
  std::string checkpoint;
  /// Save after each so many steps, beside after each epoch and at the end.
  std::optional<int64_t> checkpointSteps;
  /// Save when that many minutes have passed since the last save began.
  std::optional<double> checkpointMinutes;
  /// Save at the end of the training, but not after each epoch.
  bool checkpointAtEnd = false;
  /// How many saves in a row may fail before the training stops in order.
  int64_t maxFailedSaves = 3;
  /// Where the last checkpoint goes if it cannot be saved to `checkpoint`;
  /// empty: nowhere.
  std::string emergencyCheckpoint;
  /// How many deltas stand between two whole checkpoints; 0: all are whole.
  int64_t checkpointDeltas = 0;
  /// How many checkpoints stay, with all that they follow; 0: all.
  int64_t checkpointKeep = 3;
  /// Go on from the newest checkpoint, if there is one.
  bool resume = false;

  /// Training with servers: `groups` is then the number of trainers. The
  /// transport outlives the call.
  std::optional<DistributedOptions> distributed;
  Transport *transport = nullptr;
  /// Where trainers own state: the program of this one's owner, of role
  /// pserver, and where it listens. The transport takes its requests from this
  /// process without a socket (LoopbackTransport.h).
  const pdl_descriptor *ownerProgram = nullptr;
  ListenPlace ownerPlace;
  /// Gets the sentence of an error that others are told too, before that: it
  /// may take long. The command returns it as well. May be empty.
  std::function<void(const std::string &sentence)> onError;
};

/// Runs a command on a checked descriptor: reads, steps, reports to the
/// standard output, shows progress on the error stream. A stop signal ends it
/// after the current step, with what was asked for still written, and counts as
/// success here. Throws std::bad_alloc and std::system_error.
Status runTrain(const pdl_descriptor &descriptor,
                const SessionOptions &options);
Status runEvaluate(const pdl_descriptor &descriptor,
                   const SessionOptions &options);
Status runPredict(const pdl_descriptor &descriptor,
                  const SessionOptions &options);

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_SESSION_H
