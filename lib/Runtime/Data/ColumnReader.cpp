//===- ColumnReader.cpp - Reads records from files of columns -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnReader.h"

#include "Data/CellSplitter.h"
#include "Data/ColumnBinding.h"
#include "Data/ColumnContent.h"
#include "Data/ColumnField.h"
#include "Data/ColumnFile.h"
#include "Data/FieldTexts.h"
#include "Data/RecordStream.h"
#include "Data/RowAssembler.h"
#include "Data/RowDefect.h"

#include <algorithm>

using namespace pdlrt;

namespace {

/// Rows that are converted at once.
constexpr int64_t blockRows = 1024;

class ColumnReader final : public RecordReader {
public:
  ColumnReader(ColumnFile file, int32_t fileIndex, RowAssembler row,
               ColumnBinding binding, const RecordReaderOptions &options,
               const ColumnMessage *message = nullptr);
  ~ColumnReader() override {
    // A message is too short to tell what the values of all rows are.
    if (!isMessage)
      row.warn(file.path());
  }

  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         PassedRows &passed) override;
  Expected<int64_t> skip(int64_t count, PassedRows *passed) override;
  Expected<bool> moveTo(const RowPlace &place) override {
    auto skipped = skip(place.row, nullptr);
    PDLRT_RETURN_IF_ERROR(skipped.status());
    return *skipped == place.row;
  }

private:
  Expected<int64_t> jump(int64_t count);
  Expected<int64_t> rowsAhead(int64_t count);
  Expected<bool> loadBatch();
  void useBatch(ColumnData<PdlColumnArray> next);
  void digest(int64_t begin, int64_t count);
  void feed(int32_t name, int64_t batchRow);
  int64_t convert(int64_t begin, int64_t count, RecordColumns &into,
                  std::string &defect);
  Status convertField(size_t field, int64_t batchRow, RecordColumns &into);
  Expected<int64_t> readBlock(int64_t count, RecordColumns &into,
                              PassedRows &passed);
  Expected<int64_t> commit(int64_t begin, int64_t count, RecordColumns &into,
                           PassedRows &passed, std::string &defect);
  std::string_view copiedText(int64_t batchRow, bool isGood);
  /// Returns the index of a row of the batch in the file.
  int64_t rowOf(int64_t batchRow) const {
    return rowsBefore + batchBegin + batchRow;
  }
  std::string rowText(int64_t batchRow) const {
    const int64_t number = rowOf(batchRow) + 1;
    if (isMessage && number == 1)
      return file.path() + ": ";
    return file.path() + (isMessage ? "." : ":") + std::to_string(number) +
           ": ";
  }
  void beginRow(int64_t batchRow, PassedRows &passed, uint64_t content) const {
    if (sample)
      passed.continueAt(sampleOfMessageRow(*sample, rowOf(batchRow)));
    passed.beginRow(content);
  }

  ColumnFile file;
  int32_t fileIndex;
  /// True if the file is a message of a topic; `sample` is then the sample
  /// number of its first row, or none.
  bool isMessage;
  std::optional<int64_t> sample;
  const pdl_program *program;
  /// Converts rows one by one, where converting many at once is not possible.
  RowAssembler row;
  ColumnBinding binding;
  std::vector<ColumnField> fields;
  std::vector<const pdl_field *> descriptors;
  std::vector<ColumnContent> contents;
  /// Names whose values are needed to copy texts.
  std::vector<int32_t> copiedNames;

  /// The next row of the file: its group, its row in the group, and the number
  /// of rows in the groups before.
  int64_t group = 0, groupRow = 0, rowsBefore = 0;
  /// Rows [batchBegin, batchEnd) of the group are decoded.
  ColumnData<PdlColumnArray> batch;
  int64_t batchBegin = 0, batchEnd = 0;
  /// The group that the file decodes, and its next row; -1: none.
  int64_t openGroup = -1, openRow = 0;
  std::vector<ColumnValues> values; ///< By selected column.
  std::vector<bool> isNew;
  std::vector<uint64_t> digests;
  /// Digests of omitted ids (LeftOut), by field, row and slot. Empty if the
  /// program does not need them.
  std::vector<std::vector<uint64_t>> leftOut;
};

