//===- TrainerFlags.cpp - Tables of flags of a trainer --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainerFlags.h"

#include "Programs/Trainer/CheckpointFlags.h"
#include "Programs/Trainer/ReadingFlags.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Files/PlaceFlags.h"
#include "pdlrt/Programs/Trainer/TrainFlagForms.h"
#include "pdlrt/State/TableBoundFlags.h"

#include <fmt/format.h>
#include <string>
#include <vector>

using namespace pdlrt;

static constexpr uint64_t maxReplicas = 4096;
/// Maximum value of a flag: one day in milliseconds.
static constexpr uint64_t maxFlushAfter = 24 * 3600 * 1000;

// Headings of the help text.
static constexpr const char *dataGroup = "Data", *trainingGroup = "Training",
                            *stateGroup = "State",
                            *checkpointGroup = "Checkpoints",
                            *executionGroup = "Execution",
                            *monitoringGroup = "Monitoring";

static Expected<Replicas> parseReplicas(const std::string &text) {
  const size_t cross = text.find('x');
  if (cross != std::string::npos) {
    const auto groups = parseWholeNumber(text.substr(0, cross), 1, maxReplicas);
    const auto workers =
        parseWholeNumber(text.substr(cross + 1), 1, maxReplicas);
    if (groups && workers && *groups * *workers <= maxReplicas)
      return Replicas{int(*groups), int(*workers)};
  }
  return Status::invalidArgument(
      "'" + text +
      "' is no number of replicas; give GROUPSxWORKERS, "
      "such as 2x4, with at most " +
      std::to_string(maxReplicas) + " in all");
}

//===----------------------------------------------------------------------===//
// Rows that several commands have
//===----------------------------------------------------------------------===//

/// Returns the rows of flags about initial values.
static std::vector<Flag> modelFlags(SessionOptions &session) {
  return {{.names = "--init-from",
           .placeholder = "FILE",
           .value = placeValue(session.initFrom),
           .help = "Start from the values in this safetensors file, such as "
                   "one that --dump wrote",
           .isOfJob = true},
          seedFlag(session.seed, "Seed of initial values and of shuffling"),
          acceptOldLayoutFlag(session.acceptOldLayout)};
}

/// Returns the flags of commands that read a trained model.
static std::vector<Flag> trainedModelFlags(SessionOptions &session) {
  std::vector<Flag> flags = modelFlags(session);
  flags.push_back({.names = "--checkpoint",
                   .placeholder = "FOLDER",
                   .value = placeValue(session.checkpoint),
                   .help = "Start from this checkpoint, or from the newest "
                           "complete one in this folder",
                   .excludes = {"--init-from"}});
  return flags;
}

static Flag programFlag(SessionOptions &session, const std::string &command) {
  return {.names = "--program",
          .placeholder = "NAME",
          .value = FlagValue::text(session.program),
          .help =
              "Run this frozen program of the model instead of @" + command};
}

static Flag outputFormatFlag(SessionOptions &session) {
  return {.names = "--output-format",
          .placeholder = "FORMAT",
          .value = FlagValue::choice(
              session.outputFormat,
              {{"tsv", PredictionFormat::Tsv},
               {"csv", PredictionFormat::Csv},
               {"safetensors", PredictionFormat::Safetensors}}),
          .help = "Format of --output: tsv or csv, lines of text; safetensors, "
                  "a tensor for each output, only to a file (default: by the "
                  "suffix of --output, else tsv)"};
}

/// Returns the rows of flags about replicas.
static std::vector<Flag> replicaFlags(TrainerFlags &flags) {
  return {
      {.names = "--replicas",
       .placeholder = "GxW",
       .value = FlagValue::parsed(flags.replicas, parseReplicas, "1x1"),
       .help = "Logical replicas, each with its own batch in a step: "
               "groups x workers per group. Results depend on it"},
      {.names = "--max-grouped-samples",
       .placeholder = "N",
       .value = FlagValue::number(flags.session.maxGroupedSamples, 1, maxCount),
       .help = "Maximum number of samples that metrics of groups, such as "
               "#nn.grouped_auc, store until an epoch or a test ends, at "
               "33 bytes each; several trainers share it equally"}};
}

