//===- FormatFlags.cpp - Flags about the form of data files ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FormatFlags.h"

#include "Data/FileFormat.h"

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

std::vector<Flag> pdlrt::fileFormatFlags(DataOptions &data) {
  return {
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
               "stops the program"}};
}

std::vector<Flag> pdlrt::cellFlags(DataOptions &data) {
  return {
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
               "header"}};
}

Flag pdlrt::columnsFlag(DataOptions &data) {
  return {.names = "--columns",
          .placeholder = "FIELD,...",
          .value = FlagValue::list(data.columns),
          .help =
              "Columns of the files, in order, separated by commas: a field's "
              "name for all of its columns, or _ for a column that is no "
              "field (default: by the names in the header, else all fields of "
              "the record)"};
}

Flag pdlrt::cacheFlag(DataOptions &data) {
  return {.names = "--cache",
          .placeholder = "FOLDER",
          .value = FlagValue::text(data.cache),
          .help =
              "Store the parsed rows of text files in this folder during the "
              "first pass, and read them there later, until a file's size or "
              "time changes. Never changes a result"};
}