ColumnReader::ColumnReader(ColumnFile opened, int32_t fileIndex,
                           RowAssembler row, ColumnBinding bound,
                           const RecordReaderOptions &options,
                           const ColumnMessage *message)
    : file(std::move(opened)), fileIndex(fileIndex), isMessage(message),
      sample(message ? message->sample : std::nullopt),
      program(&options.program), row(std::move(row)), binding(std::move(bound)),
      descriptors(fieldsOf(options.descriptor, options.program)),
      copiedNames(this->row.columns().copied()) {
  for (size_t i = 0; i < descriptors.size(); ++i) {
    const ColumnBinding::Field &own = binding.fields[i];
    fields.emplace_back(*descriptors[i], own.columns, own.isWhole);
    if (options.data.copyTexts && hasTexts(*descriptors[i]))
      copiedNames.insert(copiedNames.end(), own.names.begin(), own.names.end());
  }
  contents.resize(binding.types.size());
  values.resize(binding.types.size());
  isNew.resize(binding.types.size());
  if (program->joined_count > 0)
    leftOut.resize(fields.size());
}

/// Advances by `count` rows without decoding. Returns the number of rows.
Expected<int64_t> ColumnReader::jump(int64_t count) {
  int64_t done = 0;
  while (done < count && group < file.groupCount()) {
    auto rows = file.rowsOf(group);
    PDLRT_RETURN_IF_ERROR(rows.status());
    const int64_t taken = std::min(*rows - groupRow, count - done);
    groupRow += taken;
    done += taken;
    if (groupRow < *rows)
      continue;
    rowsBefore += *rows;
    groupRow = 0;
    ++group;
  }
  return done;
}

void ColumnReader::useBatch(ColumnData<PdlColumnArray> next) {
  for (size_t i = 0; i < values.size(); ++i) {
    const ColumnValues column(binding.types[i], *next->children[i]);
    // The previous batch still owns its dictionary, so equal addresses mean
    // the same dictionary.
    isNew[i] = column.hasDictionary != values[i].hasDictionary ||
               (column.hasDictionary &&
                !column.dictionary.isSame(values[i].dictionary));
    values[i] = column;
    if (isNew[i] && binding.isRead[i])
      contents[i].setDictionary(column);
  }
  batch = std::move(next);
  for (ColumnField &field : fields)
    field.beginBatch(values, isNew);
}

/// Decodes the batch with the next row. Returns false at the end of the file.
Expected<bool> ColumnReader::loadBatch() {
  while (group < file.groupCount()) {
    auto rows = file.rowsOf(group);
    PDLRT_RETURN_IF_ERROR(rows.status());
    if (groupRow == *rows) {
      rowsBefore += *rows;
      groupRow = 0;
      ++group;
      continue;
    }
    if (openGroup != group || openRow > groupRow) {
      PDLRT_RETURN_IF_ERROR(file.begin(group, binding.selected));
      openGroup = group;
      openRow = 0;
    }
    auto next = file.next(groupRow - openRow);
    PDLRT_RETURN_IF_ERROR(next.status());
    const int64_t length = (*next)->length;
    if (length == 0 || length > *rows - groupRow)
      return Status::dataLoss(
          file.path() + ": is damaged: row group " + std::to_string(group) +
          " has not as many rows as the file says; write the file again");
    useBatch(*std::move(next));
    batchBegin = groupRow;
    batchEnd = openRow = groupRow + length;
    return true;
  }
  batchBegin = batchEnd = 0;
  return false;
}

/// Returns how many of the next `count` rows are decoded. Decodes more if there
/// are none. Returns 0 at the end.
Expected<int64_t> ColumnReader::rowsAhead(int64_t count) {
  const bool isDecoded =
      openGroup == group && batchBegin <= groupRow && groupRow < batchEnd;
  if (!isDecoded) {
    auto loaded = loadBatch();
    PDLRT_RETURN_IF_ERROR(loaded.status());
    if (!*loaded)
      return int64_t(0);
  }
  return std::min({count, batchEnd - groupRow, blockRows});
}

/// Sets the digests of rows of the batch.
void ColumnReader::digest(int64_t begin, int64_t count) {
  digests.assign(size_t(count), 0);
  for (size_t i = 0; i < values.size(); ++i)
    if (binding.isRead[i])
      contents[i].add(values[i], begin, count, digests.data());
}

