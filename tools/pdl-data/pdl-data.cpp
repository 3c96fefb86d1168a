//===- pdl-data.cpp - Looks at data and prepares them ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Convert.h"
#include "Data/FileFormat.h"
#include "Data/FormatFlags.h"
#include "Describe.h"
#include "Generate.h"
#include "Infer.h"
#include "Look.h"
#include "Sample.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/StandardStreams.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/ToolCommands.h"
#include "pdlrt/Files/PlaceFlags.h"

#include <charconv>
#include <csignal>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

using namespace pdlrt;

namespace {

/// Values of the flags of all commands.
struct Values {
  InputFlags input;
  CheckFlags check;
  ConvertFlags convert;
  DescribeFlags describe;
  GenerateFlags generate;
  InferFlags infer;
  SampleFlags sample;
  int64_t headRows = 5;
};

using Command = ToolCommand<Values>;

} // namespace

static constexpr uint64_t maxRows = INT64_MAX;

static Expected<double> parseDrift(const std::string &text) {
  double angle = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, angle);
  if (error == std::errc() && rest == end && angle >= 0 && angle <= 1000)
    return angle;
  return Status::invalidArgument("'" + text +
                                 "' is no angle from 0 to 1000, such as 0.5");
}

/// Returns the argument with the files.
static Flag filesFlag(DataOptions &data) {
  return {.names = "files",
          .placeholder = "FILE",
          .value = FlagValue::words(data.files),
          .help = "Files, folders, patterns such as 'day-1/*.csv', or @FILE "
                  "for the lines of a file; - is the standard input",
          .isRequired = true};
}

/// Returns the flags about the form of the files.
static std::vector<Flag> formFlags(InputFlags &input, bool mayGuess) {
  std::vector<Flag> flags =
      joined(fileFormatFlags(input.data), cellFlags(input.data));
  if (mayGuess) {
    flags.back().help = "The first line of each file names its columns "
                        "(default: by comparing it with the next lines)";
    flags.push_back({.names = "--no-header",
                     .value = FlagValue::isGiven(input.noHeader),
                     .help = "The first line is a row",
                     .excludes = {"--header"}});
  }
  flags.push_back({.names = "--quiet",
                   .value = FlagValue::isGiven(input.quiet),
                   .help = "Do not report progress"});
  return flags;
}

static Flag limitFlag(InputFlags &input) {
  return {.names = "--limit",
          .placeholder = "N",
          .value = FlagValue::number(input.limit, 0, maxRows),
          .help = "Read at most N rows; 0 reads all"};
}

static Flag badRowsFlag(InputFlags &input) {
  return {.names = "--max-bad-rows",
          .placeholder = "N",
          .value = FlagValue::number(input.maxBadRows, 0, maxRows),
          .help = "Leave out up to N bad rows, with a warning; one more is an "
                  "error"};
}

static Command headCommand(Values &values) {
  return {{"head",
           "Show the first rows: for each column its name and values",
           {{mainOptions,
             joined({filesFlag(values.input.data),
                     {.names = "--rows",
                      .placeholder = "N",
                      .value = FlagValue::number(values.headRows, 1, maxRows),
                      .help = "Number of rows"}},
                    formFlags(values.input, /*mayGuess=*/true))}}},
          [](const Values &given) {
            InputFlags input = given.input;
            input.limit = given.headRows;
            return showHead(input);
          }};
}

static Command countCommand(Values &values) {
  return {{"count",
           "Count the rows of each file without parsing them",
           {{mainOptions, joined({filesFlag(values.input.data)},
                                 formFlags(values.input, /*mayGuess=*/true))}}},
          [](const Values &given) { return countRows(given.input); }};
}

static Command describeCommand(Values &values) {
  DescribeFlags &flags = values.describe;
  return {
      {"describe",
       "Show statistics of each column: missing and distinct values, range, "
       "most frequent values, sizes of lists, and a histogram. Memory does not "
       "grow with the data",
       {{mainOptions,
         joined({filesFlag(values.input.data),
                 {.names = "--html",
                  .placeholder = "FILE",
                  .value = FlagValue::text(flags.html),
                  .help = "Also write the statistics as an HTML page"},
                 {.names = "--top",
                  .placeholder = "N",
                  .value = FlagValue::number(flags.top, 1, 100),
                  .help = "Number of most frequent values to show"},
                 limitFlag(values.input)},
                formFlags(values.input, /*mayGuess=*/true))}}},
      [](const Values &given) {
        return describeFiles(given.input, given.describe);
      }};
}

