//===- CommandLine.cpp - Flags of a compiled trainer ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Trainer/CommandLine.h"

#include "Data/DataFlags.h"
#include "Programs/Trainer/CheckpointFlags.h"
#include "Programs/Trainer/ClusterFlags.h"
#include "Programs/Trainer/Command.h"
#include "Programs/Trainer/SessionFiles.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Abi/ProgramDevice.h"
#include "pdlrt/Core/Allocator.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Files/TraceFile.h"
#include "pdlrt/Gemm/Gemm.h"
#include "pdlrt/Job/DistributedJob.h"
#include "pdlrt/Programs/Trainer/Session.h"
#include "pdlrt/Protocol/PackedTraining.h"
#include "pdlrt/State/TableBoundFlags.h"
#include "pdlrt/Transport/LoopbackTransport.h"
#include "pdlrt/Transport/SealedTransport.h"
#include "pdlrt/Transport/Transport.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace pdlrt;

namespace {

/// Where CLI11 puts what it read; `SessionOptions` is made from it.
struct Flags {
  SessionOptions session;
  ClusterFlags cluster;
  std::string rows, evaluateRows, delimiter, quote, replicas = "1x1";
  uint64_t seed = 0;
  int64_t epochs = 1, steps = 0;
  CheckpointFlags checkpoints;
};

constexpr int64_t maxReplicas = 4096;
constexpr int64_t maxThreads = 1024;
constexpr int64_t maxCount = int64_t(1) << 60;
/// A day.
constexpr int64_t maxFlushAfter = 24 * 3600 * 1000;

} // namespace

//===----------------------------------------------------------------------===//
// Values of flags
//===----------------------------------------------------------------------===//

/// Checks the text of a range of rows; the sentence is empty if it is good.
static std::string checkRows(const std::string &text) {
  Expected<RowRange> range = RowRange::parse(text);
  return range ? std::string() : range.status().message();
}

static std::string checkDelimiter(const std::string &text) {
  if (text == "comma" || text == "tab" || text == "space" || text.size() == 1)
    return {};
  return "'" + text +
         "' is no delimiter; give one character, or comma, tab or space";
}

static char delimiterOf(const std::string &text) {
  if (text == "comma")
    return ',';
  if (text == "tab")
    return '\t';
  if (text == "space")
    return ' ';
  return text.empty() ? '\0' : text.front();
}

static std::string checkQuote(const std::string &text) {
  if (text == "none" || text.size() == 1)
    return {};
  return "'" + text + "' is no quote; give one character, or none";
}

static std::string checkExists(const std::string &path) {
  return CLI::ExistingFile(path);
}

static bool parseReplicas(const std::string &text, int &groups, int &workers) {
  uint64_t numbers[2] = {};
  size_t cross = text.find('x');
  if (cross == std::string::npos)
    return false;
  const std::string parts[2] = {text.substr(0, cross), text.substr(cross + 1)};
  for (int i = 0; i < 2; ++i) {
    Expected<uint64_t> number = parseWholeNumber(parts[i], 1, maxReplicas);
    if (!number)
      return false;
    numbers[i] = *number;
  }
  if (numbers[0] * numbers[1] > maxReplicas)
    return false;
  groups = int(numbers[0]);
  workers = int(numbers[1]);
  return true;
}

static std::string checkReplicas(const std::string &text) {
  int groups, workers;
  if (parseReplicas(text, groups, workers))
    return {};
  return "'" + text +
         "' is no number of replicas; give GROUPSxWORKERS, such "
         "as 2x4, with at most " +
         std::to_string(maxReplicas) + " in all";
}

