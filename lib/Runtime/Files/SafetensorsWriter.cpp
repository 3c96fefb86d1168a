//===- SafetensorsWriter.cpp - Writes safetensors files atomically --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/Safetensors.h"

#include "Files/StreamedFile.h"
#include "Files/TemporaryFile.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

using namespace pdlrt;

Status SafetensorsWriter::add(std::string name, TensorType type,
                              std::vector<int64_t> shape, const void *data) {
  const auto bytes = pdlabi::sizeOfNewTensor(name, type, shape);
  if (const auto *error = std::get_if<pdlabi::SafetensorsError>(&bytes))
    return Status::invalidArgument(error->message);
  Entry entry{type, std::move(shape), std::get<size_t>(bytes),
              data, nullptr,          nullptr};
  const auto [place, isNew] =
      entries.try_emplace(std::move(name), std::move(entry));
  if (!isNew)
    return Status::invalidArgument("two tensors have the name `" +
                                   place->first + "`");
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

/// Size of a piece of generated rows. A piece is still in a CPU cache when its
/// checksum is computed.
static constexpr size_t writePieceBytes = size_t(1) << 18;

/// Returns the number of rows in a piece.
static int64_t rowsInPiece(size_t rowBytes, size_t room) {
  return int64_t(std::min(room, writePieceBytes) /
                 std::max<size_t>(1, rowBytes));
}

/// Writes a tensor that is generated row by row.
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

/// Writes a tensor that is generated row by row to the buffers of a streamed
/// file, without a copy.
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
      // The row exceeds the remaining memory, or is large.
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

Expected<SafetensorsWriter::Layout>
SafetensorsWriter::layout(const std::string &path) const {
  std::vector<pdlabi::TensorEntry> tensors;
  for (const auto &[name, entry] : entries)
    tensors.push_back({name, entry.type, entry.shape});
  auto layout = pdlabi::layOutSafetensors(std::move(tensors), texts);
  if (const auto *error = std::get_if<pdlabi::SafetensorsError>(&layout))
    return Status::invalidArgument(path + ": " + error->message);
  return std::get<Layout>(std::move(layout));
}

/// Writes to an open file.
template <typename File>
Status SafetensorsWriter::writeTo(File &file, const std::string &path) const {
  Expected<Layout> made = layout(path);
  if (!made)
    return made.status();
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.write(made->head.data(), made->head.size()));
  for (const pdlabi::TensorEntry &entry : made->tensors) {
    const Entry &tensor = entries.at(entry.name);
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
