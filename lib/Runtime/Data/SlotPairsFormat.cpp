//===- SlotPairsFormat.cpp - Lines of slot:value or value:slot ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/BlankTokens.h"
#include "Data/FileFormat.h"
#include "Data/RowReader.h"

#include <array>

using namespace pdlrt;

namespace {

/// The part of a pair that is the name of its slot.
enum class PairOrder { SlotFirst, SlotLast };

class SlotPairsParser final : public RowParser {
public:
  explicit SlotPairsParser(PairOrder pairs) : pairs(pairs) {}
  Status parse(std::string_view line, RowAssembler &row,
               size_t &column) override;

private:
  PairOrder pairs;
  std::vector<std::string_view> leading;
};

} // namespace

/// Maximum number of values before the pairs, and their names. Shorter lines
/// have the last ones, but one value is the label.
static constexpr std::array<std::string_view, 3> leadingNames = {
    "ins_id", "show", "click"};

Status SlotPairsParser::parse(std::string_view line, RowAssembler &row,
                              size_t &column) {
  BlankTokens tokens(line);
  std::string_view token;
  leading.clear();
  bool hasPairs = false;
  while (tokens.next(token)) {
    column = tokens.columnOf(token);
    const size_t colon =
        pairs == PairOrder::SlotFirst ? token.find(':') : token.rfind(':');
    if (colon == std::string_view::npos) {
      if (hasPairs || leading.size() == leadingNames.size())
        return Status::invalidArgument(
            quoteText(token) + " has no `:`; after at most " +
            std::to_string(leadingNames.size()) +
            " values (ins_id, show, click) a line has pairs of " +
            (pairs == PairOrder::SlotFirst ? "SLOT:VALUE" : "VALUE:SLOT"));
      leading.push_back(token);
      continue;
    }
    hasPairs = true;
    std::string_view slot = token.substr(0, colon);
    std::string_view value = token.substr(colon + 1);
    if (pairs == PairOrder::SlotLast)
      std::swap(slot, value);
    if (slot.empty())
      return Status::invalidArgument(
          quoteText(token) + " names no slot; write " +
          (pairs == PairOrder::SlotFirst ? "SLOT:VALUE" : "VALUE:SLOT"));
    if (const int32_t into = row.columnOf(slot); into >= 0) {
      row.begin(into);
      row.add(into, RowValue::ofText(value));
    }
  }
  if (!hasPairs && leading.empty()) {
    column = 1;
    return Status::invalidArgument(
        "the line is blank, and rows follow it; only at the "
        "end of a file may blank lines stand");
  }
  for (size_t i = 0; i < leading.size(); ++i) {
    const int32_t into = row.columns().find(
        leadingNames[leadingNames.size() - leading.size() + i]);
    if (into < 0)
      continue;
    if (row.isGiven(into)) {
      column = tokens.columnOf(leading[i]);
      return Status::invalidArgument(
          "the line has a value of this name before its "
          "pairs and among them; write it once");
    }
    row.begin(into);
    row.add(into, RowValue::ofText(leading[i]));
  }
  column = 0;
  return {};
}

namespace {

class SlotPairsFormat final : public FileFormat {
public:
  SlotPairsFormat(std::string_view text, std::string_view flagText,
                  std::string_view suffix, PairOrder pairs)
      : text(text), flagText(flagText), suffix(suffix), pairs(pairs) {}

  std::string_view name() const override { return text; }
  std::string_view flag() const override { return flagText; }
  std::span<const std::string_view> suffixes() const override {
    return {&suffix, 1};
  }

  const FormatTraits &traits() const override { return namedValueTraits; }

  Status checkFlags(const std::string &path,
                    const DataOptions &data) const override {
    return refuseCellFlags(path, data, "its slots have names");
  }

  Expected<std::unique_ptr<RecordReader>>
  open(const std::string &path, int32_t fileIndex,
       const RecordReaderOptions &options) const override {
    auto row = RowAssembler::create(options, [&](size_t field) {
      return namesLikeField(options.descriptor.fields[field], text);
    });
    if (!row)
      return std::move(row).status().withContext(path);
    return openLineReader(path, fileIndex, options,
                          std::make_unique<SlotPairsParser>(pairs),
                          *std::move(row));
  }

  Expected<std::unique_ptr<RawRows>>
  openRaw(const std::string &path,
          const RecordReaderOptions &options) const override {
    return openRawLines(
        path, options, std::make_unique<SlotPairsParser>(pairs),
        RowAssembler::discovering({leadingNames.begin(), leadingNames.end()}));
  }

private:
  std::string_view text, flagText, suffix;
  PairOrder pairs;
};

} // namespace

namespace pdlrt {

const FileFormat &slotFirstFormat() {
  static const SlotPairsFormat format("slot:value lines", "slots", ".slots",
                                      PairOrder::SlotFirst);
  return format;
}

const FileFormat &slotLastFormat() {
  static const SlotPairsFormat format("value:slot lines", "signs", ".signs",
                                      PairOrder::SlotLast);
  return format;
}

} // namespace pdlrt
