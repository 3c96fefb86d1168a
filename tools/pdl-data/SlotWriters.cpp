//===- SlotWriters.cpp - Writes lines of slots and values -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowWriter.h"

#include <fmt/format.h>
#include <map>

using namespace pdlrt;

namespace {

class PairWriter final : public RowWriter {
public:
  PairWriter(Output &output, bool isSlotFirst)
      : output(output), isSlotFirst(isSlotFirst) {}

  Status begin(const std::vector<WrittenField> &given) override;
  Status write(const WrittenRow &row) override;

private:
  Output &output;
  bool isSlotFirst;
  std::vector<WrittenField> fields;
  std::string line;
};

} // namespace

Status PairWriter::begin(const std::vector<WrittenField> &given) {
  fields = given;
  for (const WrittenField &field : fields) {
    if (!field.columnPositions.empty())
      return cannotWrite(field, "has positions of columns, but slots have "
                                "names; give names in columns(...)");
    for (int64_t i = 0; i < field.width; ++i)
      if (field.slotName(i).find_first_of(": \t\r\n") != std::string::npos)
        return cannotWrite(field, "the name `" + field.slotName(i) +
                                      "` has a colon or a blank, which no slot "
                                      "can have");
  }
  return {};
}

Status PairWriter::write(const WrittenRow &row) {
  line.clear();
  size_t slot = 0;
  for (const WrittenField &field : fields)
    for (int64_t i = 0; i < field.width; ++i, ++slot) {
      PDLRT_RETURN_IF_ERROR(checkDropped(field, row[slot]));
      for (const RowValue &value : row[slot].values) {
        if (isMissing(value))
          continue;
        line += line.empty() ? "" : " ";
        if (isSlotFirst)
          line += field.slotName(i) + ":";
        PDLRT_RETURN_IF_ERROR(appendToken(field, value, line));
        if (!isSlotFirst)
          line += ":" + field.slotName(i);
      }
    }
  if (line.empty())
    return cannotWrite(fields.front(),
                       "and all others are missing in a row, for which this "
                       "format has no line");
  return output.write(line + "\n");
}

namespace {

class MultiSlotWriter final : public RowWriter {
public:
  explicit MultiSlotWriter(Output &output) : output(output) {}

  Status begin(const std::vector<WrittenField> &given) override;
  Status write(const WrittenRow &row) override;

private:
  /// A slot of the file: the first slot of a row that it has, and their number.
  struct FileSlot {
    const WrittenField *field = nullptr;
    size_t first = 0, count = 0;
  };
  Output &output;
  std::vector<WrittenField> fields;
  std::vector<FileSlot> slots;
  std::string line;
};

} // namespace

Status MultiSlotWriter::begin(const std::vector<WrittenField> &given) {
  fields = given;
  size_t first = 0, next = 0;
  const auto put = [&](const WrittenField &field, size_t count) -> Status {
    if (next >= slots.size())
      slots.resize(next + 1);
    if (slots[next].field)
      return cannotWrite(field, "and field `" + slots[next].field->name +
                                    "` have the same slot");
    slots[next++] = {&field, first, count};
    first += count;
    return {};
  };
  for (const WrittenField &field : fields) {
    if (!field.columnNames.empty())
      return cannotWrite(field,
                         "has names of columns, but slots of a MultiSlot "
                         "line have only numbers");
    if (field.columnPositions.empty() && field.isNumber && !field.isBag) {
      PDLRT_RETURN_IF_ERROR(put(field, size_t(field.width)));
      continue;
    }
    for (int64_t i = 0; i < field.width; ++i) {
      if (!field.columnPositions.empty())
        next = size_t(field.columnPositions[size_t(i)]);
      PDLRT_RETURN_IF_ERROR(put(field, 1));
    }
  }
  return {};
}

Status MultiSlotWriter::write(const WrittenRow &row) {
  line.clear();
  for (const FileSlot &slot : slots) {
    std::string values;
    int64_t count = 0;
    for (size_t i = 0; i < slot.count; ++i) {
      PDLRT_RETURN_IF_ERROR(checkDropped(*slot.field, row[slot.first + i]));
      for (const RowValue &value : row[slot.first + i].values) {
        if (isMissing(value))
          continue;
        values += ' ';
        ++count;
        PDLRT_RETURN_IF_ERROR(appendToken(*slot.field, value, values));
      }
    }
    line += (line.empty() ? "" : " ") + std::to_string(count) + values;
  }
  return output.write(line + "\n");
}

