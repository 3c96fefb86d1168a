//===- SparseFormats.cpp - libsvm and libffm ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/BlankTokens.h"
#include "Data/CellSplitter.h"
#include "Data/ColumnMap.h"
#include "Data/FileFormat.h"
#include "Data/RowReader.h"

#include <algorithm>

using namespace pdlrt;

namespace {

/// Parses `LABEL [qid:N] INDEX:VALUE ... [# comment]`.
class LibsvmParser final : public RowParser {
public:
  explicit LibsvmParser(const NamedColumns &columns)
      : label(columns.find("label")), query(columns.find("qid")),
        index(columns.find("index")), value(columns.find("value")),
        hasNumbers(
            std::ranges::any_of(columns.names(), [](const std::string &name) {
              return name.find_first_not_of("0123456789") == std::string::npos;
            })) {}
  Status parse(std::string_view line, RowAssembler &row,
               size_t &column) override;

private:
  Status parsePair(std::string_view token, RowAssembler &row) const;

  int32_t label, query, index, value;
  bool hasNumbers; ///< Some field reads a feature by its number.
};

/// Parses `LABEL FIELD:INDEX:VALUE ...`.
class LibffmParser final : public RowParser {
public:
  explicit LibffmParser(const NamedColumns &columns)
      : label(columns.find("label")), named(columns) {}
  Status parse(std::string_view line, RowAssembler &row,
               size_t &column) override;

private:
  /// Columns of the indices and of the values of a field of the file.
  struct FileField {
    int32_t index = -1, value = -1;
  };
  Expected<FileField> fieldOf(std::string_view text, RowAssembler &row);

  int32_t label;
  const NamedColumns named;
  std::vector<FileField> fields; ///< By number.
};

} // namespace

/// Adds a value to a column, if it is read.
static void addText(RowAssembler &row, int32_t column, std::string_view text) {
  if (column < 0)
    return;
  row.begin(column);
  row.add(column, RowValue::ofText(text));
}

/// Reads the label, the first token of a line.
static Status parseLabel(BlankTokens &tokens, RowAssembler &row, int32_t into,
                         size_t &column) {
  std::string_view token;
  tokens.next(token);
  column = tokens.columnOf(token);
  if (token.empty() || token.starts_with('#') ||
      token.find(':') != std::string_view::npos)
    return Status::invalidArgument(
        "the line does not begin with a label; write one, "
        "for instance 0, also where it is unknown");
  addText(row, into, token);
  return {};
}

Status LibsvmParser::parsePair(std::string_view token,
                               RowAssembler &row) const {
  const size_t colon = token.find(':');
  if (colon == std::string_view::npos || colon == 0)
    return Status::invalidArgument(
        quoteText(token) + " is not INDEX:VALUE; a line of libsvm has such "
                           "pairs after its label");
  const std::string_view name = token.substr(0, colon);
  const std::string_view text = token.substr(colon + 1);
  if (name == "qid") {
    addText(row, query, text);
    return {};
  }
  if (name.find_first_not_of("0123456789") != std::string_view::npos)
    return Status::invalidArgument(quoteText(name) +
                                   " is no number of a feature; libsvm numbers "
                                   "features, and JSON lines name them");
  if (text.empty())
    return Status::invalidArgument(
        quoteText(token) +
        " has no value; write INDEX:VALUE, or leave the feature out");
  addText(row, index, name);
  addText(row, value, text);
  if (hasNumbers)
    if (const int32_t column = row.columnOf(name); column >= 0) {
      if (row.isGiven(column))
        return Status::invalidArgument("feature " + std::string(name) +
                                       " occurs twice; write it once");
      addText(row, column, text);
    }
  return {};
}

Status LibsvmParser::parse(std::string_view line, RowAssembler &row,
                           size_t &column) {
  BlankTokens tokens(line);
  PDLRT_RETURN_IF_ERROR(parseLabel(tokens, row, label, column));
  for (const int32_t bag : {index, value})
    if (bag >= 0)
      row.begin(bag);
  std::string_view token;
  while (tokens.next(token) && !token.starts_with('#')) {
    column = tokens.columnOf(token);
    PDLRT_RETURN_IF_ERROR(parsePair(token, row));
  }
  column = 0;
  return {};
}

