//===- ReadingFlags.cpp - Flags of the data to read -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/ReadingFlags.h"

#include "Data/DataFlags.h"
#include "Data/FileFormat.h"
#include "Data/FileLists.h"
#include "Data/FormatFlags.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Job/JobFlags.h"

#include <utility>
#include <vector>

using namespace pdlrt;

std::vector<Flag> pdlrt::readingFlags(DataOptions &data) {
  std::vector<Flag> flags = joined(
      {{.names = "--data",
        .placeholder = "FILE",
        .value = FlagValue::words(data.files),
        .help = "Files to read, in this order: " + fileSuffixesText() +
                "; - is the standard input, which may be compressed. A folder "
                "and a pattern such as 'day-1/*.csv' stand for their files in "
                "the order of the names, and @FILE for the lines of a file. "
                "kafka://HOST:PORT/TOPIC is a topic of Kafka",
        .isRequired = true}},
      fileFormatFlags(data));
  flags.push_back(
      {.names = "--rows",
       .placeholder = "BEGIN:END",
       .value = FlagValue::parsed(data.rows, RowRange::parse),
       .help = "Rows to read, numbered from 0 over all files, without the end: "
               "0%:80%, 8000:10000, 80%: (default: all)"});
  flags = joined(std::move(flags), cellFlags(data));
  flags.push_back(columnsFlag(data));
  flags.push_back(
      {.names = "--max-bad-rows",
       .placeholder = "N",
       .value = FlagValue::number(data.maxBadRows, 0, maxCount),
       .help = "Skip and count up to N bad rows in a group's epoch; one more "
               "stops the program. predict writes nan for a bad row"});
  flags.push_back(cacheFlag(data));
  flags.push_back(
      {.names = "--batch-size",
       .placeholder = "N",
       .value = FlagValue::number(data.batchSize, 1, int64_t(1) << 30),
       .help = "Samples per batch of one replica"});
  return flags;
}

std::vector<Flag> pdlrt::evaluationFlags(SessionOptions &session) {
  return {{.names = "--evaluate-data",
           .placeholder = "FILE",
           .value = FlagValue::words(session.evaluateFiles),
           .help = "Files to test the model on after each epoch"},
          {.names = "--evaluate-rows",
           .placeholder = "BEGIN:END",
           .value = FlagValue::parsed(session.evaluateRows, RowRange::parse),
           .help = "Rows to test on, of --evaluate-data or else of --data; "
                   "written as for --rows"},
          {.names = "--evaluate-every",
           .placeholder = "N",
           .value = FlagValue::number(session.evaluateEvery, 1, maxCount),
           .help = "Also test after every N steps, while the steps wait. "
                   "Never changes what is trained in modes whose steps are "
                   "rounds of all trainers"},
          {.names = "--patience",
           .placeholder = "N",
           .value = FlagValue::number(session.patience, 1, maxCount),
           .help = "Stop early: end the training after N consecutive tests, "
                   "within and after epochs, that did not improve --monitor. "
                   "The test after an incomplete epoch does not count"},
          {.names = "--min-delta",
           .placeholder = "X",
           .value = FlagValue::real(session.minDelta, 0, 1e9),
           .help = "Difference that a test must exceed to count as an "
                   "improvement (default: 0)",
           .needs = {"--patience"}},
          {.names = "--monitor",
           .placeholder = "METRIC",
           .value = FlagValue::text(session.monitor),
           .help = "Metric of @evaluate that --patience watches (default: "
                   "the first AUC, else the first metric)",
           .needs = {"--patience"}}};
}

Status pdlrt::findDataFiles(SessionOptions &options) {
  const bool mayBeFar = !options.data.pipe.empty();
  auto files = expandFileLists(options.data.files, mayBeFar, "--data");
  PDLRT_RETURN_IF_ERROR(files.status());
  options.data.files = *std::move(files);
  files = expandFileLists(options.evaluateFiles, mayBeFar, "--evaluate-data");
  PDLRT_RETURN_IF_ERROR(files.status());
  options.evaluateFiles = *std::move(files);
  return {};
}

Status pdlrt::checkReadingFlags(const std::string &command,
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
