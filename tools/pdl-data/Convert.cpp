//===- Convert.cpp - Converts files to another format ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convert.h"

#include "Data/CellSyntax.h"
#include "Data/DataFlags.h"
#include "Data/FieldTexts.h"
#include "Data/FileFormat.h"
#include "Data/FileLists.h"
#include "Data/InputFile.h"
#include "Data/RecordReader.h"
#include "Data/RecordStream.h"
#include "ProgramRecord.h"
#include "RecordBlocks.h"
#include "RowWriter.h"
#include "TensorColumns.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/StandardStreams.h"
#include "pdlrt/Files/OutputFiles.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <optional>

using namespace pdlrt;

/// Returns the writer of a format.
static Expected<std::unique_ptr<RowWriter>>
writerOf(const FileFormat &format, const ConvertFlags &flags, Output &output) {
  const std::string_view name = format.flag();
  if (name == "text")
    return makeCellWriter(output, delimiterByName(flags.output).value_or('\t'),
                          flags.header);
  if (flags.header)
    return Status::invalidArgument("--header is for an output of delimited "
                                   "text; leave it out");
  if (name == "jsonl")
    return makeJsonWriter(output);
  if (name == "tfrecord")
    return makeExampleWriter(output);
  if (name == "slots" || name == "signs")
    return makePairWriter(output, name == "slots");
  if (name == "multislot")
    return makeMultiSlotWriter(output);
  if (name == "libsvm")
    return makeLibsvmWriter(output);
  if (name == "libffm")
    return makeLibffmWriter(output);
  if (name == "parquet" || name == "arrow")
    return makeColumnWriter(output,
                            name == "parquet" ? PdlParquetFile : PdlArrowFile);
  return Status::invalidArgument("files of " + std::string(format.name()) +
                                 " cannot be written; name another format");
}

//===----------------------------------------------------------------------===//
// With a record
//===----------------------------------------------------------------------===//

namespace {

/// Reads rows as a program would, and writes them.
class RecordConversion {
public:
  RecordConversion(const InputFlags &input, const RecordReaderOptions &options)
      : input(input), options(options),
        fields(fieldsOf(options.descriptor, options.program)), columns(fields) {
  }

  /// Calls `visit` with `columns` until the end of all files.
  Status forEach(const std::function<Status()> &visit);
  /// Makes a row of one record, for writers of rows.
  Status makeRow(int64_t record);

  const InputFlags &input;
  const RecordReaderOptions options;
  const std::vector<const pdl_field *> fields;
  RecordColumns columns;
  WrittenRow row;
  int64_t rows = 0, bad = 0;

private:
  Status addNumbers(const pdl_field &field, const RecordColumns::Column &column,
                    int64_t begin, int64_t end, WrittenSlot &slot);

  std::vector<std::string_view> texts;
};

} // namespace

Status RecordConversion::forEach(const std::function<Status()> &visit) {
  ProgressReport progress(input.quiet);
  return visitBlocks(options, columns, [&](const RecordBlock &block) -> Status {
    for (const RowLog::BadRow &each : block.log.bad) {
      if (bad++ >= input.maxBadRows)
        return Status::invalidArgument(each.message);
      writeError("warning: left out: " + each.message + "\n");
    }
    rows += columns.recordCount();
    PDLRT_RETURN_IF_ERROR(progress.note(rows));
    return visit();
  });
}

Status RecordConversion::addNumbers(const pdl_field &field,
                                    const RecordColumns::Column &column,
                                    int64_t begin, int64_t end,
                                    WrittenSlot &slot) {
  for (int64_t i = begin; i < end; ++i) {
    const std::byte *at =
        column.values.data() + size_t(i) * RecordColumns::elementSize(field);
    if (field.element_type == PDL_F32) {
      float number;
      std::memcpy(&number, at, sizeof(number));
      slot.values.push_back(RowValue::ofNumber(double(number)));
    } else if (field.element_type == PDL_F64) {
      double number;
      std::memcpy(&number, at, sizeof(number));
      slot.values.push_back(RowValue::ofNumber(number));
    } else {
      int64_t key;
      std::memcpy(&key, at, sizeof(key));
      if (field.hash_kind != PDL_HASH_NONE)
        return cannotWrite(WrittenField::of(field),
                           "the file has keys in place of the texts that the "
                           "field hashes; only safetensors can hold keys");
      slot.values.push_back(RowValue::ofInteger(key));
    }
  }
  return {};
}