Expected<LibffmParser::FileField> LibffmParser::fieldOf(std::string_view text,
                                                        RowAssembler &row) {
  // A larger number is not a field's; libffm allocates memory for each.
  constexpr size_t maxFields = 1 << 16;
  size_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || number >= maxFields)
      return Status::invalidArgument(
          quoteText(text) + " is no number of a field below " +
          std::to_string(maxFields) + "; pairs are FIELD:INDEX:VALUE");
    number = 10 * number + size_t(c - '0');
  }
  const auto find = [&](const std::string &name) {
    return row.discovers() ? row.columnOf(name) : named.find(name);
  };
  for (size_t i = fields.size(); i <= number; ++i)
    fields.push_back(
        {find(std::to_string(i)), find(std::to_string(i) + ".value")});
  return fields[number];
}

Status LibffmParser::parse(std::string_view line, RowAssembler &row,
                           size_t &column) {
  BlankTokens tokens(line);
  PDLRT_RETURN_IF_ERROR(parseLabel(tokens, row, label, column));
  std::string_view token;
  while (tokens.next(token)) {
    column = tokens.columnOf(token);
    const size_t first = token.find(':');
    const size_t second =
        first == std::string_view::npos ? first : token.find(':', first + 1);
    if (second == std::string_view::npos || first == 0 || second == first + 1 ||
        second + 1 == token.size() ||
        token.find(':', second + 1) != std::string_view::npos)
      return Status::invalidArgument(
          quoteText(token) + " is not FIELD:INDEX:VALUE; a line of libffm has "
                             "such parts after its label");
    auto found = fieldOf(token.substr(0, first), row);
    PDLRT_RETURN_IF_ERROR(found.status());
    addText(row, found->index, token.substr(first + 1, second - first - 1));
    addText(row, found->value, token.substr(second + 1));
  }
  column = 0;
  return {};
}

namespace {

/// Assigns the parts of a sparse format to the fields of a record.
class SparseRoles {
public:
  /// `hasFields`: features are in numbered fields, as in libffm.
  SparseRoles(const pdl_descriptor &record, bool hasFields)
      : record(record), hasFields(hasFields) {}

  /// The part of a field; `wrong`: a message if there is none.
  struct Part {
    FieldNames names;
    std::string wrong;
  };
  /// Returns the parts of all fields, by field of the record.
  std::vector<Part> find();

private:
  Expected<FieldNames> declared(const pdl_field &field) const;
  Expected<FieldNames> ofRole(const pdl_field &field);
  Status once(const pdl_field &field, std::string_view part);

  const pdl_descriptor &record;
  bool hasFields;
  const pdl_field *label = nullptr, *index = nullptr, *value = nullptr;
  size_t nextIndex = 0, nextValue = 0;
};

} // namespace

Status SparseRoles::once(const pdl_field &field, std::string_view part) {
  const pdl_field *&taken = part == "label"   ? label
                            : part == "index" ? index
                                              : value;
  if (taken)
    return Status::invalidArgument(
        fieldText(field) + " and " + fieldText(*taken) + " could both be the " +
        std::string(part) + " of a line; give " + fieldText(field) +
        " its part in columns(...): label, qid, index, value or numbers of "
        "features");
  taken = &field;
  return {};
}

/// Returns the parts that `columns(...)` of a field names.
Expected<FieldNames> SparseRoles::declared(const pdl_field &field) const {
  FieldNames names;
  // A bag of numbers has the values of a file's field, not its indices.
  const bool isValue = hasFields && field.element_type != PDL_I64;
  for (int64_t slot = 0; slot < field.width; ++slot)
    names.slots.push_back(field.column_names
                              ? std::string(trim(field.column_names[slot]))
                              : std::to_string(field.column_positions[slot]) +
                                    (isValue ? ".value" : ""));
  names.absentIsZero = !field.column_names && field.kind == PDL_FIELD_DENSE;
  return names;
}