/// Returns the rows of flags about processors and devices.
static std::vector<Flag> executionFlags(const pdl_descriptor &descriptor,
                                        SessionOptions &session) {
  const bool isForDevices = descriptor.target != PDL_TARGET_CPU;
  const bool splitsF32 = !isForDevices &&
                         descriptor.numerics == PDL_NUMERICS_FAST &&
                         descriptor.compute == PDL_COMPUTE_ELEMENT;
  return {
      {.names = "--emulate-bf16",
       .value = FlagValue::isGiven(session.emulateBFloat16),
       .help = "Compute a program of --compute=bf16, bf16x3 or bf16x6 without "
               "AVX512-BF16 and AMX, slowly, for tests. Results are those of "
               "numerics strict"},
      {.names = "--no-bf16x6",
       .value = FlagValue::isGiven(session.keepsF32),
       .help = "Compute all f32 products with f32 kernels. Otherwise, numerics "
               "fast computes large ones as bf16x6 on CPUs with AMX, which is "
               "faster (docs/Numerics.md). Results depend on it",
       .isOffered = splitsF32,
       .refusal =
           isForDevices
               ? "--no-bf16x6 is for products on CPUs, but this program "
                 "computes on a GPU: leave it out"
               : "--no-bf16x6 is for f32 products of numerics fast, but this "
                 "program was translated with --numerics=strict or with "
                 "another --compute: leave it out"},
      {.names = "--device",
       .placeholder = "NAMES",
       .value = FlagValue::text(session.device),
       .help = "Devices to compute on: cuda or cuda:N, NVIDIA's GPU N, or "
               "several, such as cuda:0,1, which share the replicas; fake: the "
               "host in place of a GPU, slowly, for tests",
       .isOffered = isForDevices,
       .refusal = "--device is for a program that computes on devices, but "
                  "this program computes on CPUs: leave it out, or translate "
                  "the model with --target=cuda"},
      {.names = "--tf32",
       .value = FlagValue::isGiven(session.roundsToTF32),
       .help = "Round the factors of f32 products on the device to TF32, which "
               "is faster on a GPU and less exact (docs/Numerics.md). Results "
               "depend on it",
       .isOffered = isForDevices && descriptor.numerics == PDL_NUMERICS_FAST,
       .refusal =
           isForDevices
               ? "--tf32 is for numerics fast, but the products of this "
                 "program are strict: leave it out, or translate the model "
                 "with --numerics=fast"
               : "--tf32 is for products on a GPU, but this program computes "
                 "on CPUs: leave it out, or translate the model with "
                 "--target=cuda"},
      {.names = "--table-placement",
       .placeholder = "PLACE",
       .value = FlagValue::choice(session.tablePlacement,
                                  {{"host", TablePlacement::Host},
                                   {"device", TablePlacement::Device}}),
       .help = "Memory of tables: host; or device, where each device finds, "
               "gathers and updates its share of the rows. Never changes a "
               "result of strict numerics",
       .isOffered = isForDevices && !modeOf(descriptor).hasServers},
      {.names = "--threads",
       .placeholder = "N",
       .value = FlagValue::number(session.threads, 1, maxThreads),
       .help = "Number of threads, which replicas share. Never changes a "
               "result"},
      traceFlag(session.trace),
      {.names = "--pin-threads",
       .value = FlagValue::isGiven(session.pinThreads),
       .help = "Pin each thread to a processor of its own, among those that "
               "this process may use (taskset)"}};
}

//===----------------------------------------------------------------------===//
// train
//===----------------------------------------------------------------------===//

static std::vector<Flag> trainDataFlags(DataOptions &data) {
  return {{.names = "--shuffle-window",
           .placeholder = "N",
           .value = FlagValue::number(data.shuffleWindow, 0, uint64_t(1) << 31),
           .help = "Shuffle the samples within windows of N rows; 0 keeps the "
                   "order of the files"},
          {.names = "--shuffle-files",
           .value = FlagValue::isGiven(data.shuffleFiles),
           .help = "Read the files in another order in each epoch, which "
                   "depends on --seed and the epoch",
           .excludes = {"--files-in-turn"}},
          {.names = "--files-in-turn",
           .value = FlagValue::isGiven(data.filesInTurn),
           .help = "The files of --data are pipes that received rows "
                   "round-robin: row k of pipe i of N is row k * N + i. With "
                   "--resume within an epoch, their number and that of the "
                   "replicas may then be different"}};
}