static CLI::Validator validator(std::string (*check)(const std::string &)) {
  return CLI::Validator([check](std::string &text) { return check(text); }, "");
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

static void addDataFlags(CLI::App &command, Flags &flags) {
  DataOptions &data = flags.session.data;
  command
      .add_option("--data", data.files,
                  "Files to read, in order: .csv, .tsv, .txt, each also with "
                  ".gz or .zst, or .safetensors; - is the standard input, "
                  "which may be packed too")
      ->required()
      ->type_name("FILE")
      ->check(notEmpty())
      ->group("Data");
  command
      .add_option("--rows", flags.rows,
                  "The rows to read, numbered from 0 over all files, the end "
                  "not included: 0%:80%, 8000:10000, 80%: (default: all)")
      ->type_name("BEGIN:END")
      ->check(validator(checkRows))
      ->group("Data");
  command
      .add_option("--delimiter", flags.delimiter,
                  "What stands between columns: one character, or comma, tab, "
                  "space (default: comma for .csv, tab for .tsv and .txt; "
                  "other names, and -, have none)")
      ->type_name("CHAR")
      ->check(validator(checkDelimiter))
      ->group("Data");
  command
      .add_option("--quote", flags.quote,
                  "What encloses cells, as in RFC 4180: one character, or none "
                  "(default: a double quote where a comma or a semicolon ends "
                  "cells, else none: quotes are text)")
      ->type_name("CHAR")
      ->check(validator(checkQuote))
      ->group("Data");
  command
      .add_flag("--header", data.header,
                "The first line of each file names its columns; fields without "
                "`columns` in the model are then found by their names, NAME or "
                "NAME.0, NAME.1 and so on; without all of these names, by "
                "their positions, with a warning: then all files have the same "
                "header")
      ->group("Data");
  command
      .add_option("--columns", data.columns,
                  "What the columns of the files are, in order, separated by "
                  "commas: a field's name for all columns of it, or _ for one "
                  "that is none (default: by the names in the header, else "
                  "those of the record, all of them)")
      ->delimiter(',')
      ->type_name("FIELD,...")
      ->group("Data");
  command
      .add_option(
          "--max-bad-rows", data.maxBadRows,
          "Skip and count up to N bad rows in a group's epoch (predict: "
          "write nan in their places); the next one stops the program")
      ->type_name("N")
      ->transform(wholeNumber(0, maxCount))
      ->capture_default_str()
      ->group("Data");
  command
      .add_option("--cache", data.cache,
                  "Keep the parsed rows of text files in this folder, as the "
                  "first pass meets them, and read them there later, until a "
                  "file's size or time changes. Never changes a result")
      ->type_name("FOLDER")
      ->check(notEmpty())
      ->group("Data");
  command
      .add_option("--batch-size", data.batchSize,
                  "Samples in a batch of one replica")
      ->type_name("N")
      ->transform(wholeNumber(1, int64_t(1) << 30))
      ->capture_default_str()
      ->group("Data");
}

static CLI::Option *addModelFlags(CLI::App &command, Flags &flags) {
  CLI::Option *initFrom =
      command
          .add_option("--init-from", flags.session.initFrom,
                      "Start from the values in this safetensors file, such "
                      "as one that --dump wrote")
          ->type_name("FILE")
          ->check(notEmpty())
          ->check(validator(checkExists))
          ->group("State");
  command
      .add_option("--seed", flags.seed,
                  "Seed of initial values and of shuffling (default: that of "
                  "the --init-from file or checkpoint, else 0)")
      ->type_name("N")
      ->transform(wholeNumber())
      ->group("State");
  command
      .add_flag("--accept-old-layout", flags.session.acceptOldLayout,
                "Open checkpoints and dumps of before keys were part of the "
                "layout, and say what cannot be checked of them")
      ->group("State");
  return initFrom;
}

/// For the commands that read a trained model.
static void addTrainedModelFlags(CLI::App &command, Flags &flags) {
  CLI::Option *initFrom = addModelFlags(command, flags);
  command
      .add_option("--checkpoint", flags.session.checkpoint,
                  "Start from this checkpoint, or from the newest whole one in "
                  "this folder")
      ->type_name("FOLDER")
      ->check(notEmpty())
      ->excludes(initFrom)
      ->group("State");
}

static void addExecutionFlags(CLI::App &command,
                              const pdl_descriptor &descriptor, Flags &flags,
                              bool withReplicas) {
  if (withReplicas)
    command
        .add_option("--replicas", flags.replicas,
                    "Logical replicas, each with its own batch in a step: "
                    "groups x workers of a group. Part of the result")
        ->type_name("GxW")
        ->check(validator(checkReplicas))
        ->capture_default_str()
        ->group("Execution");
  if (withReplicas)
    command
        .add_option(
            "--max-grouped-samples", flags.session.maxGroupedSamples,
            "How many samples metrics of groups, such as "
            "#nn.grouped_auc, may keep until an epoch or a test ends, 33 "
            "bytes each; several trainers have equal shares")
        ->type_name("N")
        ->transform(wholeNumber(1, maxCount))
        ->capture_default_str()
        ->group("Execution");
  command
      .add_flag("--emulate-bf16", flags.session.emulateBFloat16,
                "Compute a program of --compute=bf16 without AVX512-BF16, "
                "slowly: for tests. Never changes a result")
      ->group("Execution");
  if (descriptor.target != PDL_TARGET_CPU)
    command
        .add_option("--device", flags.session.device,
                    "What to compute on: cuda or cuda:N, NVIDIA's GPU N, or "
                    "several, such as cuda:0,1, which share the replicas; "
                    "fake: the host, as if it were a GPU, slowly: for tests")
        ->type_name("NAMES")
        ->check(notEmpty())
        ->capture_default_str()
        ->group("Execution");
  else
    // For a sentence that says what to do.
    command.add_option("--device", flags.session.device)->group("");
  const bool hasTF32 = descriptor.target != PDL_TARGET_CPU &&
                       descriptor.numerics == PDL_NUMERICS_FAST;
  command
      .add_flag("--tf32", flags.session.roundsToTF32,
                "Let products of f32 on the device round their factors to "
                "TF32, which is faster on a GPU and less exact "
                "(docs/Numerics.md). Part of the result")
      ->group(hasTF32 ? "Execution" : "");
  command
      .add_option("--table-placement", flags.session.tablePlacement,
                  "Where tables are: host, in its memory; device, in that of "
                  "the devices, of which each then finds, gathers and updates "
                  "its share of the rows. Never changes a result of strict "
                  "numerics")
      ->type_name("PLACE")
      ->check(CLI::IsMember({"host", "device"}))
      ->capture_default_str()
      ->group(descriptor.target != PDL_TARGET_CPU &&
                      !modeOf(descriptor).hasServers
                  ? "Execution"
                  : "");
  command
      .add_option("--threads", flags.session.threads,
                  "Threads to run on, which replicas share. Never changes a "
                  "result")
      ->type_name("N")
      ->transform(wholeNumber(1, maxThreads))
      ->capture_default_str()
      ->group("Execution");
  command
      .add_option("--trace", flags.session.trace,
                  "Write what each thread did when, as JSON for "
                  "ui.perfetto.dev or chrome://tracing: a few steps make a "
                  "trace that can be read")
      ->type_name("FILE")
      ->group("Execution");
  command
      .add_flag("--pin-threads", flags.session.pinThreads,
                "Keep each thread on a processor of its own, of those that "
                "this process may use (taskset)")
      ->group("Execution");
}

/// Of a program whose trainers own state.
static void addFooterOfOwners(CLI::App &command, const Mode &mode) {
  command.footer(fmt::format(
      "Example, of two trainers with two workers each:\n"
      "  trainer train --peers a:7101,b:7101{} --trainers 2 --rank 0\n"
      "      --replicas 1x2 --token-file secret --data clicks.tsv\n"
      "Trainers own {}: each listens at its address\n"
      "in --peers, and stays until all have left. --checkpoint, --resume and\n"
      "--init-from are the same for all of them{}.\n"
      "'pdl-checkpoint dump' makes of a checkpoint what --dump of one process "
      "writes.\n"
      "Losses and metrics that it prints at the end of an epoch are those of "
      "all trainers.\n"
      "Ctrl-C ends all trainers after the same step; so does a row that one of "
      "them\ncannot read.",
      mode.needsServers() ? " --servers c:7101,d:7101" : "",
      mode.needsServers() ? "parameters, and servers tables" : "all state",
      mode.needsServers() ? ", and for servers" : ""));
}

static CLI::App *addTrain(CLI::App &app, const pdl_descriptor &descriptor,
                          Flags &flags) {
  CLI::App *command = app.add_subcommand(
      "train", "Train the model on files of samples, and test it if asked");
  addDataFlags(*command, flags);
  command
      ->add_option("--shuffle-window", flags.session.data.shuffleWindow,
                   "Shuffle the samples within windows of N rows; 0 keeps the "
                   "order of the files")
      ->type_name("N")
      ->transform(wholeNumber(0, int64_t(1) << 31))
      ->capture_default_str()
      ->group("Data");
  command
      ->add_option("--epochs", flags.epochs,
                   "Passes over the data (default: 1, or as many as --steps "
                   "takes)")
      ->type_name("N")
      ->transform(wholeNumber(1, maxCount))
      ->group("Training");
  command
      ->add_option("--steps", flags.steps,
                   "Stop after N steps in all (default: no limit); 0 trains "
                   "nothing and writes the initial values")
      ->type_name("N")
      ->transform(wholeNumber(0, maxCount))
      ->group("Training");
  command
      ->add_option("--evaluate-data", flags.session.evaluateFiles,
                   "Files to test the model on after each epoch")
      ->type_name("FILE")
      ->check(notEmpty())
      ->group("Training");
  command
      ->add_option("--evaluate-rows", flags.evaluateRows,
                   "The rows to test on, of --evaluate-data, or of --data "
                   "without it; written as in --rows")
      ->type_name("BEGIN:END")
      ->check(validator(checkRows))
      ->group("Training");
  CLI::Option *initFrom = addModelFlags(*command, flags);
  command
      ->add_flag("--init-values-only", flags.session.initValuesOnly,
                 "Take values of --init-from without optimizer slots and step "
                 "counts, so that schedules begin anew")
      ->group("State");
  addCheckpointFlags(*command, flags.checkpoints, flags.session, initFrom);
  CLI::Option *dump =
      command
          ->add_option("--dump", flags.session.dump,
                       "At the end, write all values to this safetensors file")
          ->type_name("FILE")
          ->check(notEmpty())
          ->group("State");
  command
      ->add_flag("--dump-slots", flags.session.dumpSlots,
                 "Write the optimizer's slots to --dump too")
      ->needs(dump)
      ->group("State");
  command
      ->add_option("--dump-batches", flags.session.dumpBatches,
                   "Write every batch, as the program sees it, to this "
                   "safetensors file (keeps them in memory until then)")
      ->type_name("FILE")
      ->check(notEmpty())
      ->group("State");
  command
      ->add_option("--log-losses", flags.session.logLosses,
                   "Write the mean loss of each step to this file, one full-"
                   "precision number a line; nan where the weights sum to "
                   "zero; - is the standard output. With --resume it goes on "
                   "behind the lines of the steps before")
      ->type_name("FILE")
      ->check(notEmpty())
      ->group("State");
  addExecutionFlags(*command, descriptor, flags, /*withReplicas=*/true);
  addTableBoundFlags(*command, flags.session.tableBound,
                     modeOf(descriptor).hasServers ? "" : "Execution");
  if (descriptor.role != PDL_ROLE_TRAINER) {
    command
        ->add_option("--costs", flags.session.costs,
                     "Write what a step costs here, as JSON, from which "
                     "'pdl-opt --ps-report=costs=FILE' predicts those of jobs "
                     "of several processes")
        ->type_name("FILE")
        ->check(notEmpty())
        ->group("Execution");
    command
        ->add_flag("--hogwild", flags.session.hogwild,
                   "The workers of --replicas 1xN update the model without "
                   "waiting for each other, as in mode async: a step is one "
                   "update of each. Results differ from run to run")
        ->group("Execution");
  }
  addClusterFlags(*command, descriptor, flags.cluster);
  if (descriptor.role == PDL_ROLE_TRAINER) {
    const Mode *mode = findMode(descriptor.mode);
    const bool holdsValues = mode && mode->trainersApply;
    // Refused with the sentence that says what to give instead.
    command->get_option("--dump-batches")->group("");
    for (const char *name : {"--dump", "--dump-slots"})
      if (!holdsValues)
        command->get_option(name)->group("");
    if (modeOf(descriptor).trainersOwn()) {
      addFooterOfOwners(*command, modeOf(descriptor));
      return command;
    }
    for (const char *name : {"--init-from", "--init-values-only"})
      command->get_option(name)->group("");
    const char *example =
        "Example, of two trainers with two workers each:\n"
        "  trainer train --servers a:7101,b:7101 --trainers 2 --rank 0\n"
        "      --replicas 1x2 --data clicks.tsv\n";
    const char *whose =
        "Servers hold the values: they take --init-from, and "
        "'pdl-checkpoint dump'\n"
        "makes of a checkpoint what --dump of one process writes.\n";
    const char *whoseCopy =
        "Each trainer trains a copy, with slots and step counts of its own; "
        "servers\n"
        "put the values together, and take --init-from. At the end of an epoch "
        "all have\n"
        "the values of servers. A checkpoint has these, with the slots of "
        "trainer 0.\n";
    const char *howItEnds =
        "Losses and metrics that it prints at the end of an epoch are those "
        "of all trainers.\n";
    const char *together =
        "Ctrl-C ends all trainers after the same step; so does a row that one "
        "of them\ncannot read.";
    const char *alone = "Ctrl-C ends all trainers soon, each after its current "
                        "step; so does a row that\none of them cannot read.";
    command->footer(std::string(example) + (holdsValues ? whoseCopy : whose) +
                    howItEnds + (holdsValues ? alone : together));
    return command;
  }
  command->footer(
      "Examples:\n"
      "  trainer train --data clicks.tsv --epochs 3 --dump model.safetensors\n"
      "  trainer train --data adult.csv.gz --rows 0%:80% --evaluate-rows 80%:\n"
      "      --batch-size 512 --epochs 10 --shuffle-window 100000 --seed 1\n"
      "  trainer train --data clicks.tsv --checkpoint saved --resume\n"
      "      --checkpoint-steps 1000     (the same line starts and goes on)\n"
      "Ctrl-C ends after the current step and still writes what was asked "
      "for;\nso does a row that cannot be read, with status 1.");
  return command;
}

static void addProgramFlag(CLI::App &command, Flags &flags) {
  command
      .add_option("--program", flags.session.program,
                  "Run this frozen program of the model instead of @" +
                      command.get_name())
      ->type_name("NAME")
      ->check(notEmpty())
      ->group("Data");
}

static CLI::Option *addOutputFormatFlag(CLI::App &command, Flags &flags) {
  return command
      .add_option("--output-format", flags.session.outputFormat,
                  "What to write: tsv and csv, lines of text; safetensors, a "
                  "tensor for each output, to a file only (default: by the "
                  "end of --output's name, else tsv)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"tsv", "csv", "safetensors"}))
      ->group("State");
}

static CLI::App *addEvaluate(CLI::App &app, const pdl_descriptor &descriptor,
                             Flags &flags) {
  CLI::App *command = app.add_subcommand(
      "evaluate",
      "Compute the metrics of program @evaluate, of trained values on files; "
      "a loss is one of them if the model observes it with a #nn.mean");
  addDataFlags(*command, flags);
  addProgramFlag(*command, flags);
  addTrainedModelFlags(*command, flags);
  CLI::Option *output =
      command
          ->add_option("--output", flags.session.output,
                       "Write what metrics observe to this file, a row for "
                       "each sample: predictions, labels, weights, groups; not "
                       "with --replicas")
          ->type_name("FILE")
          ->check(notEmpty())
          ->group("State");
  addOutputFormatFlag(*command, flags)->needs(output);
  addExecutionFlags(*command, descriptor, flags, /*withReplicas=*/true);
  command->footer("Example:\n  trainer evaluate --data test.tsv --init-from "
                  "model.safetensors");
  return command;
}

static CLI::App *addPredict(CLI::App &app, const pdl_descriptor &descriptor,
                            Flags &flags) {
  CLI::App *command = app.add_subcommand(
      "predict", "Write the outputs of program @predict for each sample");
  addDataFlags(*command, flags);
  addProgramFlag(*command, flags);
  addTrainedModelFlags(*command, flags);
  command
      ->add_option("--copy-column", flags.session.data.copyColumns,
                   "Let this column through, before the predictions: its name "
                   "in the header, or its number, from 1; of several, the flag "
                   "is given once each")
      ->type_name("NAME|NUMBER")
      ->allow_extra_args(false)
      ->check(notEmpty())
      ->group("Data");
  command
      ->add_option("--id", flags.session.data.idField,
                   "Write this field of the record, one id a sample, before "
                   "the predictions, as the data have it")
      ->type_name("FIELD")
      ->check(notEmpty())
      ->excludes("--copy-column")
      ->group("Data");
  command
      ->add_option("--output", flags.session.output,
                   "The file to write (default, and -: the standard output)")
      ->type_name("FILE")
      ->check(notEmpty())
      ->group("State");
  addOutputFormatFlag(*command, flags);
  command
      ->add_option("--dump-inputs", flags.session.dumpInputs,
                   "Write what the predicted rows hold, as requests to a "
                   "library or a server have it: numbers, ids as texts and as "
                   "keys (safetensors); in memory until the end")
      ->type_name("FILE")
      ->check(notEmpty())
      ->excludes("--id")
      ->excludes("--copy-column")
      ->group("State");
  command
      ->add_option("--flush-after", flags.session.flushAfter,
                   "Rows from a pipe wait at most MS milliseconds for others "
                   "of their batch; then they are predicted, and written. "
                   "Never changes a result of strict numerics")
      ->type_name("MS")
      ->transform(wholeNumber(0, maxFlushAfter))
      ->capture_default_str()
      ->group("Execution");
  addExecutionFlags(*command, descriptor, flags, /*withReplicas=*/false);
  command->footer(
      "Examples:\n"
      "  trainer predict --data new.tsv --init-from model.safetensors\n"
      "      --output scores.tsv\n"
      "  tail -f clicks.tsv | trainer predict --data - --delimiter tab\n"
      "      --init-from model.safetensors --id request | consumer\n"
      "Rows keep their order, over all files. Ctrl-C ends after the current "
      "batch.");
  return command;
}

/// What is wrong with the flags of the data that the command reads, whatever is
/// in them.
static Status checkDataFlagsOf(const std::string &command,
                               const pdl_descriptor &descriptor,
                               const SessionOptions &options) {
  const pdl_program *program = findProgram(
      descriptor, options.program.empty() ? command : options.program);
  if (program)
    PDLRT_RETURN_IF_ERROR(checkDataFlags(options.data, descriptor, *program));
  const bool tests = !options.evaluateFiles.empty() || options.evaluateRows;
  program = tests ? findProgram(descriptor, "evaluate") : nullptr;
  if (!program)
    return {};
  DataOptions tested = options.data;
  if (!options.evaluateFiles.empty())
    tested.files = options.evaluateFiles;
  return checkDataFlags(tested, descriptor, *program);
}

/// The same of flags of devices.
static Status checkDeviceFlags(const pdl_descriptor &descriptor,
                               const SessionOptions &options) {
  if (descriptor.target != PDL_TARGET_CPU)
    PDLRT_RETURN_IF_ERROR(ProgramDevice::check(
        options.device, options.distributed
                            ? options.workers
                            : options.groups * options.workers));
  return checkTablePlacement(descriptor, options);
}

/// Brings what was read into the form that the session wants. All texts have
/// passed their checks.
static SessionOptions takeOptions(CLI::App &command, Flags &flags) {
  auto given = [&](const char *name) {
    CLI::Option *option = command.get_option_no_throw(name);
    return option && option->count() > 0;
  };
  SessionOptions &options = flags.session;
  // Models write @name.
  if (options.program.starts_with('@'))
    options.program.erase(0, 1);
  if (given("--rows"))
    options.data.rows = *RowRange::parse(flags.rows);
  if (given("--evaluate-rows"))
    options.evaluateRows = *RowRange::parse(flags.evaluateRows);
  options.data.delimiter = delimiterOf(flags.delimiter);
  if (given("--quote"))
    options.data.quote = flags.quote == "none" ? '\0' : flags.quote.front();
  parseReplicas(flags.replicas, options.groups, options.workers);
  if (given("--seed"))
    options.seed = flags.seed;
  takeCheckpointFlags(command, flags.checkpoints, options);
  if (given("--epochs"))
    options.epochs = flags.epochs;
  if (given("--steps"))
    options.steps = flags.steps;
  return options;
}

/// Settles how products of bf16 factors are computed; on a device they are its
/// kernels'.
static Status takeCompute(const pdl_descriptor &descriptor,
                          const SessionOptions &options) {
  const bool isBFloat16 = descriptor.compute == PDL_COMPUTE_BF16;
  if (options.emulateBFloat16 && !isBFloat16)
    return Status::invalid(
        "--emulate-bf16 is for programs that were translated with "
        "--compute=bf16; leave it out");
  if (options.emulateBFloat16)
    emulateBFloat16();
  else if (isBFloat16 && descriptor.target == PDL_TARGET_CPU &&
           !isSupported(BFloat16Isa::native))
    return Status::invalid(
        "this program was translated with --compute=bf16, but this CPU has no "
        "AVX512-BF16; translate the model without it, or add --emulate-bf16 to "
        "get the same numbers slowly");
  // There, vdpbf16ps has half of the throughput of fused multiply-adds.
  else if (isBFloat16 && descriptor.target == PDL_TARGET_CPU &&
           __builtin_cpu_is("intel"))
    logWarning("this program was translated with --compute=bf16, which is "
               "slower than f32 on Intel CPUs (0.79 of its throughput): "
               "translate the model without it for this CPU");
  return {};
}

/// Whether the program has products whose factors may become TF32.
static Status checkTF32(const pdl_descriptor &descriptor,
                        const SessionOptions &options) {
  if (!options.roundsToTF32)
    return {};
  if (descriptor.target == PDL_TARGET_CPU)
    return Status::invalid(
        "--tf32 is for products on a GPU, but this program computes on CPUs: "
        "leave it out, or translate the model with --target=cuda");
  if (descriptor.numerics != PDL_NUMERICS_FAST)
    return Status::invalid(
        "--tf32 is for numerics fast, but the products of this program are "
        "strict: leave it out, or translate the model with --numerics=fast");
  return {};
}

/// Runs a command, and writes what its threads did, also where it failed.
static Status
runTraced(const pdl_descriptor &descriptor, const SessionOptions &options,
          Status (*run)(const pdl_descriptor &, const SessionOptions &)) {
  const int rank = options.distributed ? options.distributed->rank : 0;
  return traced(options.trace,
                fmt::format("trainer {} of {}", rank, descriptor.model_name),
                rank, [&] { return run(descriptor, options); });
}

/// Tells the other processes of a job that this one was refused for its flags,
/// so that they do not wait for it.
static void tellOthers(const pdl_descriptor &descriptor,
                       const SessionOptions &options, const Status &failure) {
  if (!options.distributed)
    return;
  const DistributedOptions &cluster = *options.distributed;
  RealClock clock;
  auto brief = createBriefTransport(clock, cluster.servers.size() +
                                               cluster.peers.size());
  if (!brief)
    return;
  const PackedTraining training(descriptor, cluster.gradientPacking);
  const auto sealed = createSealedTransport(
      std::move(*brief), serverCredentials(cluster.token, std::nullopt));
  announceFailure(training.descriptor(), cluster, *sealed, failure);
}

/// `owner`: the program of the owner in this process; null: none.
static int runChecked(int argc, char **argv, const pdl_descriptor &descriptor,
                      const pdl_descriptor *owner) {
  Flags flags;
  flags.session.threads = int(
      std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, maxThreads));
  CLI::App app(fmt::format("Trains and runs the model '{}', which is compiled "
                           "into this program.",
                           descriptor.model_name),
               "trainer");
  app.require_subcommand(1);
  app.set_version_flag("--version", describeProgram(descriptor),
                       "Print what this program was compiled from and for");
  app.set_help_flag("-h,--help", "Print this help");
  app.footer(
      "'trainer COMMAND --help' lists the flags of a command.\n"
      "Exit status: 0 done, 1 bad data, 2 bad flags, 128 + N ended early "
      "by signal N.");
  CLI::App *train = addTrain(app, descriptor, flags);
  CLI::App *evaluate = addEvaluate(app, descriptor, flags);
  addPredict(app, descriptor, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    if (app.get_subcommands().empty())
      return fail(2, std::string(argc > 1 ? argv[1] : "nothing") +
                         " is no command; give train, evaluate or predict, or "
                         "--help");
    const std::string sentence = wrongWords(app, error) +
                                 "; 'trainer --help' and 'trainer COMMAND "
                                 "--help' list what can be given";
    fail(2, sentence);
    // All words that it knows have been read then.
    if (dynamic_cast<const CLI::ExtrasError *>(&error) && train->parsed()) {
      SessionOptions known = takeOptions(*train, flags);
      (void)takeClusterFlags(*train, descriptor, flags.cluster, known);
      tellOthers(descriptor, known, Status::invalid(sentence));
    }
    return 2;
  }

  watchStopSignals();
  CLI::App *command = app.get_subcommands().front();
  SessionOptions options = takeOptions(*command, flags);
  if (command != train && options.initFrom.empty() &&
      options.checkpoint.empty())
    return fail(2, "--init-from is required, or --checkpoint; give the values "
                   "that 'trainer train' wrote");
  if (options.initValuesOnly && options.initFrom.empty())
    return fail(2, "--init-values-only says what to take of --init-from; give "
                   "both, in a job with servers to the servers");
  const auto refuse = [&](const Status &status) {
    fail(2, status.message());
    tellOthers(descriptor, options, status);
    return 2;
  };
  if (command == train)
    if (Status status =
            takeClusterFlags(*command, descriptor, flags.cluster, options);
        !status.ok())
      return refuse(status);
  // What the other processes of the job know it as, from the first word on.
  const PackedTraining training(
      descriptor, options.distributed ? options.distributed->gradientPacking
                                      : GradientPacking::None);
  const pdl_descriptor &trained = training.descriptor();
  std::optional<PackedTraining> owned;
  if (options.distributed && owner)
    options.ownerProgram =
        &owned.emplace(*owner, options.distributed->gradientPacking)
             .descriptor();
  if (descriptor.target == PDL_TARGET_CPU &&
      command->get_option("--device")->count() > 0)
    return refuse(Status::invalid(
        "--device is for a program that computes on devices, but this program "
        "computes on CPUs: leave it out, or translate the model with "
        "--target=cuda"));
  if (Status status = checkTF32(descriptor, options); !status.ok())
    return refuse(status);
  const Status compute = takeCompute(descriptor, options);
  if (!compute.ok() && (options.emulateBFloat16 || !options.distributed))
    return fail(options.emulateBFloat16 ? 2 : 1, compute.message());
  if (Status status =
          checkSessionFiles(options, command == train, flags.cluster.tokenFile);
      !status.ok())
    return refuse(status);
  // The other processes of a job are told, so that they do not wait.
  Status wrongFlags =
      checkDataFlagsOf(command->get_name(), descriptor, options);
  if (wrongFlags.ok())
    wrongFlags = checkDeviceFlags(descriptor, options);
  if (!wrongFlags.ok() && !options.distributed)
    return fail(2, wrongFlags.message());
  const int failure = wrongFlags.ok() ? 1 : 2;
  std::unique_ptr<RealClock> clock;
  std::unique_ptr<Transport> transport, loopback;
  if (options.distributed) {
    tuneAllocator();
    clock = std::make_unique<RealClock>();
    const Credentials credentials =
        serverCredentials(options.distributed->token, std::nullopt);
    Expected<std::unique_ptr<Transport>> created =
        createClusterTransport(*clock);
    if (!created) {
      fail(1, created.status().message());
      // For one sentence there may be files enough.
      if (auto brief = createBriefTransport(
              *clock, options.distributed->servers.size() +
                          options.distributed->peers.size()))
        announceFailure(trained, *options.distributed,
                        *createSealedTransport(std::move(*brief), credentials),
                        created.status());
      return 1;
    }
    transport = createSealedTransport(std::move(*created), credentials);
    options.transport = transport.get();
    if (options.ownerProgram) {
      const DistributedOptions &cluster = *options.distributed;
      loopback = createLoopbackTransport(
          *transport,
          {{cluster.peers[cluster.rank], options.ownerPlace.address}});
      options.transport = loopback.get();
    }
    if (!compute.ok()) {
      fail(1, compute.message());
      announceFailure(trained, *options.distributed, *options.transport,
                      compute);
      return 1;
    }
  }
  auto run = command == train      ? runTrain
             : command == evaluate ? runEvaluate
                                   : runPredict;
  std::optional<uint64_t> linesBefore;
  options.onError = [&](const std::string &sentence) {
    fail(failure, sentence);
    linesBefore = loggedLines();
  };
  Status status = options.trace.empty() ? run(trained, options)
                                        : runTraced(trained, options, run);
  if (!status.ok())
    // Said at once, and again where other lines came after it.
    return linesBefore == loggedLines() ? failure
                                        : fail(failure, status.message());
  const bool isPrinted = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (!isPrinted && isReaderGone(STDOUT_FILENO)) {
    logWarning("nobody reads the standard output any more; what was printed "
               "last is lost");
    // What others print is their result.
    if (command != train)
      return 1;
  } else if (!isPrinted)
    return fail(1, "cannot write to the standard output; is the disk full?");
  return stopSignal() ? 128 + stopSignal() : 0;
}

/// The program of the owner in a trainer; null where its mode has none.
static Expected<const pdl_descriptor *>
loadOwner(const pdl_descriptor &trainer,
          const pdl_descriptor *(*query)(uint32_t version)) {
  if (trainer.role != PDL_ROLE_TRAINER || !modeOf(trainer).trainersOwn())
    return static_cast<const pdl_descriptor *>(nullptr);
  if (!query)
    return Status::invalid(
        fmt::format("this program was linked without its part that owns state "
                    "(owner.o); translate the model with --mode={} --emit=exe",
                    modeOf(trainer).name));
  return loadDescriptor(query);
}

int pdlrt::runCommandLine(
    int argc, char **argv, const pdl_descriptor *(*query)(uint32_t version),
    const pdl_descriptor *(*ownerQuery)(uint32_t version)) {
  return runProgram(
      1,
      "use a smaller --batch-size, fewer --replicas, or a machine with more "
      "memory",
      [&] {
        Expected<const pdl_descriptor *> descriptor = loadDescriptor(query);
        if (!descriptor)
          return fail(1, descriptor.status().message());
        Expected<const pdl_descriptor *> owner =
            loadOwner(**descriptor, ownerQuery);
        if (!owner)
          return fail(1, owner.status().message());
        return runChecked(argc, argv, **descriptor, *owner);
      });
}
