//===- CellSyntax.cpp - Delimiter and quotes of text files ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellSyntax.h"

#include "Data/FileFormat.h"
#include "Data/InputFile.h"
#include "Data/KafkaAddress.h"
#include "Data/Unpacker.h"

#include <iterator>

using namespace pdlrt;

// Suffixes and the delimiters that they imply.
static constexpr std::string_view suffixes[] = {".csv", ".tsv", ".txt"};
static constexpr char delimiters[] = {',', '\t', '\t'};
static_assert(std::size(suffixes) == std::size(delimiters));

std::span<const std::string_view> pdlrt::delimitedSuffixes() {
  return suffixes;
}

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

std::optional<char> pdlrt::delimiterByName(const std::string &path) {
  if (isStandardInput(path))
    return std::nullopt;
  if (isKafkaAddress(path)) {
    const std::string format = kafkaFormat(path);
    return format == "csv"   ? std::optional(',')
           : format == "tsv" ? std::optional('\t')
                             : std::nullopt;
  }
  const std::string_view name = unpackedName(path);
  for (size_t i = 0; i < std::size(suffixes); ++i)
    if (name.ends_with(suffixes[i]))
      return delimiters[i];
  return std::nullopt;
}

Status pdlrt::checkQuote(const DataOptions &options, char delimiter) {
  const char quote = options.quote.value_or('\0');
  const bool isSpecial =
      quote == '\n' || quote == '\r' || quote == ' ' || quote == '\t';
  if (quote == '\0' || (!isSpecial && quote != delimiter))
    return {};
  return Status::invalidArgument(
      "blanks, line breaks and the delimiter cannot "
      "enclose cells; choose another quote (--quote)");
}

static Expected<char> delimiterOf(const std::string &path,
                                  const DataOptions &options) {
  if (options.delimiter)
    return options.delimiter;
  if (isStandardInput(path))
    return Status::invalidArgument(
        "standard input has no name that says what ends a "
        "cell; say it with --delimiter");
  if (const std::optional<char> named = delimiterByName(path))
    return *named;
  if (isKafkaAddress(path))
    return Status::invalidArgument(
        inputName(path) +
        ": nothing says what the messages are; add format=csv, format=tsv or "
        "another value of --format to the address, or give --delimiter");
  return Status::invalidArgument(
      path + ": the name does not end in " + fileSuffixesText() +
      "; say what ends a cell with --delimiter, or give the "
      "format with --format");
}

Expected<CellSyntax> pdlrt::cellSyntaxOf(const std::string &path,
                                         const DataOptions &options) {
  const Expected<char> delimiter = delimiterOf(path, options);
  PDLRT_RETURN_IF_ERROR(delimiter.status());
  PDLRT_RETURN_IF_ERROR(checkQuote(options, *delimiter));
  return CellSyntax{*delimiter,
                    options.quote.value_or(defaultQuoteOf(*delimiter))};
}
