//===- TensorColumns.cpp - Writes rows as safetensors ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorColumns.h"

#include "pdlrt/Files/Safetensors.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

using namespace pdlrt;

static constexpr size_t spoolBuffer = size_t(1) << 16;

SpooledBytes::~SpooledBytes() {
  if (file >= 0)
    ::close(file);
}

Status SpooledBytes::open(const std::string &folder) {
  file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0)
    return {};
  // Some file systems have no unnamed files.
  std::string name = folder + "/pdl-data.XXXXXX";
  file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
    return Status::ofErrno(
        errno, folder + ": cannot keep rows there: " + std::strerror(errno) +
                   "; name an output elsewhere");
  ::unlink(name.c_str());
  return {};
}

Status SpooledBytes::append(std::string_view bytes) {
  buffer += bytes;
  return buffer.size() < spoolBuffer ? Status() : flush();
}

Status SpooledBytes::flush() {
  size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t count =
        ::write(file, buffer.data() + done, buffer.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return Status::ofErrno(errno, std::string("cannot keep rows: ") +
                                        std::strerror(errno));
    done += size_t(count);
  }
  written += buffer.size();
  buffer.clear();
  return {};
}

bool SpooledBytes::read(uint64_t offset, char *into, size_t size) const {
  while (size > 0) {
    const ssize_t count = ::pread(file, into, size, off_t(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    into += count;
    offset += uint64_t(count);
    size -= size_t(count);
  }
  return true;
}

Status TensorColumns::begin(const std::vector<const pdl_field *> &fields) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  for (const pdl_field *field : fields) {
    Column &column = columns.emplace_back(Column{.field = field});
    column.values = std::make_unique<SpooledBytes>();
    PDLRT_RETURN_IF_ERROR(column.values->open(folder));
    if (field->kind != PDL_FIELD_RAGGED)
      continue;
    column.splits = std::make_unique<SpooledBytes>();
    PDLRT_RETURN_IF_ERROR(column.splits->open(folder));
    const int64_t first = 0;
    PDLRT_RETURN_IF_ERROR(column.splits->append(
        {reinterpret_cast<const char *>(&first), sizeof(first)})); // NOLINT
  }
  return {};
}

Status TensorColumns::add(const RecordColumns &from) {
  for (size_t i = 0; i < columns.size(); ++i) {
    Column &column = columns[i];
    const RecordColumns::Column &source = from.column(i);
    PDLRT_RETURN_IF_ERROR(column.values->append(
        {reinterpret_cast<const char *>(source.values.data()), // NOLINT
         source.values.size()}));
    for (size_t s = 1; column.splits && s < source.splits.size(); ++s) {
      const int64_t split = column.end + source.splits[s];
      PDLRT_RETURN_IF_ERROR(column.splits->append(
          {reinterpret_cast<const char *>(&split), sizeof(split)})); // NOLINT
    }
    column.end += int64_t(source.values.size() /
                          RecordColumns::elementSize(*column.field));
  }
  rows += from.recordCount();
  return {};
}

Status TensorColumns::finish() {
  SafetensorsWriter writer;
  bool isWhole = true;
  const auto add = [&](const std::string &name, TensorType type,
                       std::vector<int64_t> shape, SpooledBytes &bytes,
                       size_t rowBytes) -> Status {
    PDLRT_RETURN_IF_ERROR(bytes.flush());
    return writer.addRows(
        name, type, std::move(shape),
        [&bytes, &isWhole, rowBytes](int64_t first, int64_t count,
                                     std::byte *out) {
          isWhole &= bytes.read(uint64_t(first) * rowBytes,
                                reinterpret_cast<char *>(out), // NOLINT
                                size_t(count) * rowBytes);
        });
  };
  for (const Column &column : columns) {
    const pdl_field &field = *column.field;
    const TensorType type = field.element_type == PDL_F32   ? TensorType::F32
                            : field.element_type == PDL_F64 ? TensorType::F64
                                                            : TensorType::U64;
    const size_t size = RecordColumns::elementSize(field);
    if (!column.splits) {
      PDLRT_RETURN_IF_ERROR(add(field.name, type, {rows, field.width},
                                *column.values, size * size_t(field.width)));
      continue;
    }
    const std::string name = field.name;
    PDLRT_RETURN_IF_ERROR(
        add(name + ".values", type, {column.end}, *column.values, size));
    PDLRT_RETURN_IF_ERROR(add(name + ".splits", TensorType::I64,
                              {rows * field.width + 1}, *column.splits,
                              sizeof(int64_t)));
  }
  PDLRT_RETURN_IF_ERROR(writer.write(path));
  return isWhole ? Status()
                 : Status::ioError(path + ": rows that were kept cannot be "
                                          "read again; is the disk damaged?");
}