static Command sampleCommand(Values &values) {
  SampleFlags &flags = values.sample;
  return {
      {"sample",
       "Write a random part of the rows, byte by byte as they are in the "
       "files, "
       "in their order",
       {{mainOptions,
         joined(
             {filesFlag(values.input.data),
              {.names = "--rate",
               .placeholder = "X",
               .value = FlagValue::real(flags.rate, 0, 1),
               .help = "Share of the rows, from 0 to 1: each row is drawn by "
                       "itself"},
              {.names = "--count",
               .placeholder = "N",
               .value = FlagValue::number(flags.count, 0, maxRows),
               .help = "Number of rows, which are kept in memory",
               .excludes = {"--rate"}},
              {.names = "--seed",
               .placeholder = "N",
               .value = FlagValue::number(flags.seed),
               .help = "Seed of the draws"},
              {.names = "-o,--output",
               .placeholder = "FILE",
               .value = placeValue(flags.output),
               .help = "File to write (default: the standard output)"}},
             formFlags(values.input, /*mayGuess=*/true))}}},
      [](const Values &given) {
        return sampleRows(given.input, given.sample);
      }};
}

static Command convertCommand(Values &values) {
  ConvertFlags &flags = values.convert;
  return {
      {"convert",
       "Write the rows in another format, so that a model which reads them "
       "trains to the same bits. Without --record, delimited text and JSON "
       "lines can be converted into each other, and into Parquet and Arrow IPC",
       {{mainOptions,
         joined(
             {filesFlag(values.input.data),
              {.names = "-o,--output",
               .placeholder = "FILE",
               .value = placeValue(flags.output),
               .help = "File to write; its name gives the format"},
              {.names = "--output-format",
               .placeholder = "NAME",
               .value = FlagValue::parsed(flags.format, parseFileFormat),
               .help = "Format of --output: " + fileFormatsText() +
                       " (default: by its name)"},
              {.names = "--output-header",
               .value = FlagValue::isGiven(flags.header),
               .help = "Begin delimited text with a line of names"},
              {.names = "--record",
               .placeholder = "TRAINER",
               .value = FlagValue::text(flags.trainer),
               .help = "Read the rows for the record of this trainer, and "
                       "write what its fields read: numbers, texts of ids, "
                       "and for safetensors keys"},
              {.names = "--program",
               .placeholder = "NAME",
               .value = FlagValue::text(flags.program),
               .help = "Write only the fields that this program of the model "
                       "reads (default: all fields)",
               .needs = {"--record"}},
              {.names = "--cache",
               .placeholder = "FOLDER",
               .value = FlagValue::text(flags.cache),
               .help = "Write the cache that 'trainer COMMAND --cache' of "
                       "this --program and with the same flags reads",
               .needs = {"--record", "--program"}},
              columnsFlag(values.input.data),
              badRowsFlag(values.input)},
             formFlags(values.input, /*mayGuess=*/true))}}},
      [](const Values &given) {
        return convertFiles(given.input, given.convert);
      }};
}

static Command generateCommand(Values &values) {
  GenerateFlags &flags = values.generate;
  return {
      {"generate",
       "Write made-up clicks in the form of Criteo's data: a label, the counts "
       "I1 to I13, and the ids C1 to C26. A hidden logistic model draws the "
       "labels, so the best possible log loss and AUC are known and printed",
       {{mainOptions,
         {{.names = "-o,--output",
           .placeholder = "FILE",
           .value = placeValue(flags.output),
           .help = "File to write: .csv with a header, or .tsv or .txt without "
                   "(default: tab-separated text on the standard output)"},
          {.names = "--rows",
           .placeholder = "N",
           .value = FlagValue::number(flags.rows, 1, maxRows),
           .help = "Number of rows",
           .isRequired = true},
          {.names = "--first-row",
           .placeholder = "N",
           .value = FlagValue::number(flags.firstRow, 0, maxRows / 2),
           .help = "Number of the first row. Files with adjacent rows are "
                   "together what one call writes"},
          {.names = "--vocabulary",
           .placeholder = "N",
           .value =
               FlagValue::number(flags.model.vocabulary, 1, uint64_t(1) << 40),
           .help = "Number of ids of the largest column"},
          {.names = "--drift",
           .placeholder = "X",
           .value = FlagValue::parsed(flags.model.drift, parseDrift, "0"),
           .help = "Angle in radians by which the weights of ids turn in a "
                   "million rows; 0: the model stays as it is"},
          {.names = "--seed",
           .placeholder = "N",
           .value = FlagValue::number(flags.model.seed),
           .help = "Seed of the hidden model and of the rows"},
          {.names = "--quiet",
           .value = FlagValue::isGiven(flags.quiet),
           .help = "Do not report progress"}}}}},
      [](const Values &given) { return generateRows(given.generate); }};
}

