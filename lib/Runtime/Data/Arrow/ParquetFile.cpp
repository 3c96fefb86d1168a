//===- ParquetFile.cpp - Parquet files ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeafColumn.h"
#include "OpenFile.h"

#include <arrow/c/bridge.h>
#include <arrow/io/caching.h>
#include <arrow/io/interfaces.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>

namespace {

/// Rows that are decoded at once.
constexpr int64_t batchRows = 8192;

class ParquetFile final : public PdlColumnFile {
public:
  ParquetFile(bool isRemote, BoundedPool::Reference pool)
      : PdlColumnFile(std::move(pool)), isRemote(isRemote) {}

  arrow::Status open(std::shared_ptr<arrow::io::RandomAccessFile> file);
  std::shared_ptr<arrow::Schema> schema() const override { return types; }
  int64_t groupCount() const override { return metadata->num_row_groups(); }
  arrow::Result<int64_t> groupRows(int64_t group) override {
    return metadata->RowGroup(int(group))->num_rows();
  }
  arrow::Status begin(int64_t group, std::vector<int> columns) override;
  arrow::Status next(int64_t skipped, PdlColumnArray *batch) override;

private:
  arrow::Status readOthers(int64_t skipped,
                           std::shared_ptr<arrow::RecordBatch> &batch);