static std::vector<Flag> trainingFlags(SessionOptions &session) {
  return joined({{.names = "--epochs",
                  .placeholder = "N",
                  .value = FlagValue::number(session.epochs, 1, maxCount),
                  .help = "Passes over the data (default: 1, or as many as "
                          "--steps needs)"},
                 {.names = "--steps",
                  .placeholder = "N",
                  .value = FlagValue::number(session.steps, 0, maxCount),
                  .help = "Stop after N steps in total (default: no limit); 0 "
                          "trains nothing and writes the initial values"}},
                evaluationFlags(session));
}

/// Returns the flags about values that a training reads and writes.
static std::vector<Flag> trainStateFlags(const pdl_descriptor &descriptor,
                                         SessionOptions &session) {
  std::vector<Flag> all = joined(
      modelFlags(session),
      {initValuesOnlyFlag(session.initValuesOnly),
       {.names = "--dump",
        .placeholder = "FILE",
        .value = FlagValue::text(session.dump),
        .help = "At the end, write all values to this safetensors file"},
       {.names = "--dump-slots",
        .value = FlagValue::isGiven(session.dumpSlots),
        .help = "Also write the optimizer's slots to --dump",
        .needs = {"--dump"}},
       {.names = "--dump-batches",
        .placeholder = "FILE",
        .value = FlagValue::text(session.dumpBatches),
        .help = "Write every batch, as the program reads it, to this "
                "safetensors file. Batches stay in memory until the end"},
       {.names = "--log-losses",
        .placeholder = "FILE",
        .value = FlagValue::text(session.logLosses),
        .help = "Write the mean loss of each step to this file, one number "
                "with full precision per line; nan if the weights sum to zero; "
                "- is the standard output. With --resume, lines are appended "
                "after those of earlier steps"}});
  if (descriptor.role != PDL_ROLE_TRAINER)
    return all;
  // takeClusterFlags refuses these flags with messages that name alternatives.
  const Mode &mode = modeOf(descriptor);
  for (Flag &flag : all) {
    const std::string &name = flag.names;
    if (name == "--dump-batches")
      flag.isOffered = false;
    if (name == "--dump" || name == "--dump-slots")
      flag.isOffered = mode.trainersApply;
    if (name == "--init-from" || name == "--init-values-only")
      flag.isOffered = mode.trainersOwn();
  }
  return all;
}

/// Returns the flags about execution that only programs of one process have.
static std::vector<Flag> oneProcessFlags(SessionOptions &session) {
  return {{.names = "--costs",
           .placeholder = "FILE",
           .value = FlagValue::text(session.costs),
           .help = "Write the costs of a step on this host as JSON, from which "
                   "'pdl-opt --ps-report=costs=FILE' predicts the costs of "
                   "jobs with several processes"},
          {.names = "--hogwild",
           .value = FlagValue::isGiven(session.hogwild),
           .help = "The workers of --replicas 1xN update the model without "
                   "waiting for each other, as in mode async. A step is one "
                   "update of each. Results differ from run to run"}};
}

static Flag tensorboardFlag(SessionOptions &session, const char *help) {
  return {.names = "--tensorboard",
          .placeholder = "FOLDER",
          .value = FlagValue::text(session.tensorboard),
          .help = help};
}

/// Returns the flags of the files of metrics over time.
static std::vector<Flag> metricLogFlags(SessionOptions &session) {
  return {tensorboardFlag(
              session,
              "Write the figures of --log-metrics, and histograms and curves "
              "after epochs and tests, to a new event file of TensorBoard in "
              "this folder. In a job, trainer 0 writes it"),
          {.names = "--log-metrics",
           .placeholder = "FILE",
           .value = FlagValue::text(session.logMetrics),
           .help = "Write throughput, loss and metrics over time to this file, "
                   "one JSON object per line, and a line after each epoch and "
                   "test; - is the standard output. With --resume, lines are "
                   "appended after those of earlier steps"},
          {.names = "--log-metrics-steps",
           .placeholder = "N",
           .value = FlagValue::number(session.logMetricsSteps, 1, maxCount),
           .help = "Write to --log-metrics and --tensorboard after each N "
                   "steps"},
          {.names = "--log-metrics-seconds",
           .placeholder = "SECONDS",
           .value = FlagValue::seconds(session.logMetricsSeconds),
           .help = "Write to --log-metrics and --tensorboard when this time "
                   "has passed since the last figures",
           .excludes = {"--log-metrics-steps"}}};
}