namespace {

/// Writes libsvm: LABEL [qid:N] INDEX:VALUE ...
class LibsvmWriter final : public RowWriter {
public:
  explicit LibsvmWriter(Output &output) : output(output) {}

  Status begin(const std::vector<WrittenField> &given) override;
  Status write(const WrittenRow &row) override;

private:
  /// A part of a line: its field, and its slot in a row.
  struct Part {
    const WrittenField *field = nullptr;
    size_t slot = 0;
  };
  Status take(const std::string &name, const WrittenField &field, size_t slot);

  Output &output;
  std::vector<WrittenField> fields;
  Part label, query, index, value;
  std::map<int64_t, Part> features;
  std::string line;
};

} // namespace

Status LibsvmWriter::take(const std::string &name, const WrittenField &field,
                          size_t slot) {
  Part *part = name == "label"   ? &label
               : name == "qid"   ? &query
               : name == "index" ? &index
               : name == "value" ? &value
                                 : nullptr;
  if (!part && (name.empty() || name.size() > 18 ||
                name.find_first_not_of("0123456789") != std::string::npos))
    return cannotWrite(field, "`" + name +
                                  "` is no part of a line of libsvm: "
                                  "label, qid, index, value, or the "
                                  "number of a feature");
  if (!part)
    part = &features[std::stoll(name)];
  if (part->field)
    return cannotWrite(field, "and field `" + part->field->name +
                                  "` are the same part of a line, " + name);
  *part = {&field, slot};
  return {};
}

Status LibsvmWriter::begin(const std::vector<WrittenField> &given) {
  fields = given;
  size_t slot = 0;
  for (const WrittenField &field : fields)
    for (int64_t i = 0; i < field.width; ++i, ++slot) {
      std::string name;
      if (!field.columnNames.empty())
        name = field.columnNames[size_t(i)];
      else if (!field.columnPositions.empty())
        name = std::to_string(field.columnPositions[size_t(i)]);
      else if (field.isBag && field.width == 1)
        name = field.isNumber ? "value" : "index";
      else if (field.isNumber && !field.isBag)
        name = field.width == 1 ? "label" : std::to_string(i + 1);
      else if (!field.isBag && field.width == 1 && field.name == "qid")
        name = "qid";
      else
        return cannotWrite(field, "suits no part of a line of libsvm: a label "
                                  "of one number, one bag of ids, one bag of "
                                  "numbers, numbers");
      PDLRT_RETURN_IF_ERROR(take(name, field, slot));
    }
  if (index.field && !features.empty())
    return cannotWrite(*index.field,
                       "has the indices of all features, and other fields have "
                       "features by number, so that their values would be "
                       "among the indices");
  if (value.field && !index.field)
    return cannotWrite(*value.field, "has values without indices; libsvm needs "
                                     "a bag of ids too");
  return {};
}

Status LibsvmWriter::write(const WrittenRow &row) {
  line.clear();
  const auto append = [&](const Part &part, size_t i) {
    return appendToken(*part.field, row[part.slot].values[i], line);
  };
  if (label.field && !row[label.slot].values.empty())
    PDLRT_RETURN_IF_ERROR(append(label, 0));
  else
    line += "0";
  if (query.field && !row[query.slot].values.empty()) {
    line += " qid:";
    PDLRT_RETURN_IF_ERROR(append(query, 0));
  }
  for (const auto &[number, part] : features) {
    if (row[part.slot].values.empty())
      continue;
    line += fmt::format(" {}:", number);
    PDLRT_RETURN_IF_ERROR(append(part, 0));
  }
  const size_t count = index.field ? row[index.slot].values.size() : 0;
  if (value.field && row[value.slot].values.size() != count)
    return cannotWrite(*value.field,
                       fmt::format("a row has {} values, but {} indices",
                                   row[value.slot].values.size(), count));
  for (size_t i = 0; i < count; ++i) {
    line += " ";
    const size_t begin = line.size();
    PDLRT_RETURN_IF_ERROR(append(index, i));
    if (line.size() == begin ||
        line.find_first_not_of("0123456789", begin) != std::string::npos)
      return cannotWrite(*index.field, "`" + line.substr(begin) +
                                           "` is no number, and libsvm numbers "
                                           "its features");
    line += ":";
    if (value.field)
      PDLRT_RETURN_IF_ERROR(append(value, i));
    else
      line += "1";
  }
  return output.write(line + "\n");
}

