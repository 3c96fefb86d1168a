//===- CellSyntax.cpp - How rows of text are cut into cells ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellSyntax.h"

#include "Data/InputFile.h"
#include "Data/Unpacker.h"

using namespace pdlrt;

char pdlrt::defaultQuoteOf(char delimiter) {
  return delimiter == ',' || delimiter == ';' ? '"' : '\0';
}

std::string pdlrt::characterText(char character) {
  switch (character) {
  case '\t':
    return "a tab";
  case ' ':
    return "a space";
  case ',':
    return "a comma";
  default:
    return std::string("`") + character + "`";
  }
}

static Expected<char> delimiterOf(const std::string &path,
                                  const DataOptions &options) {
  if (options.delimiter)
    return options.delimiter;
  if (isStandardInput(path))
    return Status::invalid("standard input has no name that says what ends a "
                           "cell; say it with --delimiter");
  const std::string_view name = unpackedName(path);
  if (name.ends_with(".csv"))
    return ',';
  if (name.ends_with(".tsv") || name.ends_with(".txt"))
    return '\t';
  return Status::invalid(path + ": the name ends neither in .csv, .tsv or .txt "
                                "(with or without .gz or .zst) nor in "
                                ".safetensors; "
                                "say what ends a cell with --delimiter");
}

Expected<CellSyntax> pdlrt::cellSyntaxOf(const std::string &path,
                                         const DataOptions &options) {
  const Expected<char> delimiter = delimiterOf(path, options);
  PDLRT_RETURN_IF_ERROR(delimiter.status());
  return CellSyntax{*delimiter,
                    options.quote.value_or(defaultQuoteOf(*delimiter))};
}