static std::string footerOfOwners(const Mode &mode) {
  return fmt::format(
      "Example with two trainers of two workers each:\n"
      "  trainer train --peers a:7101,b:7101{} --trainers 2 --rank 0\n"
      "      --replicas 1x2 --token-file secret --data clicks.tsv\n"
      "Trainers own {}. Each listens at its address\n"
      "in --peers, and stays until all have left. --checkpoint, --resume and\n"
      "--init-from are the same for all of them{}.\n"
      "'pdl-checkpoint dump' converts a checkpoint to the file that --dump of "
      "one process writes.\n"
      "Losses and metrics at the end of an epoch are those of all trainers.\n"
      "Ctrl-C ends all trainers after the same step. So does a row that one of "
      "them\ncannot read.",
      mode.needsServers() ? " --servers c:7101,d:7101" : "",
      mode.needsServers() ? "parameters, and servers own tables" : "all state",
      mode.needsServers() ? ", and for servers" : "");
}

static std::string footerWithServers(const Mode &mode) {
  const std::string example =
      "Example with two trainers of two workers each:\n"
      "  trainer train --servers a:7101,b:7101 --trainers 2 --rank 0\n"
      "      --replicas 1x2 --data clicks.tsv\n";
  const std::string losses =
      "Losses and metrics at the end of an epoch are those of all trainers.\n";
  if (mode.trainersApply)
    return example +
           "Each trainer trains a copy, with its own slots and step counts. "
           "Servers\n"
           "merge the changes of values, and take --init-from. At the end of "
           "an epoch all\n"
           "trainers have the values of the servers. A checkpoint contains "
           "these, and the\nslots of trainer 0.\n" +
           losses +
           "Ctrl-C ends all trainers soon, each after its current step. So "
           "does a row that\none of them cannot read.";
  return example +
         "Servers hold the values: they take --init-from, and "
         "'pdl-checkpoint dump'\n"
         "converts a checkpoint to the file that --dump of one process "
         "writes.\n" +
         losses +
         "Ctrl-C ends all trainers after the same step. So does a row that one "
         "of them\ncannot read.";
}

static std::string footerOfTrain(const pdl_descriptor &descriptor) {
  if (descriptor.role == PDL_ROLE_TRAINER)
    return modeOf(descriptor).trainersOwn()
               ? footerOfOwners(modeOf(descriptor))
               : footerWithServers(modeOf(descriptor));
  return "Examples:\n"
         "  trainer train --data clicks.tsv --epochs 3 --dump "
         "model.safetensors\n"
         "  trainer train --data adult.csv.gz --rows 0%:80% --evaluate-rows "
         "80%:\n"
         "      --batch-size 512 --epochs 10 --shuffle-window 100000 --seed 1\n"
         "  trainer train --data clicks.tsv --checkpoint saved --resume\n"
         "      --checkpoint-steps 1000     (the same line starts and "
         "resumes)\n"
         "Ctrl-C ends after the current step and still writes all requested "
         "files.\nSo does a row that cannot be read, with status 1.";
}

CommandTable pdlrt::trainCommand(const pdl_descriptor &descriptor,
                                 TrainerFlags &flags) {
  SessionOptions &session = flags.session;
  std::vector<Flag> watched =
      joined({metricsAddressFlag(flags.metricsAddress), logFormatFlag(),
              summaryFlag(flags.summary)},
             metricLogFlags(session));
  CommandTable command = {
      "train", "Train the model on files of samples, and optionally test it",
      FlagTable{
          {dataGroup,
           joined(readingFlags(session.data), trainDataFlags(session.data))},
          {trainingGroup, trainingFlags(session)},
          {stateGroup, trainStateFlags(descriptor, session)},
          {checkpointGroup, checkpointFlags(session)},
          {executionGroup,
           joined(replicaFlags(flags), executionFlags(descriptor, session))},
          {monitoringGroup, std::move(watched)},
          {executionGroup, tableBoundFlags(session.tableBound,
                                           !modeOf(descriptor).hasServers)}},
      footerOfTrain(descriptor)};
  if (descriptor.role != PDL_ROLE_TRAINER)
    command.flags.push_back({executionGroup, oneProcessFlags(session)});
  command.flags.push_back(clusterFlags(descriptor, flags.cluster));
  return command;
}