Status RecordConversion::makeRow(int64_t record) {
  size_t slot = 0;
  std::string_view copied = columns.copiedTextOf(record);
  const bool hasCopies = options.data.copyTexts;
  for (size_t f = 0; f < fields.size(); ++f) {
    const pdl_field &field = *fields[f];
    const RecordColumns::Column &column = columns.column(f);
    for (int64_t i = 0; i < field.width; ++i, ++slot) {
      if (slot == row.size())
        row.emplace_back();
      WrittenSlot &into = row[slot];
      into.values.clear();
      if (hasTexts(field) && hasCopies) {
        texts.clear();
        takeFieldTexts(copied, texts);
        for (const std::string_view text : texts)
          into.values.push_back(RowValue::ofText(text));
        continue;
      }
      const int64_t index = record * field.width + i;
      const bool isBag = field.kind == PDL_FIELD_RAGGED;
      PDLRT_RETURN_IF_ERROR(addNumbers(
          field, column, isBag ? column.splits[size_t(index)] : index,
          isBag ? column.splits[size_t(index) + 1] : index + 1, into));
    }
  }
  return {};
}

/// Writes rows through a writer of rows.
static Status writeWithRecord(RecordConversion &conversion,
                              const FileFormat &format,
                              const ConvertFlags &flags) {
  Output output(flags.output);
  PDLRT_RETURN_IF_ERROR(output.open());
  auto writer = writerOf(format, flags, output);
  PDLRT_RETURN_IF_ERROR(writer.status());
  std::vector<WrittenField> written;
  for (const pdl_field *field : conversion.fields)
    written.push_back(WrittenField::of(*field));
  PDLRT_RETURN_IF_ERROR((*writer)->begin(written));
  PDLRT_RETURN_IF_ERROR(conversion.forEach([&]() -> Status {
    for (int64_t r = 0; r < conversion.columns.recordCount(); ++r) {
      PDLRT_RETURN_IF_ERROR(conversion.makeRow(r));
      if (Status status = (*writer)->write(conversion.row); !status.ok())
        return std::move(status).withContext(
            fmt::format("row {}", rowOfSample(conversion.columns.sampleOf(r))));
    }
    return {};
  }));
  PDLRT_RETURN_IF_ERROR((*writer)->end());
  return output.commit();
}

static Status writeTensors(RecordConversion &conversion,
                           const ConvertFlags &flags) {
  PDLRT_RETURN_IF_ERROR(checkReplaceable(flags.output));
  TensorColumns tensors(flags.output);
  PDLRT_RETURN_IF_ERROR(tensors.begin(conversion.fields));
  PDLRT_RETURN_IF_ERROR(
      conversion.forEach([&] { return tensors.add(conversion.columns); }));
  return tensors.finish();
}

static int convertWithRecord(InputFlags &input, const ConvertFlags &flags,
                             const FileFormat &format) {
  auto record = recordOfProgram(flags.trainer);
  if (!record)
    return failUsage(record.status());
  auto program = record->program(flags.program);
  if (!program)
    return failUsage(program.status());
  DataOptions &data = input.data;
  const bool isTensors = format.flag() == "safetensors";
  data.cache = flags.cache;
  data.copyTexts =
      flags.cache.empty() && !isTensors &&
      std::ranges::all_of(data.files, [&](const std::string &file) {
        return fileFormatOf(file, data).traits().hasIdTexts;
      });
  const RecordReaderOptions options{
      .data = data, .descriptor = record->descriptor(), .program = **program};
  if (const Status status =
          checkDataFlags(data, options.descriptor, options.program);
      !status.ok())
    return failUsage(status);
  RecordConversion conversion(input, options);
  Status status;
  if (!flags.cache.empty())
    status = conversion.forEach([] { return Status(); });
  else if (isTensors)
    status = writeTensors(conversion, flags);
  else
    status = writeWithRecord(conversion, format, flags);
  if (!status.ok())
    return fail(status);
  writeError(fmt::format("wrote {} rows\n", conversion.rows));
  return 0;
}

//===----------------------------------------------------------------------===//
// Without a record
//===----------------------------------------------------------------------===//

/// Finds the columns of all rows, whether any row has a list in them, and
/// whether all values are truth values.
static Status findColumns(const InputFlags &input,
                          std::vector<WrittenField> &fields) {
  ColumnIndex index;
  std::vector<char> hasTexts, hasTruths;
  const auto report = visitRows(
      input, /*parses=*/true, [&](const InputRow &row) -> Expected<bool> {
        const std::vector<size_t> &indices = index.indicesOf(row);
        for (size_t i = fields.size(); i < index.names().size(); ++i)
          fields.push_back({.name = index.names()[i]});
        const std::span<const RawColumn> columns = row.rows.columns();
        hasTexts.resize(fields.size());
        hasTruths.resize(fields.size());
        for (size_t i = 0; i < columns.size(); ++i) {
          if (columns[i].isGiven && !columns[i].isAlone)
            fields[indices[i]].isBag = true;
          for (const RowValue &value : columns[i].values)
            if (!isMissing(value))
              (value.kind == RowValue::Kind::Truth ? hasTruths
                                                   : hasTexts)[indices[i]] = 1;
        }
        return true;
      });
  for (size_t i = 0; i < fields.size(); ++i)
    fields[i].isTruth = hasTruths[i] && !hasTexts[i];
  return report.status();
}

