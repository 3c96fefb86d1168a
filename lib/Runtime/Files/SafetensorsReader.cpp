//===- SafetensorsReader.cpp - Reading named tensors, trusting nothing ----===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/Safetensors.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <xxhash.h>

using namespace pdlrt;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "safetensors files are little-endian");

namespace {

constexpr TensorType allTypes[] = {
    TensorType::F32, TensorType::F64,  TensorType::I32, TensorType::I64,
    TensorType::U64, TensorType::BF16, TensorType::F16, TensorType::U8};
constexpr size_t prefixSize = 8;
// A header of this size names about a million tensors; more is damage.
constexpr uint64_t largestHeader = 100'000'000;
/// What is read of a file at once.
constexpr size_t pieceBytes = size_t(1) << 20;

} // namespace

std::string pdlrt::shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

size_t pdlrt::tensorElementSize(TensorType type) {
  switch (type) {
  case TensorType::U8:
    return 1;
  case TensorType::BF16:
  case TensorType::F16:
    return 2;
  case TensorType::F32:
  case TensorType::I32:
    return 4;
  default:
    return 8;
  }
}

const char *pdlrt::tensorTypeName(TensorType type) {
  switch (type) {
  case TensorType::F32:
    return "F32";
  case TensorType::F64:
    return "F64";
  case TensorType::I32:
    return "I32";
  case TensorType::I64:
    return "I64";
  case TensorType::U64:
    return "U64";
  case TensorType::BF16:
    return "BF16";
  case TensorType::F16:
    return "F16";
  case TensorType::U8:
    return "U8";
  }
  return "";
}

Status TensorView::read(int64_t first, int64_t count, void *destination) const {
  const size_t size = tensorElementSize(type);
  return file->readAt(offset + static_cast<uint64_t>(first) * size,
                      static_cast<size_t>(count) * size, destination);
}

Status TensorWindow::moveTo(int64_t first, int64_t count) {
  const auto ahead = static_cast<int64_t>(pieceBytes / elementBytes);
  const int64_t wanted =
      std::max(count, std::min(ahead, tensor->elementCount - first));
  begin = end = first;
  bytes.resize(static_cast<size_t>(wanted) * elementBytes);
  PDLRT_RETURN_IF_ERROR(tensor->read(first, wanted, bytes.data()));
  end = first + wanted;
  return {};
}

std::string TensorView::typeAndShape() const {
  return std::string(tensorTypeName(type)) + " " + shapeText(shape);
}

struct SafetensorsFile::Contents {
  explicit Contents(FileBytes opened) : file(std::move(opened)) {}

  FileBytes file;
  std::vector<TensorView> tensors;
  std::map<std::string, std::string> metadata;

  Status parse();
  Status parseTensor(const std::string &name, const nlohmann::json &entry,
                     uint64_t dataStart);
  Status parseMetadata(const nlohmann::json &entry);
  Status checkCoverage(uint64_t dataStart) const;
  const std::string &path() const { return file.path(); }
  Status damaged(const std::string &what) const {
    return Status::invalid(path() + ": " + what +
                           "; the file is damaged or not a safetensors file, "
                           "so write or fetch it again");
  }
};

Status SafetensorsFile::Contents::parse() {
  if (file.size() < prefixSize)
    return Status::invalid(path() +
                           ": is too short for a safetensors file; it may be "
                           "incomplete, so write or fetch it again");
  uint64_t headerSize;
  PDLRT_RETURN_IF_ERROR(file.readAt(0, sizeof(headerSize), &headerSize));
  const uint64_t room = file.size() - prefixSize;
  if (headerSize > largestHeader || headerSize > room)
    return damaged("the header claims " + std::to_string(headerSize) +
                   " bytes, but the file has " + std::to_string(room));
  std::string header(headerSize, '\0');
  PDLRT_RETURN_IF_ERROR(file.readAt(prefixSize, headerSize, header.data()));
  const nlohmann::json root =
      nlohmann::json::parse(header, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object())
    return damaged("the header is not a JSON object");

  const uint64_t dataStart = prefixSize + headerSize;
  for (const auto &[name, entry] : root.items()) {
    if (name == "__metadata__")
      PDLRT_RETURN_IF_ERROR(parseMetadata(entry));
    else
      PDLRT_RETURN_IF_ERROR(parseTensor(name, entry, dataStart));
  }
  PDLRT_RETURN_IF_ERROR(checkCoverage(dataStart));
  std::sort(
      tensors.begin(), tensors.end(),
      [](const TensorView &a, const TensorView &b) { return a.name < b.name; });
  return {};
}

