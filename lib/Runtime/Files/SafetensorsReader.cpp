//===- SafetensorsReader.cpp - Reads untrusted safetensors files ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <xxhash.h>

using namespace pdlrt;

/// Number of bytes that are read at a time.
static constexpr size_t readPieceBytes = size_t(1) << 20;
/// The same for files in an object store, where each request takes longer.
static constexpr size_t storedPieceBytes = size_t(8) << 20;

static size_t pieceBytesOf(const FileBytes &file) {
  return isInObjectStore(file.path()) ? storedPieceBytes : readPieceBytes;
}

Status TensorView::read(int64_t first, int64_t count, void *destination) const {
  const size_t size = tensorElementSize(type);
  return file->readAt(offset + static_cast<uint64_t>(first) * size,
                      static_cast<size_t>(count) * size, destination);
}

Status TensorWindow::moveTo(int64_t first, int64_t count) {
  const auto ahead =
      static_cast<int64_t>(pieceBytesOf(*tensor->file) / elementBytes);
  const int64_t wanted =
      std::max(count, std::min(ahead, tensor->elementCount - first));
  begin = end = first;
  bytes.resize(static_cast<size_t>(wanted) * elementBytes);
  PDLRT_RETURN_IF_ERROR(tensor->read(first, wanted, bytes.data()));
  end = first + wanted;
  return {};
}

struct SafetensorsFile::Contents {
  explicit Contents(FileBytes opened) : file(std::move(opened)) {}

  FileBytes file;
  std::vector<TensorView> tensors;
  std::map<std::string, std::string> metadata;

  Status parse();
  const std::string &path() const { return file.path(); }
  Status refused(const pdlabi::SafetensorsError &error) const {
    return {error.isDamage ? PDL_DATA_LOSS : PDL_INVALID_ARGUMENT,
            path() + ": " + error.message};
  }
};

Status SafetensorsFile::Contents::parse() {
  std::string prefix(
      std::min<uint64_t>(file.size(), pdlabi::safetensorsPrefixBytes), '\0');
  PDLRT_RETURN_IF_ERROR(file.readAt(0, prefix.size(), prefix.data()));
  const auto headerBytes = pdlabi::readSafetensorsPrefix(prefix, file.size());
  if (const auto *error = std::get_if<pdlabi::SafetensorsError>(&headerBytes))
    return refused(*error);
  std::string text(std::get<uint64_t>(headerBytes), '\0');
  PDLRT_RETURN_IF_ERROR(
      file.readAt(pdlabi::safetensorsPrefixBytes, text.size(), text.data()));
  auto parsed = pdlabi::readSafetensorsHeader(text, file.size());
  if (const auto *error = std::get_if<pdlabi::SafetensorsError>(&parsed))
    return refused(*error);
  auto &header = std::get<pdlabi::SafetensorsHeader>(parsed);
  tensors.reserve(header.tensors.size());
  for (pdlabi::TensorEntry &tensor : header.tensors)
    tensors.push_back({std::move(tensor), &file});
  metadata = std::move(header.metadata);
  return {};
}

Expected<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  Expected<FileBytes> file =
      FileBytes::open(path, "give the name of a safetensors file");
  if (!file)
    return file.status();
  auto contents = std::make_unique<Contents>(*std::move(file));
  PDLRT_RETURN_IF_ERROR(contents->parse());
  return SafetensorsFile(std::move(contents));
}

SafetensorsFile::SafetensorsFile(std::unique_ptr<Contents> contents)
    : contents(std::move(contents)) {}
SafetensorsFile::SafetensorsFile(SafetensorsFile &&) noexcept = default;
SafetensorsFile &
SafetensorsFile::operator=(SafetensorsFile &&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

const std::string &SafetensorsFile::path() const { return contents->path(); }
const std::vector<TensorView> &SafetensorsFile::tensors() const {
  return contents->tensors;
}
uint64_t SafetensorsFile::size() const { return contents->file.size(); }
Status SafetensorsFile::readAt(uint64_t offset, size_t count, void *out) const {
  return contents->file.readAt(offset, count, out);
}
Expected<FileDigest> SafetensorsFile::digest() const {
  const FileBytes &file = contents->file;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  std::vector<std::byte> piece(
      std::min<uint64_t>(pieceBytesOf(file), file.size()));
  for (uint64_t offset = 0; offset < file.size(); offset += piece.size()) {
    const size_t count = std::min<uint64_t>(piece.size(), file.size() - offset);
    PDLRT_RETURN_IF_ERROR(file.readAt(offset, count, piece.data()));
    XXH3_64bits_update(&state, piece.data(), count);
  }
  return FileDigest{file.size(), XXH3_64bits_digest(&state)};
}
const std::map<std::string, std::string> &SafetensorsFile::metadata() const {
  return contents->metadata;
}

const TensorView *SafetensorsFile::find(std::string_view name) const {
  const auto &tensors = contents->tensors;
  auto found =
      std::lower_bound(tensors.begin(), tensors.end(), name,
                       [](const TensorView &tensor, std::string_view wanted) {
                         return tensor.name < wanted;
                       });
  return found != tensors.end() && found->name == name ? &*found : nullptr;
}