static Command checkCommand(Values &values) {
  CheckFlags &flags = values.check;
  std::vector<Flag> form = formFlags(values.input, /*mayGuess=*/false);
  return {
      {"check",
       "Read all rows as a compiled program reads them, and show the first bad "
       "rows with line and column. The status is 1 if a row is bad",
       {{mainOptions,
         joined({{.names = "trainer",
                  .placeholder = "TRAINER",
                  .value = FlagValue::text(flags.trainer),
                  .help = "The trainer that pdl-translate wrote, or its folder",
                  .isRequired = true},
                 filesFlag(values.input.data),
                 {.names = "--program",
                  .placeholder = "NAME",
                  .value = FlagValue::text(flags.program),
                  .help = "Check only the fields that this program of the "
                          "model reads, such as predict, which needs no label "
                          "(default: all fields)"},
                 {.names = "--show",
                  .placeholder = "N",
                  .value = FlagValue::number(flags.shown, 0, maxRows),
                  .help = "Number of bad rows to show"},
                 columnsFlag(values.input.data),
                 cacheFlag(values.input.data)},
                form)}}},
      [](const Values &given) { return checkFiles(given.input, given.check); }};
}

static Command inferCommand(Values &values) {
  InferFlags &flags = values.infer;
  return {
      {"infer",
       "Propose a record for files, and a model that reads it and trains as it "
       "stands. Comments and notes list what the data do not tell",
       {{mainOptions,
         joined(
             {filesFlag(values.input.data),
              {.names = "--model",
               .placeholder = "KIND",
               .value = FlagValue::choice(flags.model,
                                          {{"wide-deep", ModelKind::WideDeep},
                                           {"logistic", ModelKind::Logistic},
                                           {"none", ModelKind::None}}),
               .help =
                   "Model to write in Python: wide-deep, logistic (logistic "
                   "regression), or none (the record alone)"},
              {.names = "--dialect",
               .value = FlagValue::isGiven(flags.isDialect),
               .help = "Write the record in the dialect, without a model"},
              {.names = "--label",
               .placeholder = "NAME",
               .value = FlagValue::text(flags.label),
               .help = "Column with the label: its name, or its position from "
                       "0 (default: by names such as label and click, else a "
                       "column with two values)"},
              {.names = "-o,--output",
               .placeholder = "FILE",
               .value = placeValue(flags.output),
               .help = "File to write (default: the standard output)"},
              limitFlag(values.input),
              badRowsFlag(values.input)},
             formFlags(values.input, /*mayGuess=*/true))}}},
      [](const Values &given) {
        return inferRecord(given.input, given.infer);
      }};
}

/// Returns all commands, in the order of the help text.
static std::vector<Command> commandsOf(Values &values) {
  return {headCommand(values),     countCommand(values),
          describeCommand(values), checkCommand(values),
          inferCommand(values),    sampleCommand(values),
          convertCommand(values),  generateCommand(values)};
}

static int run(int argc, char **argv) {
  Values values;
  const std::vector<Command> commands = commandsOf(values);
  CLI::App app(
      "Looks at data files in all formats of PDL, proposes records "
      "for them, checks and converts\nthem, and makes samples and test data.",
      "pdl-data");
  addHelpAndVersion(app);
  app.footer("Examples:\n"
             "  pdl-data head clicks.csv\n"
             "  pdl-data describe clicks.csv --html clicks.html\n"
             "  pdl-data infer clicks.csv -o clicks.py\n"
             "  pdl-data check out/trainer clicks.csv --header\n"
             "  pdl-data sample 'day-*.tsv' --rate 0.01 -o part.tsv\n"
             "  pdl-data convert clicks.csv -o clicks.jsonl\n"
             "  pdl-data generate --rows 1000000 -o clicks.csv\n"
             "Exit status: 0 done; 1 permanent failure, or bad rows for check; "
             "2 wrong flags; 3 failure that\nanother try may mend; 128 + N "
             "ended by signal N.");
  const Command *command = nullptr;
  if (const std::optional<int> status =
          parseCommand(app, argc, argv, commands, command))
    return *status;
  watchStopSignals();
  // A reader that has seen enough, such as `head`, is no failure.
  std::signal(SIGPIPE, SIG_DFL);
  const int status = command->run(values);
  if (stopSignal() && status != 0)
    return statusOfSignal(stopSignal());
  if (std::fflush(standardOutput()) != 0)
    return fail(Status::ioError(
        "cannot write to the standard output; is the disk full?"));
  return status;
}

int main(int argc, char **argv) {
  return runProgram("use a machine with more of it",
                    [&] { return run(argc, argv); });
}