Status SafetensorsFile::Contents::parseMetadata(const nlohmann::json &entry) {
  if (!entry.is_object())
    return damaged("`__metadata__` is not an object");
  for (const auto &[key, value] : entry.items()) {
    if (!value.is_string())
      return damaged("the metadata `" + key + "` is not a text");
    metadata[key] = value.get<std::string>();
  }
  return {};
}

Status SafetensorsFile::Contents::parseTensor(const std::string &name,
                                              const nlohmann::json &entry,
                                              uint64_t dataStart) {
  const std::string tensor = "tensor `" + name + "`";
  if (!entry.is_object() || !entry.contains("dtype") ||
      !entry["dtype"].is_string() || !entry.contains("shape") ||
      !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
    return damaged(tensor + " has no proper dtype, shape and data_offsets");

  const std::string typeText = entry["dtype"].get<std::string>();
  const auto *type = std::find_if(
      std::begin(allTypes), std::end(allTypes),
      [&](TensorType known) { return typeText == tensorTypeName(known); });
  if (type == std::end(allTypes))
    return Status::invalid(
        path() + ": " + tensor + " has the type " + typeText +
        "; convert it to F32, F64, BF16, F16, I32, I64 or U64");

  TensorView view{name, *type, {}, 1, &file, 0};
  for (const nlohmann::json &dimension : entry["shape"]) {
    if (!dimension.is_number_unsigned() ||
        dimension.get<uint64_t>() >
            static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return damaged(tensor + " has a dimension that is not a size");
    view.shape.push_back(dimension.get<int64_t>());
  }
  // A zero anywhere makes the tensor empty, however large the others are.
  if (std::find(view.shape.begin(), view.shape.end(), 0) != view.shape.end())
    view.elementCount = 0;
  for (int64_t dimension : view.shape)
    if (view.elementCount &&
        __builtin_mul_overflow(view.elementCount, dimension,
                               &view.elementCount))
      return damaged(tensor + " has too many elements");

  const nlohmann::json &offsets = entry["data_offsets"];
  if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    return damaged(tensor + " has data_offsets that are not sizes");
  const uint64_t begin = offsets[0].get<uint64_t>();
  const uint64_t end = offsets[1].get<uint64_t>();
  const uint64_t dataSize = file.size() - dataStart;
  if (begin > end || end > dataSize)
    return damaged(tensor + " lies at bytes " + std::to_string(begin) + " to " +
                   std::to_string(end) + " of " + std::to_string(dataSize));
  uint64_t byteSize;
  if (__builtin_mul_overflow(static_cast<uint64_t>(view.elementCount),
                             static_cast<uint64_t>(tensorElementSize(*type)),
                             &byteSize) ||
      byteSize != end - begin)
    return damaged(tensor + " of " + view.typeAndShape() + " has " +
                   std::to_string(end - begin) + " bytes");
  view.offset = dataStart + begin;
  tensors.push_back(std::move(view));
  return {};
}

/// The byte ranges must follow each other without gap or overlap.
Status SafetensorsFile::Contents::checkCoverage(uint64_t dataStart) const {
  std::vector<const TensorView *> inFileOrder;
  for (const TensorView &tensor : tensors)
    inFileOrder.push_back(&tensor);
  std::sort(inFileOrder.begin(), inFileOrder.end(),
            [](const TensorView *a, const TensorView *b) {
              return std::make_pair(a->offset, a->byteSize()) <
                     std::make_pair(b->offset, b->byteSize());
            });
  uint64_t expected = dataStart;
  for (const TensorView *tensor : inFileOrder) {
    if (tensor->offset != expected)
      return damaged("tensor `" + tensor->name + "` " +
                     (tensor->offset < expected ? "overlaps the one before it"
                                                : "follows a gap"));
    expected += tensor->byteSize();
  }
  if (expected != file.size())
    return damaged(std::to_string(file.size() - expected) +
                   " bytes at the end belong to no tensor");
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
  std::vector<std::byte> piece(std::min<uint64_t>(pieceBytes, file.size()));
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