std::vector<FlagForm> pdlrt::trainFlagForms(const Mode *mode) {
  pdl_descriptor descriptor = {};
  const Mode &known = mode ? *mode : *findModeNamed("local");
  descriptor.mode = known.id;
  if (known.hasServers)
    descriptor.role = PDL_ROLE_TRAINER;
  TrainerFlags flags;
  return formsOf(trainCommand(descriptor, flags).flags);
}

//===----------------------------------------------------------------------===//
// evaluate, predict
//===----------------------------------------------------------------------===//

CommandTable pdlrt::evaluateCommand(const pdl_descriptor &descriptor,
                                    TrainerFlags &flags) {
  SessionOptions &session = flags.session;
  return {
      "evaluate",
      "Compute the metrics of program @evaluate, with trained values, on "
      "files; a loss is one of them if the model observes it with a #nn.mean",
      FlagTable{
          {dataGroup, joined(readingFlags(session.data),
                             {programFlag(session, "evaluate")})},
          {stateGroup,
           joined(trainedModelFlags(session),
                  {{.names = "--output",
                    .placeholder = "FILE",
                    .value = FlagValue::text(session.output),
                    .help = "Write the observations of all metrics to this "
                            "file, one row per sample: predictions, labels, "
                            "weights, groups. Not with --replicas"},
                   needing("--output", outputFormatFlag(session))})},
          {executionGroup,
           joined(replicaFlags(flags), executionFlags(descriptor, session))},
          {monitoringGroup,
           {logFormatFlag(), summaryFlag(flags.summary),
            tensorboardFlag(session,
                            "Write the figures, and histograms and curves, to "
                            "a new event file of TensorBoard in this folder, "
                            "at the step of the checkpoint")}}},
      "Example:\n  trainer evaluate --data test.tsv --init-from "
      "model.safetensors"};
}

CommandTable pdlrt::predictCommand(const pdl_descriptor &descriptor,
                                   TrainerFlags &flags) {
  SessionOptions &session = flags.session;
  const std::vector<Flag> copiedFlags = {
      programFlag(session, "predict"),
      {.names = "--copy-column",
       .placeholder = "NAME|NUMBER",
       .value = FlagValue::repeated(session.data.copyColumns),
       .help = "Copy this column before the predictions: its name in the "
               "header, or its number, from 1. May be given several times"},
      {.names = "--id",
       .placeholder = "FIELD",
       .value = FlagValue::text(session.data.idField),
       .help = "Copy this field of the record, with one id per sample, before "
               "the predictions, as it is in the data",
       .excludes = {"--copy-column"}}};
  const std::vector<Flag> outputFlags = {
      {.names = "--output",
       .placeholder = "FILE",
       .value = FlagValue::text(session.output),
       .help = "File to write (default, and -: the standard output)"},
      outputFormatFlag(session),
      {.names = "--dump-inputs",
       .placeholder = "FILE",
       .value = FlagValue::text(session.dumpInputs),
       .help = "Write the predicted rows in the form of requests to a library "
               "or a server: numbers, and ids as texts and as keys "
               "(safetensors). Rows stay in memory until the end",
       .excludes = {"--id", "--copy-column"}}};
  return {
      "predict", "Write the outputs of program @predict for each sample",
      FlagTable{
          {dataGroup, joined(readingFlags(session.data), copiedFlags)},
          {stateGroup, joined(trainedModelFlags(session), outputFlags)},
          {executionGroup,
           joined({{.names = "--flush-after",
                    .placeholder = "MS",
                    .value =
                        FlagValue::number(session.flushAfter, 0, maxFlushAfter),
                    .help = "Maximum time in milliseconds that rows from a "
                            "pipe wait for others of their batch before they "
                            "are predicted and written. Never changes a result "
                            "of strict numerics"}},
                  executionFlags(descriptor, session))},
          {monitoringGroup, {logFormatFlag(), summaryFlag(flags.summary)}}},
      "Examples:\n"
      "  trainer predict --data new.tsv --init-from model.safetensors\n"
      "      --output scores.tsv\n"
      "  tail -f clicks.tsv | trainer predict --data - --delimiter tab\n"
      "      --init-from model.safetensors --id request | consumer\n"
      "Rows keep their order over all files. Ctrl-C ends after the current "
      "batch."};
}
