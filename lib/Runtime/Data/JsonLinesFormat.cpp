//===- JsonLinesFormat.cpp - One JSON object a line -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellSplitter.h"
#include "Data/FileFormat.h"
#include "Data/JsonScanner.h"
#include "Data/RowReader.h"

using namespace pdlrt;

namespace {

class JsonLineParser final : public RowParser {
public:
  Status parse(std::string_view line, RowAssembler &row,
               size_t &column) override;

private:
  Status parseMember(JsonScanner &scanner, RowAssembler &row);
  Status parseValue(JsonScanner &scanner, RowAssembler &row, int32_t column);
  Status parseArray(JsonScanner &scanner, RowAssembler &row, int32_t column,
                    bool mayNest);
  Status parseScalar(JsonScanner &scanner, RowAssembler &row, int32_t column,
                     bool isAlone);

  std::string name; ///< Text of a name with escapes.
};

Status JsonLineParser::parse(std::string_view line, RowAssembler &row,
                             size_t &column) {
  JsonScanner scanner(line);
  Status status = [&]() -> Status {
    if (scanner.peek() == '[')
      return Status::invalidArgument(
          "the line begins an array, but each line is one object; write one "
          "JSON array as lines, for instance with jq -c '.[]'");
    if (!scanner.pass('{'))
      return scanner.expected("the `{` of an object");
    if (scanner.pass('}'))
      return {};
    do
      PDLRT_RETURN_IF_ERROR(parseMember(scanner, row));
    while (scanner.pass(','));
    return scanner.pass('}') ? Status() : scanner.expected("`,` or `}`");
  }();
  if (status.ok() && (scanner.peek(), scanner.at() < line.size()))
    status = scanner.expected("the end of the line");
  column = status.ok() ? 0 : scanner.at() + 1;
  return status;
}

Status JsonLineParser::parseMember(JsonScanner &scanner, RowAssembler &row) {
  std::string_view key;
  PDLRT_RETURN_IF_ERROR(scanner.readString(key, name));
  const int32_t column = row.columnOf(key);
  if (column >= 0 && row.isGiven(column))
    return Status::invalidArgument("the object has " + quoteText(key) +
                                   " twice; write it once");
  if (!scanner.pass(':'))
    return scanner.expected("`:`");
  if (column < 0)
    return scanner.skipValue(1);
  row.begin(column);
  return parseValue(scanner, row, column);
}

Status JsonLineParser::parseValue(JsonScanner &scanner, RowAssembler &row,
                                  int32_t column) {
  switch (scanner.peek()) {
  case '[':
    return parseArray(scanner, row, column, row.hasLists(column));
  case '{':
    if (row.discovers()) {
      row.withdraw(column);
      return scanner.skipValue(1);
    }
    return Status::invalidArgument(
        "a field reads the value, which is an object; write "
        "its members into the outer object");
  default:
    row.markAlone(column);
    return parseScalar(scanner, row, column, /*isAlone=*/true);
  }
}

/// Reads an array: values, or one list for each slot of a field of bags.
Status JsonLineParser::parseArray(JsonScanner &scanner, RowAssembler &row,
                                  int32_t column, bool mayNest) {
  scanner.pass('[');
  if (scanner.pass(']'))
    return {};
  do {
    const char first = scanner.peek();
    if (first == '{' || (first == '[' && !mayNest))
      return Status::invalidArgument(
          std::string("an element of the list is ") +
          (first == '{' ? "an object" : "a list") +
          "; a field reads numbers, texts, true, false and null");
    if (first == '[')
      PDLRT_RETURN_IF_ERROR(parseArray(scanner, row, column, false));
    else
      PDLRT_RETURN_IF_ERROR(parseScalar(scanner, row, column, mayNest));
    if (mayNest)
      row.endList(column);
  } while (scanner.pass(','));
  return scanner.pass(']') ? Status() : scanner.expected("`,` or `]`");
}

/// Reads a value that is no array. `isAlone`: not an element of a bag.
Status JsonLineParser::parseScalar(JsonScanner &scanner, RowAssembler &row,
                                   int32_t column, bool isAlone) {
  std::string_view text;
  if (scanner.peek() == '"') {
    std::string &storage = row.keep();
    PDLRT_RETURN_IF_ERROR(scanner.readString(text, storage));
    if (isAlone)
      row.addCell(column, trim(text));
    else
      row.add(column, RowValue::ofText(trim(text)));
    return {};
  }
  PDLRT_RETURN_IF_ERROR(scanner.readLiteral(text));
  if (text == "null")
    row.add(column, RowValue());
  else if (text == "true" || text == "false")
    row.add(column, RowValue::ofTruth(text == "true"));
  else
    row.add(column, RowValue::ofText(text == "-0" ? "0" : text));
  return {};
}

class JsonLinesFormat final : public FileFormat {
public:
  std::string_view name() const override { return "JSON lines"; }
  std::string_view flag() const override { return "jsonl"; }

  std::span<const std::string_view> suffixes() const override {
    static constexpr std::string_view all[] = {".jsonl", ".ndjson", ".json"};
    return all;
  }

  const FormatTraits &traits() const override {
    static constexpr FormatTraits all = [] {
      FormatTraits traits = namedValueTraits;
      traits.marksLists = true;
      return traits;
    }();
    return all;
  }

  Status checkFlags(const std::string &path,
                    const DataOptions &data) const override {
    return refuseCellFlags(path, data, "the values of JSON have names");
  }

  Expected<std::unique_ptr<RecordReader>>
  open(const std::string &path, int32_t fileIndex,
       const RecordReaderOptions &options) const override {
    auto row = RowAssembler::create(options, [&](size_t field) {
      return namesLikeField(options.descriptor.fields[field], name(),
                            /*hasLists=*/true);
    });
    PDLRT_RETURN_IF_ERROR(row.status());
    return openLineReader(path, fileIndex, options,
                          std::make_unique<JsonLineParser>(), *std::move(row));
  }

  Expected<std::unique_ptr<RawRows>>
  openRaw(const std::string &path,
          const RecordReaderOptions &options) const override {
    return openRawLines(path, options, std::make_unique<JsonLineParser>(),
                        RowAssembler::discovering());
  }
};

} // namespace

namespace pdlrt {

const FileFormat &jsonLinesFormat() {
  static const JsonLinesFormat format;
  return format;
}

} // namespace pdlrt