  bool isRemote;
  std::shared_ptr<parquet::FileMetaData> metadata;
  std::unique_ptr<parquet::arrow::FileReader> reader;
  std::shared_ptr<arrow::Schema> types;
  /// Decoders by field of the schema; null: Arrow's reader decodes it.
  std::vector<std::unique_ptr<LeafColumn>> leaves;
  /// The columns of the group, and the rows that are left of it.
  std::vector<int> selected;
  int64_t rowsLeft = 0;
  std::shared_ptr<parquet::RowGroupReader> current;
  /// Reads those without a decoder, in their order; null: there are none.
  std::unique_ptr<arrow::RecordBatchReader> others;
};

arrow::Status
ParquetFile::open(std::shared_ptr<arrow::io::RandomAccessFile> file) {
  parquet::ReaderProperties properties(pool.get());
  properties.set_page_checksum_verification(true);
  auto contents = parquet::ParquetFileReader::Open(std::move(file), properties);
  metadata = contents->metadata();
  parquet::ArrowReaderProperties toArrow(/*use_threads=*/false);
  toArrow.set_batch_size(batchRows);
  // Do not read column chunks before they are decoded.
  toArrow.set_pre_buffer(false);
  ARROW_ASSIGN_OR_RAISE(reader, parquet::arrow::FileReader::Make(
                                    pool.get(), std::move(contents), toArrow));
  ARROW_RETURN_NOT_OK(reader->GetSchema(&types));
  std::vector<std::shared_ptr<arrow::Field>> fields = types->fields();
  const auto &known = reader->manifest().schema_fields;
  for (size_t i = 0; i < known.size(); ++i) {
    const parquet::arrow::SchemaField *leaf = &known[i];
    while (!leaf->is_leaf() && leaf->children.size() == 1)
      leaf = &leaf->children[0];
    std::shared_ptr<arrow::DataType> type = fields[i]->type();
    leaves.push_back(leaf->is_leaf()
                         ? LeafColumn::create(
                               *metadata->schema()->Column(leaf->column_index),
                               leaf->column_index, type)
                         : nullptr);
    fields[i] = fields[i]->WithType(type);
  }
  types = arrow::schema(std::move(fields));
  return arrow::Status::OK();
}

/// Appends the leaf columns of a field.
void addLeaves(const parquet::arrow::SchemaField &field,
               std::vector<int> &found) {
  if (field.is_leaf())
    found.push_back(field.column_index);
  for (const auto &child : field.children)
    addLeaves(child, found);
}

arrow::Status ParquetFile::begin(int64_t group, std::vector<int> columns) {
  ARROW_ASSIGN_OR_RAISE(rowsLeft, groupRows(group));
  selected = std::move(columns);
  if (isRemote) {
    // Requests the chunks of all columns at the same time.
    std::vector<int> all;
    for (const int column : selected)
      addLeaves(reader->manifest().schema_fields[size_t(column)], all);
    reader->parquet_reader()->PreBuffer({int(group)}, all, {},
                                        arrow::io::CacheOptions::Defaults());
  }
  current = reader->parquet_reader()->RowGroup(int(group));
  std::vector<int> otherLeaves;
  for (const int column : selected)
    if (leaves[size_t(column)])
      leaves[size_t(column)]->begin(*current);
    else
      addLeaves(reader->manifest().schema_fields[size_t(column)], otherLeaves);
  others = nullptr;
  if (otherLeaves.empty())
    return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(
      others, reader->GetRecordBatchReader({int(group)}, otherLeaves));
  return arrow::Status::OK();
}

/// Reads the next rows of the columns without a decoder.
arrow::Status
ParquetFile::readOthers(int64_t skipped,
                        std::shared_ptr<arrow::RecordBatch> &batch) {
  while (true) {
    ARROW_RETURN_NOT_OK(others->ReadNext(&batch));
    if (!batch || batch->num_rows() > rowsLeft)
      return arrow::Status::Invalid(
          "a column has not as many rows as its row group");
    if (skipped < batch->num_rows()) {
      batch = batch->Slice(skipped);
      return arrow::Status::OK();
    }
    skipped -= batch->num_rows();
  }
}

/// Owns the columns of a batch.
struct BatchOwner {
  std::vector<PdlColumnArray> columns;
  std::vector<PdlColumnArray *> addresses;
  const void *buffers[1] = {};
};

void releaseBatch(PdlColumnArray *batch) {
  auto *owner = static_cast<BatchOwner *>(batch->owner);
  for (PdlColumnArray &column : owner->columns)
    if (column.release)
      column.release(&column);
  delete owner;
  batch->release = nullptr;
}

arrow::Status ParquetFile::next(int64_t skipped, PdlColumnArray *batch) {
  if (skipped >= rowsLeft)
    return arrow::Status::OK();
  std::shared_ptr<arrow::RecordBatch> other;
  if (others)
    ARROW_RETURN_NOT_OK(readOthers(skipped, other));
  rowsLeft -= skipped;
  const int64_t rows =
      other ? other->num_rows() : std::min(rowsLeft, batchRows);
  auto owner = std::make_unique<BatchOwner>();
  owner->columns.resize(selected.size());
  *batch = {};
  batch->length = rows;
  batch->bufferCount = 1;
  batch->buffers = owner->buffers;
  batch->childCount = int64_t(selected.size());
  for (PdlColumnArray &column : owner->columns)
    owner->addresses.push_back(&column);
  batch->children = owner->addresses.data();
  batch->owner = owner.release();
  batch->release = releaseBatch;
  int nextOther = 0;
  for (size_t i = 0; i < selected.size(); ++i) {
    PdlColumnArray *const out = batch->children[i];
    LeafColumn *const leaf = leaves[size_t(selected[i])].get();
    ARROW_RETURN_NOT_OK(
        leaf ? leaf->read(skipped, rows, out)
             : arrow::ExportArray(*other->column(nextOther++),
                                  reinterpret_cast<ArrowArray *>(out)));
  }
  rowsLeft -= rows;
  return arrow::Status::OK();
}

} // namespace

arrow::Result<std::unique_ptr<PdlColumnFile>>
openParquetFile(std::shared_ptr<arrow::io::RandomAccessFile> file,
                bool isRemote, BoundedPool::Reference pool) {
  auto opened = std::make_unique<ParquetFile>(isRemote, std::move(pool));
  ARROW_RETURN_NOT_OK(opened->open(std::move(file)));
  return opened;
}