/// Returns the parts that suit the type of a field.
Expected<FieldNames> SparseRoles::ofRole(const pdl_field &field) {
  FieldNames names;
  const bool isIds = field.element_type == PDL_I64;
  const bool isBag = field.kind == PDL_FIELD_RAGGED;
  if (!isIds && !isBag && field.width == 1) {
    PDLRT_RETURN_IF_ERROR(once(field, "label"));
    names.whole = "label";
    return names;
  }
  if (!hasFields && isIds && !isBag && field.width == 1 &&
      std::string_view(field.name) == "qid") {
    names.whole = "qid";
    return names;
  }
  if (hasFields && (isIds || isBag)) {
    size_t &next = isIds ? nextIndex : nextValue;
    for (int64_t slot = 0; slot < field.width; ++slot)
      names.slots.push_back(std::to_string(next++) + (isIds ? "" : ".value"));
    return names;
  }
  if (!hasFields && isBag && field.width == 1) {
    names.whole = isIds ? "index" : "value";
    PDLRT_RETURN_IF_ERROR(once(field, names.whole));
    return names;
  }
  if (!hasFields && !isIds && !isBag) {
    for (int64_t slot = 0; slot < field.width; ++slot)
      names.slots.push_back(std::to_string(slot + 1));
    names.absentIsZero = true;
    return names;
  }
  return Status::invalidArgument(
      fieldText(field) + " suits no part of a line of " +
      (hasFields ? "libffm; fields are a label of one number, ids, and bags of "
                   "numbers"
                 : "libsvm; fields are a label of one number, one bag of ids "
                   "(the indices), one bag of numbers (the values), and "
                   "tensors of numbers (features 1, 2, ...)") +
      "; or give it its part in columns(...)");
}

std::vector<SparseRoles::Part> SparseRoles::find() {
  std::vector<Part> all;
  for (int32_t i = 0; i < record.field_count; ++i) {
    const pdl_field &field = record.fields[i];
    auto names = field.column_count ? declared(field) : ofRole(field);
    // It is an error only if a program reads the field.
    all.push_back(names ? Part{*std::move(names), ""}
                        : Part{{}, names.status().message()});
  }
  return all;
}

namespace {

class SparseFormat final : public FileFormat {
public:
  SparseFormat(std::string_view text, std::string_view suffix,
               std::string_view shortSuffix, bool hasFields)
      : text(text), suffixText{suffix, shortSuffix}, hasFields(hasFields) {}

  std::string_view name() const override { return text; }
  std::string_view flag() const override { return text; }
  std::span<const std::string_view> suffixes() const override {
    return suffixText;
  }

  const FormatTraits &traits() const override { return namedValueTraits; }

  Status checkFlags(const std::string &path,
                    const DataOptions &data) const override {
    return refuseCellFlags(path, data,
                           "the parts of a line of " + std::string(text) +
                               " are known");
  }

  Expected<std::unique_ptr<RecordReader>>
  open(const std::string &path, int32_t fileIndex,
       const RecordReaderOptions &options) const override {
    const auto parts = SparseRoles(options.descriptor, hasFields).find();
    auto row = RowAssembler::create(
        options, [&](size_t field) -> Expected<FieldNames> {
          if (!parts[field].wrong.empty())
            return Status::invalidArgument(path + ": " + parts[field].wrong);
          return parts[field].names;
        });
    PDLRT_RETURN_IF_ERROR(row.status());
    std::unique_ptr<RowParser> parser;
    if (hasFields)
      parser = std::make_unique<LibffmParser>(row->columns());
    else
      parser = std::make_unique<LibsvmParser>(row->columns());
    return openLineReader(path, fileIndex, options, std::move(parser),
                          *std::move(row), hasFields ? '\0' : '#');
  }

  Expected<std::unique_ptr<RawRows>>
  openRaw(const std::string &path,
          const RecordReaderOptions &options) const override {
    RowAssembler row = RowAssembler::discovering(
        hasFields ? std::vector<std::string>{"label"}
                  : std::vector<std::string>{"label", "qid", "index", "value"});
    std::unique_ptr<RowParser> parser;
    if (hasFields)
      parser = std::make_unique<LibffmParser>(row.columns());
    else
      parser = std::make_unique<LibsvmParser>(row.columns());
    return openRawLines(path, options, std::move(parser), std::move(row),
                        hasFields ? '\0' : '#');
  }

private:
  std::string_view text;
  std::string_view suffixText[2];
  bool hasFields;
};

} // namespace

namespace pdlrt {

const FileFormat &libsvmFormat() {
  static const SparseFormat format("libsvm", ".libsvm", ".svm",
                                   /*hasFields=*/false);
  return format;
}

const FileFormat &libffmFormat() {
  static const SparseFormat format("libffm", ".libffm", ".ffm",
                                   /*hasFields=*/true);
  return format;
}

} // namespace pdlrt