Expected<int64_t> ColumnReader::skip(int64_t count, PassedRows *passed) {
  if (!passed)
    return jump(count);
  for (int64_t done = 0; done < count;) {
    auto ahead = rowsAhead(count - done);
    PDLRT_RETURN_IF_ERROR(ahead.status());
    if (*ahead == 0)
      return done;
    const int64_t begin = groupRow - batchBegin;
    digest(begin, *ahead);
    for (int64_t i = 0; i < *ahead; ++i)
      beginRow(begin + i, *passed, digests[size_t(i)]);
    groupRow += *ahead;
    done += *ahead;
  }
  return count;
}

/// Adds the values of a name in a row of the batch to `row`.
void ColumnReader::feed(int32_t name, int64_t batchRow) {
  const ColumnBinding::Source &source = binding.sources[size_t(name)];
  if (!source.isKnown)
    return;
  row.begin(name);
  if (source.column < 0) {
    if (source.constant)
      row.addCell(name, trim(*source.constant));
    else
      row.add(name, {});
    return;
  }
  const ColumnValues &from = values[size_t(source.column)];
  std::string unused;
  const auto valueAt = [&](int64_t i) {
    return from.valueAt(i, from.type() == ElementType::UInt64 ? row.keep()
                                                              : unused);
  };
  const auto addList = [&](const Lists &lists, int64_t i) {
    for (int64_t k = lists.begin(i), end = lists.end(i);
         !lists.isNull(i) && k < end; ++k)
      row.add(name, valueAt(k));
  };
  if (from.depth == 0) {
    const RowValue value = valueAt(batchRow);
    if (value.kind == RowValue::Kind::Text)
      row.addCell(name, value.text);
    else
      row.add(name, value);
  } else if (from.lists[0].isNull(batchRow)) {
    row.add(name, {});
  } else if (from.depth == 1) {
    addList(from.lists[0], batchRow);
  } else {
    for (int64_t k = from.lists[0].begin(batchRow),
                 end = from.lists[0].end(batchRow);
         k < end; ++k) {
      addList(from.lists[1], k);
      row.endList(name);
    }
  }
}

/// Converts one field of one row.
Status ColumnReader::convertField(size_t field, int64_t batchRow,
                                  RecordColumns &into) {
  const std::vector<int32_t> &names = binding.fields[field].names;
  row.clear(names);
  for (const int32_t name : names)
    feed(name, batchRow);
  return row.appendField(field, into.column(field));
}

/// Converts rows of the batch. Returns the number of rows before the first bad
/// one, about which it sets a message. Columns may get more values.
int64_t ColumnReader::convert(int64_t begin, int64_t count, RecordColumns &into,
                              std::string &defect) {
  for (size_t f = 0; f < fields.size(); ++f) {
    const auto width = size_t(descriptors[f]->width);
    if (!leftOut.empty())
      leftOut[f].assign(size_t(count) * width, 0);
    if (fields[f].append(values, begin, count, into.column(f)))
      continue;
    for (int64_t i = 0; i < count; ++i) {
      const Status status = convertField(f, begin + i, into);
      if (!status.ok()) {
        defect = rowText(begin + i) + status.message();
        count = i;
        break;
      }
      for (size_t slot = 0; !leftOut.empty() && slot < width; ++slot)
        leftOut[f][size_t(i) * width + slot] = row.leftOutOf(f, slot);
    }
  }
  return count;
}

std::string_view ColumnReader::copiedText(int64_t batchRow, bool isGood) {
  if (copiedNames.empty())
    return {};
  row.clear(copiedNames);
  for (const int32_t name : copiedNames)
    feed(name, batchRow);
  return row.copied(isGood);
}

