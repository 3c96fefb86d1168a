//===- SafetensorsWriter.cpp - Writing named tensors, whole or not at all -===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/Safetensors.h"

#include "Files/StreamedFile.h"
#include "Files/TemporaryFile.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

using namespace pdlrt;

Status SafetensorsWriter::add(std::string name, TensorType type,
                              std::vector<int64_t> shape, const void *data) {
  if (name == "__metadata__")
    return Status::invalid("a tensor may not have the name `__metadata__`, "
                           "which the safetensors format reserves");
  size_t byteSize = tensorElementSize(type);
  for (int64_t dimension : shape)
    if (dimension < 0 ||
        __builtin_mul_overflow(byteSize, static_cast<size_t>(dimension),
                               &byteSize))
      return Status::invalid("tensor `" + name +
                             "` has a dimension that is not a size");
  Entry entry{type, std::move(shape), byteSize, data, nullptr, nullptr};
  const auto [place, isNew] =
      entries.try_emplace(std::move(name), std::move(entry));
  if (!isNew)
    return Status::invalid("two tensors have the name `" + place->first + "`");
  return {};
}

Status SafetensorsWriter::addCopy(const std::string &name, TensorType type,
                                  std::vector<int64_t> shape,
                                  const void *data) {
  PDLRT_RETURN_IF_ERROR(add(name, type, std::move(shape), data));
  Entry &entry = entries[name];
  const auto *bytes = static_cast<const std::byte *>(data);
  entry.copy =
      std::make_shared<std::vector<std::byte>>(bytes, bytes + entry.byteSize);
  entry.data = entry.copy->data();
  return {};
}

Status SafetensorsWriter::addRows(const std::string &name, TensorType type,
                                  std::vector<int64_t> shape,
                                  RowSource source) {
  if (shape.empty())
    return Status::internal("tensor `" + name + "` has no rows");
  PDLRT_RETURN_IF_ERROR(add(name, type, std::move(shape), nullptr));
  entries[name].source = std::move(source);
  return {};
}

/// Rows are made in pieces of a quarter of a megabyte, which are in a cache
/// while their sum is formed.
static constexpr size_t pieceBytes = size_t(1) << 18;

/// How many rows a piece has.
static int64_t rowsInPiece(size_t rowBytes, size_t room) {
  return int64_t(std::min(room, pieceBytes) / std::max<size_t>(1, rowBytes));
}

/// Writes a tensor that is made row by row.
static Status writeRows(TemporaryFile &file, int64_t rows, size_t byteSize,
                        const SafetensorsWriter::RowSource &source) {
  if (rows == 0)
    return {};
  const size_t rowBytes = byteSize / size_t(rows);
  const int64_t atOnce = std::max<int64_t>(1, rowsInPiece(rowBytes, SIZE_MAX));
  std::vector<std::byte> piece;
  for (int64_t first = 0; first < rows; first += atOnce) {
    const int64_t count = std::min(atOnce, rows - first);
    piece.resize(size_t(count) * rowBytes);
    source(first, count, piece.data());
    PDLRT_RETURN_IF_ERROR(file.write(piece.data(), piece.size()));
  }
  return {};
}

/// The same without a copy.
static Status writeRows(StreamedFile &file, int64_t rows, size_t byteSize,
                        const SafetensorsWriter::RowSource &source) {
  const size_t rowBytes = rows == 0 ? 0 : byteSize / size_t(rows);
  std::vector<std::byte> row(rowBytes);
  for (int64_t first = 0; first < rows;) {
    const std::span<std::byte> room = file.room();
    int64_t count = std::min(rows - first, rowsInPiece(rowBytes, room.size()));
    if (count > 0) {
      source(first, count, room.data());
      PDLRT_RETURN_IF_ERROR(file.added(size_t(count) * rowBytes));
    } else {
      // One that goes beyond the room, or is a large one.
      count = 1;
      source(first, count, row.data());
      PDLRT_RETURN_IF_ERROR(file.write(row.data(), rowBytes));
    }
    first += count;
  }
  return {};
}

void SafetensorsWriter::setMetadata(std::string key, std::string value) {
  texts[std::move(key)] = std::move(value);
}

/// Elements of more bytes first, so that every tensor is aligned by its type.
std::vector<SafetensorsWriter::Entries::const_iterator>
SafetensorsWriter::fileOrder() const {
  std::vector<Entries::const_iterator> order;
  for (size_t size : {8, 4, 2, 1})
    for (auto entry = entries.begin(); entry != entries.end(); ++entry)
      if (tensorElementSize(entry->second.type) == size)
        order.push_back(entry);
  return order;
}

Expected<SafetensorsWriter::Layout>
SafetensorsWriter::layout(const std::string &path) const {
  nlohmann::json root = nlohmann::json::object();
  if (!texts.empty())
    root["__metadata__"] = texts;
  Layout layout;
  for (auto entry : fileOrder()) {
    const Entry &tensor = entry->second;
    const size_t begin = layout.bytes;
    layout.bytes += tensor.byteSize;
    root[entry->first] = {{"dtype", tensorTypeName(tensor.type)},
                          {"shape", tensor.shape},
                          {"data_offsets", {begin, layout.bytes}}};
    layout.offsets[entry->first] = begin;
  }
  std::string header;
  try {
    header = root.dump();
  } catch (const nlohmann::json::exception &) {
    return Status::invalid(path + ": cannot be written: a tensor's name or the "
                                  "metadata is not UTF-8 text");
  }
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t headerSize = header.size();
  layout.head.assign(reinterpret_cast<const char *>(&headerSize),
                     sizeof(headerSize));
  layout.head += header;
  layout.bytes += layout.head.size();
  for (auto &[name, offset] : layout.offsets)
    offset += layout.head.size();
  return layout;
}

/// Into a file that is open.
template <typename File>
Status SafetensorsWriter::writeTo(File &file, const std::string &path) const {
  Expected<Layout> made = layout(path);
  if (!made)
    return made.status();
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.write(made->head.data(), made->head.size()));
  for (auto entry : fileOrder()) {
    const Entry &tensor = entry->second;
    PDLRT_RETURN_IF_ERROR(tensor.source
                              ? writeRows(file, tensor.shape.front(),
                                          tensor.byteSize, tensor.source)
                              : file.write(tensor.data, tensor.byteSize));
  }
  return {};
}

Status SafetensorsWriter::write(const std::string &path,
                                FileDigest *digest) const {
  TemporaryFile file(path);
  PDLRT_RETURN_IF_ERROR(writeTo(file, path));
  if (digest)
    *digest = file.digest();
  return file.commit();
}

Status SafetensorsWriter::writeStreamed(const std::string &path,
                                        FileDigest &digest) const {
  StreamedFile file(path);
  PDLRT_RETURN_IF_ERROR(writeTo(file, path));
  digest = file.digest();
  return file.commit();
}
