//===- RecordColumns.cpp - Parsed records, one column per field -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RecordColumns.h"

#include <limits>

using namespace pdlrt;

std::vector<const pdl_field *> pdlrt::fieldsOf(const pdl_descriptor &descriptor,
                                               const pdl_program &program) {
  std::vector<const pdl_field *> fields;
  for (int32_t i = 0; i < program.field_count; ++i)
    fields.push_back(&descriptor.fields[program.fields[i]]);
  return fields;
}

RecordColumns::RecordColumns(const std::vector<const pdl_field *> &fields) {
  for (const pdl_field *field : fields)
    columns.push_back(Column{field, {}, {}});
  clear();
}

void RecordColumns::clear() {
  origins.clear();
  copiedText.clear();
  rollbackRecord();
}

void RecordColumns::rollbackRecord() {
  const size_t records = origins.size();
  for (Column &column : columns) {
    const size_t bags = records * static_cast<size_t>(column.field->width);
    if (column.field->kind != PDL_FIELD_RAGGED) {
      column.values.resize(bags * elementSize(*column.field));
      continue;
    }
    if (column.splits.empty())
      column.splits.append(0);
    column.splits.resize(bags + 1);
    column.values.resize(static_cast<size_t>(column.splits[bags]) *
                         elementSize(*column.field));
  }
}

void RecordColumns::reset(Batch &batch) const {
  batch.buffers.resize(columns.size());
  batch.fieldData.resize(columns.size());
  batch.sampleCount = 0;
  batch.rows.clear();
  batch.samples.clear();
  batch.copiedEnds.clear();
  batch.copiedText.clear();
  for (size_t i = 0; i < columns.size(); ++i) {
    Batch::FieldBuffers &buffers = batch.buffers[i];
    buffers.values.clear();
    // A batch without ids must also have a valid address.
    buffers.values.reserve(PDL_BUFFER_ALIGNMENT);
    buffers.splits.clear();
    if (columns[i].field->kind == PDL_FIELD_RAGGED)
      buffers.splits.append(0);
  }
}

void RecordColumns::appendRows(Batch &batch, const int64_t *order,
                               int64_t first, int64_t count) const {
  const size_t before = batch.rows.size();
  batch.rows.resize(before + size_t(count));
  batch.samples.resize(before + size_t(count));
  batch.copiedEnds.resize(before + size_t(count));
  for (int64_t k = 0; k < count; ++k) {
    const int64_t record = order ? order[k] : first + k;
    const size_t place = before + size_t(k);
    batch.rows[place] = origins[size_t(record)].row;
    batch.samples[place] = origins[size_t(record)].sample;
    if (!copiedText.empty()) {
      const std::string_view copied = copiedTextOf(record);
      batch.copiedText.append(copied.data(), copied.size());
    }
    batch.copiedEnds[place] = int64_t(batch.copiedText.size());
  }
}

Status RecordColumns::appendTo(Batch &batch, const int64_t *order,
                               int64_t first, int64_t count) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column &column = columns[i];
    Batch::FieldBuffers &buffers = batch.buffers[i];
    const size_t width = static_cast<size_t>(column.field->width);
    if (column.field->kind != PDL_FIELD_RAGGED) {
      const size_t bytes = width * elementSize(*column.field);
      if (!order) {
        buffers.values.append(column.values.data() +
                                  static_cast<size_t>(first) * bytes,
                              static_cast<size_t>(count) * bytes);
        continue;
      }
      for (int64_t k = 0; k < count; ++k)
        buffers.values.append(column.values.data() +
                                  static_cast<size_t>(order[k]) * bytes,
                              bytes);
      continue;
    }
    // The number of bags is limited to 32 bits too.
    int64_t bags;
    if (__builtin_mul_overflow(batch.sampleCount + count, column.field->width,
                               &bags) ||
        bags > std::numeric_limits<int32_t>::max())
      return Status::invalidArgument(
          std::string("field `") + column.field->name +
          "` has 2^31 slots or more in one batch; choose a "
          "smaller batch size");
    const size_t size = elementSize(*column.field);
    for (int64_t k = 0; k < count; ++k) {
      const size_t record = static_cast<size_t>(order ? order[k] : first + k);
      const int64_t *splits = column.splits.data() + record * width;
      const int64_t begin = splits[0];
      const int64_t offset =
          static_cast<int64_t>(buffers.values.size() / size) - begin;
      if (splits[width] + offset > std::numeric_limits<int32_t>::max())
        return Status::invalidArgument(
            std::string("field `") + column.field->name +
            "` has 2^31 ids or numbers or more in one batch; "
            "choose a smaller batch size");
      buffers.values.append(column.values.data() +
                                static_cast<size_t>(begin) * size,
                            static_cast<size_t>(splits[width] - begin) * size);
      for (size_t slot = 1; slot <= width; ++slot)
        buffers.splits.append(static_cast<int32_t>(splits[slot] + offset));
    }
  }
  appendRows(batch, order, first, count);
  batch.sampleCount += count;
  return {};
}

void RecordColumns::finish(Batch &batch) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    Batch::FieldBuffers &buffers = batch.buffers[i];
    pdl_field_data &data = batch.fieldData[i];
    const pdl_field &field = *columns[i].field;
    data.values = buffers.values.data();
    data.splits =
        field.kind == PDL_FIELD_RAGGED ? buffers.splits.data() : nullptr;
    data.value_count =
        static_cast<int64_t>(buffers.values.size() / elementSize(field));
  }
}