/// Commits converted rows. Returns the number of rows before the first bad one,
/// about which it sets a message.
Expected<int64_t> ColumnReader::commit(int64_t begin, int64_t count,
                                       RecordColumns &into, PassedRows &passed,
                                       std::string &defect) {
  const bool isChecked =
      program->joined_count > 0 || program->id_range_count > 0;
  for (int64_t i = 0; i < count; ++i) {
    beginRow(begin + i, passed, digests[size_t(i)]);
    if (isChecked) {
      const auto leftOutOf = [&](size_t field, int64_t slot) {
        return leftOut[field][size_t(i * descriptors[field]->width + slot)];
      };
      if (const auto found = findRowDefect(*program, into, leftOutOf)) {
        defect = rowText(begin + i) + found->text;
        return i;
      }
    }
    into.commitRecord(fileIndex, passed.current(), passed.currentSample(),
                      copiedText(begin + i, /*isGood=*/true));
  }
  return count;
}

/// Reads decoded rows, up to the first bad one. Returns their number.
Expected<int64_t> ColumnReader::readBlock(int64_t count, RecordColumns &into,
                                          PassedRows &passed) {
  const int64_t begin = groupRow - batchBegin;
  digest(begin, count);
  std::string defect, laterDefect;
  const int64_t converted = convert(begin, count, into, laterDefect);
  auto good = commit(begin, converted, into, passed, defect);
  PDLRT_RETURN_IF_ERROR(good.status());
  // Rows after the first bad one are converted again.
  into.rollbackRecord();
  if (defect.empty() && !laterDefect.empty()) {
    beginRow(begin + *good, passed, digests[size_t(*good)]);
    defect = laterDefect;
  }
  const int64_t done = *good + (defect.empty() ? 0 : 1);
  if (!defect.empty())
    PDLRT_RETURN_IF_ERROR(
        passed.addBad(defect, copiedText(begin + *good, /*isGood=*/false)));
  groupRow += done;
  return done;
}

Expected<int64_t> ColumnReader::read(int64_t count, RecordColumns &into,
                                     PassedRows &passed) {
  for (int64_t done = 0; done < count;) {
    auto ahead = rowsAhead(count - done);
    PDLRT_RETURN_IF_ERROR(ahead.status());
    if (*ahead == 0)
      return done;
    auto read = readBlock(*ahead, into, passed);
    PDLRT_RETURN_IF_ERROR(read.status());
    done += *read;
  }
  return count;
}

} // namespace

/// Returns a reader of the rows of an open file. `path`: its name in warnings.
/// `message`: null if it is no message.
static Expected<std::unique_ptr<RecordReader>>
makeColumnReader(ColumnFile file, const std::string &path, int32_t fileIndex,
                 std::string_view name, const RecordReaderOptions &options,
                 const ColumnMessage *message) {
  auto row = RowAssembler::create(options, [&](size_t field) {
    return namesLikeField(options.descriptor.fields[field], name,
                          /*hasLists=*/true);
  });
  if (!row)
    return std::move(row).status().withContext(file.path());
  auto schema = file.schema();
  PDLRT_RETURN_IF_ERROR(schema.status());
  auto binding = ColumnBinding::create(**schema, path, row->columns(), options);
  if (!binding)
    return std::move(binding).status().withContext(file.path());
  return std::unique_ptr<RecordReader>(std::make_unique<ColumnReader>(
      std::move(file), fileIndex, *std::move(row), *std::move(binding), options,
      message));
}

Expected<std::unique_ptr<RecordReader>>
pdlrt::openColumnReader(const std::string &path, int32_t fileIndex,
                        PdlColumnFormat format, std::string_view name,
                        const RecordReaderOptions &options) {
  if (!canBeReadAgain(path))
    return Status::invalidArgument(path + ": is a pipe or a device, but " +
                                   std::string(name) +
                                   " files are read from their end; write it "
                                   "to a file");
  auto file = ColumnFile::open(path, format);
  PDLRT_RETURN_IF_ERROR(file.status());
  return makeColumnReader(*std::move(file), path, fileIndex, name, options,
                          nullptr);
}

Expected<std::unique_ptr<RecordReader>>
pdlrt::openColumnMessage(const ColumnMessage &message, int32_t fileIndex,
                         std::string_view name,
                         const RecordReaderOptions &options, int64_t &rows) {
  auto file = ColumnFile::openMessage(message.bytes, message.place);
  PDLRT_RETURN_IF_ERROR(file.status());
  auto count = file->countRows();
  PDLRT_RETURN_IF_ERROR(count.status());
  rows = *count;
  return makeColumnReader(*std::move(file), message.topic, fileIndex, name,
                          options, &message);
}