namespace {

/// Writes libffm: LABEL FIELD:INDEX:VALUE ...
class LibffmWriter final : public RowWriter {
public:
  explicit LibffmWriter(Output &output) : output(output) {}

  Status begin(const std::vector<WrittenField> &given) override;
  Status write(const WrittenRow &row) override;

private:
  /// A FIELD of the file: fields of the record, and slots of a row.
  struct FileField {
    const WrittenField *index = nullptr, *value = nullptr;
    size_t indexSlot = 0, valueSlot = 0;
  };
  Output &output;
  std::vector<WrittenField> fields;
  const WrittenField *label = nullptr;
  size_t labelSlot = 0;
  std::vector<FileField> parts;
  std::string line;
};

} // namespace

Status LibffmWriter::begin(const std::vector<WrittenField> &given) {
  fields = given;
  size_t slot = 0, nextIndex = 0, nextValue = 0;
  for (const WrittenField &field : fields)
    for (int64_t i = 0; i < field.width; ++i, ++slot) {
      const bool isLabel = !field.columnNames.empty()
                               ? field.columnNames[size_t(i)] == "label"
                               : field.isNumber && !field.isBag;
      if (isLabel && !label && field.width == 1) {
        label = &field;
        labelSlot = slot;
        continue;
      }
      if (isLabel || !field.columnNames.empty() ||
          (field.isNumber && !field.isBag))
        return cannotWrite(field, "suits no part of a line of libffm: a label "
                                  "of one number, ids, and bags of numbers");
      size_t &next = field.isNumber ? nextValue : nextIndex;
      if (!field.columnPositions.empty())
        next = size_t(field.columnPositions[size_t(i)]);
      if (next >= parts.size())
        parts.resize(next + 1);
      FileField &part = parts[next++];
      (field.isNumber ? part.value : part.index) = &field;
      (field.isNumber ? part.valueSlot : part.indexSlot) = slot;
    }
  for (const FileField &part : parts)
    if (part.value && !part.index)
      return cannotWrite(*part.value, "has values of a FIELD without indices");
  return {};
}

Status LibffmWriter::write(const WrittenRow &row) {
  line.clear();
  if (label && !row[labelSlot].values.empty())
    PDLRT_RETURN_IF_ERROR(
        appendToken(*label, row[labelSlot].values.front(), line));
  else
    line += "0";
  for (size_t number = 0; number < parts.size(); ++number) {
    const FileField &part = parts[number];
    if (!part.index)
      continue;
    const WrittenSlot &indices = row[part.indexSlot];
    PDLRT_RETURN_IF_ERROR(checkDropped(*part.index, indices));
    if (part.value &&
        row[part.valueSlot].values.size() != indices.values.size())
      return cannotWrite(*part.value,
                         fmt::format("a row has {} values, but {} indices, in "
                                     "FIELD {}",
                                     row[part.valueSlot].values.size(),
                                     indices.values.size(), number));
    for (size_t i = 0; i < indices.values.size(); ++i) {
      if (isMissing(indices.values[i]))
        continue;
      line += fmt::format(" {}:", number);
      const size_t begin = line.size();
      PDLRT_RETURN_IF_ERROR(appendToken(*part.index, indices.values[i], line));
      if (line.find(':', begin) != std::string::npos)
        return cannotWrite(*part.index, "`" + line.substr(begin) +
                                            "` has a colon, which separates "
                                            "the parts of libffm");
      line += ":";
      if (part.value)
        PDLRT_RETURN_IF_ERROR(
            appendToken(*part.value, row[part.valueSlot].values[i], line));
      else
        line += "1";
    }
  }
  return output.write(line + "\n");
}

std::unique_ptr<RowWriter> makePairWriter(Output &output, bool isSlotFirst) {
  return std::make_unique<PairWriter>(output, isSlotFirst);
}
std::unique_ptr<RowWriter> makeMultiSlotWriter(Output &output) {
  return std::make_unique<MultiSlotWriter>(output);
}
std::unique_ptr<RowWriter> makeLibsvmWriter(Output &output) {
  return std::make_unique<LibsvmWriter>(output);
}
std::unique_ptr<RowWriter> makeLibffmWriter(Output &output) {
  return std::make_unique<LibffmWriter>(output);
}