static Status writeWithoutRecord(const InputFlags &input,
                                 const ConvertFlags &flags,
                                 const FileFormat &format, int64_t &rows) {
  std::vector<WrittenField> fields;
  PDLRT_RETURN_IF_ERROR(findColumns(input, fields));
  if (format.traits().hasCells)
    for (const WrittenField &field : fields)
      if (field.isBag)
        return cannotWrite(field, "has lists, and the character that separates "
                                  "their values in cells is unknown; give "
                                  "--record, the program of a model whose "
                                  "field has separator(...)");
  Output output(flags.output);
  PDLRT_RETURN_IF_ERROR(output.open());
  auto writer = writerOf(format, flags, output);
  PDLRT_RETURN_IF_ERROR(writer.status());
  PDLRT_RETURN_IF_ERROR((*writer)->begin(fields));
  ColumnIndex index;
  WrittenRow written(fields.size());
  const auto report = visitRows(
      input, /*parses=*/true, [&](const InputRow &row) -> Expected<bool> {
        const std::vector<size_t> &indices = index.indicesOf(row);
        for (WrittenSlot &slot : written) {
          slot.values.clear();
          slot.isGiven = false;
        }
        const std::span<const RawColumn> columns = row.rows.columns();
        for (size_t i = 0; i < columns.size(); ++i) {
          WrittenSlot &slot = written[indices[i]];
          slot.values.assign(columns[i].values.begin(),
                             columns[i].values.end());
          slot.isAlone = columns[i].isAlone;
          slot.isGiven = columns[i].isGiven;
        }
        Status status = (*writer)->write(written);
        if (!status.ok())
          return std::move(status).withContext(
              fmt::format("{}:{}", inputName(row.path), row.rows.line()));
        ++rows;
        return true;
      });
  PDLRT_RETURN_IF_ERROR(report.status());
  PDLRT_RETURN_IF_ERROR((*writer)->end());
  warnOfBadRows(*report);
  return output.commit();
}

static int convertWithoutRecord(InputFlags &input, const ConvertFlags &flags,
                                const FileFormat &format) {
  const auto header = prepareInput(input);
  if (!header)
    return failUsage(header.status());
  const auto isText = [](const FileFormat &each) {
    return each.traits().hasCells || each.flag() == "jsonl";
  };
  const bool isColumns = format.flag() == "parquet" || format.flag() == "arrow";
  for (const std::string &file : input.data.files)
    if ((!isText(format) && !isColumns) ||
        !isText(fileFormatOf(file, input.data)))
      return failUsage(Status::invalidArgument(
          "without a record, only delimited text and JSON lines can be "
          "converted, into each other or into Parquet or Arrow IPC; give "
          "--record, the trainer of the model that reads the data"));
  for (const std::string &file : input.data.files)
    if (!canBeReadAgain(file))
      return failUsage(Status::invalidArgument(
          onceText(file) + ", but a conversion finds the columns first; write "
                           "it to a file"));
  int64_t rows = 0;
  if (const Status status = writeWithoutRecord(input, flags, format, rows);
      !status.ok())
    return fail(status);
  writeError(fmt::format("wrote {} rows\n", rows));
  return 0;
}

/// Returns an error unless the flags say one thing to write.
static Status checkConvertFlags(const ConvertFlags &flags) {
  if (flags.cache.empty() == flags.output.empty())
    return Status::invalidArgument("give either --output, a file, or --cache, "
                                   "a folder of caches");
  if (!flags.cache.empty() && flags.trainer.empty())
    return Status::invalidArgument("--cache needs --record: a cache belongs to "
                                   "the record of a model");
  if (flags.output.ends_with(".gz") || flags.output.ends_with(".zst"))
    return Status::invalidArgument(flags.output +
                                   ": outputs are not compressed; name a file "
                                   "without this suffix, and compress it");
  return {};
}

int convertFiles(InputFlags input, const ConvertFlags &flags) {
  if (const Status status = checkConvertFlags(flags); !status.ok())
    return failUsage(status);
  DataOptions target;
  target.format = flags.format;
  const FileFormat &format = fileFormatOf(flags.output, target);
  if (flags.trainer.empty())
    return convertWithoutRecord(input, flags, format);
  DataOptions &data = input.data;
  auto files = expandFileLists(data.files, !data.pipe.empty(), "FILE");
  if (!files)
    return failUsage(files.status());
  data.files = *std::move(files);
  return convertWithRecord(input, flags, format);
}
