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
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Job/JobFlags.h"

#include <cstdint>

using namespace pdlrt;

static Expected<char> parseDelimiter(const std::string &text) {
  if (text == "comma")
    return ',';
  if (text == "tab")
    return '\t';
  if (text == "space")
    return ' ';
  if (text.size() == 1)
    return text.front();
  return Status::invalidArgument(
      "'" + text +
      "' is no delimiter; give one character, or comma, tab or space");
}

static Expected<char> parseQuote(const std::string &text) {
  if (text == "none")
    return '\0';
  if (text.size() == 1)
    return text.front();
  return Status::invalidArgument("'" + text +
                                 "' is no quote; give one character, or none");
}

std::vector<Flag> pdlrt::readingFlags(DataOptions &data) {
  return {
      {.names = "--data",
       .placeholder = "FILE",
       .value = FlagValue::words(data.files),
       .help = "Files to read, in this order: " + fileSuffixesText() +
               "; - is the standard input, which may be compressed. A folder "
               "and a pattern such as 'day-1/*.csv' stand for their files in "
               "the order of the names, and @FILE for the lines of a file",
       .isRequired = true},
      {.names = "--format",
       .placeholder = "NAME",
       .value = FlagValue::parsed(data.format, parseFileFormat),
       .help = "Format of all files: " + fileFormatsText() +
               " (default: by the name of each file; text for names without "
               "a known suffix, and for -)"},
      {.names = "--data-pipe",
       .placeholder = "COMMAND",
       .value = FlagValue::text(data.pipe),
       .help = "Shell command that each file is read through: its standard "
               "input is the file, $FILE the name, and its output the data, "
               "such as 'hdfs dfs -cat \"$FILE\"'. A command that fails "
               "stops the program"},
      {.names = "--rows",
       .placeholder = "BEGIN:END",
       .value = FlagValue::parsed(data.rows, RowRange::parse),
       .help = "Rows to read, numbered from 0 over all files, without the end: "
               "0%:80%, 8000:10000, 80%: (default: all)"},
      {.names = "--delimiter",
       .placeholder = "CHAR",
       .value = FlagValue::parsed(data.delimiter, parseDelimiter),
       .help = "Delimiter of columns: one character, or comma, tab, space "
               "(default: comma for .csv, tab for .tsv and .txt; other names, "
               "and -, have none)"},
      {.names = "--quote",
       .placeholder = "CHAR",
       .value = FlagValue::parsed(data.quote, parseQuote),
       .help = "Quote character of cells, as in RFC 4180, or none (default: a "
               "double quote if the delimiter is a comma or a semicolon, else "
               "none: quotes are text)"},
      {.names = "--header",
       .value = FlagValue::isGiven(data.header),
       .help = "The first line of each file names its columns. Fields without "
               "`columns` in the model are then found by their names: NAME, or "
               "NAME.0, NAME.1 and so on. If a name is missing, they are found "
               "by position, with a warning; then all files must have the same "
               "header"},
      {.names = "--columns",
       .placeholder = "FIELD,...",
       .value = FlagValue::list(data.columns),
       .help = "Columns of the files, in order, separated by commas: a field's "
               "name for all of its columns, or _ for a column that is no "
               "field (default: by the names in the header, else all fields of "
               "the record)"},
      {.names = "--max-bad-rows",
       .placeholder = "N",
       .value = FlagValue::number(data.maxBadRows, 0, maxCount),
       .help = "Skip and count up to N bad rows in a group's epoch; one more "
               "stops the program. predict writes nan for a bad row"},
      {.names = "--cache",
       .placeholder = "FOLDER",
       .value = FlagValue::text(data.cache),
       .help = "Store the parsed rows of text files in this folder during the "
               "first pass, and read them there later, until a file's size or "
               "time changes. Never changes a result"},
      {.names = "--batch-size",
       .placeholder = "N",
       .value = FlagValue::number(data.batchSize, 1, int64_t(1) << 30),
       .help = "Samples per batch of one replica"}};
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
                   "written as for --rows"}};
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
