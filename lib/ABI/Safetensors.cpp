//===- Safetensors.cpp - Headers of files with named tensors --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled twice: into a library of the compiler and into the runtime archive.
//
//===----------------------------------------------------------------------===//

#include "pdlabi/safetensors.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

using namespace pdlabi;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "safetensors files are little-endian");

namespace {

struct TypeRow {
  TensorType type;
  const char *name;
  size_t elementSize;
};

/// The rows have the order of the enumeration.
constexpr TypeRow types[] = {
    {TensorType::F32, "F32", 4}, {TensorType::F64, "F64", 8},
    {TensorType::I32, "I32", 4}, {TensorType::I64, "I64", 8},
    {TensorType::U64, "U64", 8}, {TensorType::BF16, "BF16", 2},
    {TensorType::F16, "F16", 2}, {TensorType::U8, "U8", 1}};

constexpr bool isInOrder() {
  for (size_t i = 0; i < std::size(types); ++i)
    if (types[i].type != static_cast<TensorType>(i))
      return false;
  return true;
}
static_assert(isInOrder());

constexpr char metadataName[] = "__metadata__";
// Such a header describes about a million tensors; a larger one is damaged.
constexpr uint64_t largestHeader = 100'000'000;

/// Returns the product of the dimensions, which must not be negative; nothing
/// if it is too large. A dimension of zero makes a tensor empty, however large
/// the others are.
std::optional<int64_t> countElements(const std::vector<int64_t> &shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  int64_t count = 1;
  for (int64_t dimension : shape)
    if (__builtin_mul_overflow(count, dimension, &count))
      return std::nullopt;
  return count;
}

SafetensorsError damaged(const std::string &what) {
  return {true, what + "; the file is damaged or not a safetensors file, so "
                       "write or fetch it again"};
}

/// Parses the header of one file.
class HeaderParser {
public:
  HeaderParser(uint64_t dataStart, uint64_t fileBytes)
      : dataStart(dataStart), fileBytes(fileBytes) {}

  std::optional<SafetensorsError> parse(std::string_view text);

  SafetensorsHeader header;

private:
  std::optional<SafetensorsError> parseMetadata(const nlohmann::json &entry);
  std::optional<SafetensorsError> parseTensor(const std::string &name,
                                              const nlohmann::json &entry);
  std::optional<SafetensorsError> parseShape(const nlohmann::json &shape,
                                             TensorEntry &tensor) const;
  std::optional<SafetensorsError> parseRange(const nlohmann::json &range,
                                             TensorEntry &tensor) const;
  std::optional<SafetensorsError> checkCoverage() const;

  uint64_t dataStart;
  uint64_t fileBytes;
};

} // namespace

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

size_t pdlabi::tensorElementSize(TensorType type) {
  return types[static_cast<size_t>(type)].elementSize;
}

const char *pdlabi::tensorTypeName(TensorType type) {
  return types[static_cast<size_t>(type)].name;
}

std::string pdlabi::shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string TensorEntry::typeAndShape() const {
  return std::string(tensorTypeName(type)) + " " + shapeText(shape);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

SafetensorsResult<uint64_t>
pdlabi::readSafetensorsPrefix(std::string_view prefix, uint64_t fileBytes) {
  if (prefix.size() < safetensorsPrefixBytes ||
      fileBytes < safetensorsPrefixBytes)
    return SafetensorsError{true, "is too short for a safetensors file; it may "
                                  "be incomplete, so write or fetch it again"};
  uint64_t size;
  std::memcpy(&size, prefix.data(), sizeof(size));
  const uint64_t room = fileBytes - safetensorsPrefixBytes;
  const bool isTooLarge = size > largestHeader || size > room;
  prefix = prefix.substr(0, safetensorsPrefixBytes);
  // The first eight bytes are the length of the header. If all of them are
  // printable characters, the file is a text.
  if (isTooLarge && std::all_of(prefix.begin(), prefix.end(), [](char byte) {
        return byte == '\t' || (byte >= 0x20 && byte < 0x7f);
      }))
    return SafetensorsError{
        true, "is not a safetensors file, but a text that begins with '" +
                  std::string(prefix) +
                  "'; name a file that 'trainer train --dump' or "
                  "'pdl-checkpoint dump' wrote"};
  if (isTooLarge)
    return damaged("the header claims " + std::to_string(size) +
                   " bytes, but the file has " + std::to_string(room));
  return size;
}

SafetensorsResult<SafetensorsHeader>
pdlabi::readSafetensorsHeader(std::string_view header, uint64_t fileBytes) {
  HeaderParser parser(safetensorsPrefixBytes + header.size(), fileBytes);
  if (std::optional<SafetensorsError> error = parser.parse(header))
    return *std::move(error);
  return std::move(parser.header);
}

std::optional<SafetensorsError> HeaderParser::parse(std::string_view text) {
  const nlohmann::json root =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object())
    return damaged("the header is not a JSON object");
  for (const auto &[name, entry] : root.items()) {
    std::optional<SafetensorsError> error =
        name == metadataName ? parseMetadata(entry) : parseTensor(name, entry);
    if (error)
      return error;
  }
  if (std::optional<SafetensorsError> error = checkCoverage())
    return error;
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorEntry &a, const TensorEntry &b) {
              return a.name < b.name;
            });
  return std::nullopt;
}

std::optional<SafetensorsError>
HeaderParser::parseMetadata(const nlohmann::json &entry) {
  if (!entry.is_object())
    return damaged("`__metadata__` is not an object");
  for (const auto &[key, value] : entry.items()) {
    if (!value.is_string())
      return damaged("the metadata `" + key + "` is not a text");
    header.metadata[key] = value.get<std::string>();
  }
  return std::nullopt;
}

std::optional<SafetensorsError>
HeaderParser::parseTensor(const std::string &name,
                          const nlohmann::json &entry) {
  if (!entry.is_object() || !entry.contains("dtype") ||
      !entry["dtype"].is_string() || !entry.contains("shape") ||
      !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
    return damaged("tensor `" + name +
                   "` has no proper dtype, shape and data_offsets");

  const std::string typeText = entry["dtype"].get<std::string>();
  const auto *row = std::find_if(
      std::begin(types), std::end(types),
      [&](const TypeRow &known) { return typeText == known.name; });
  if (row == std::end(types))
    return SafetensorsError{
        false, "tensor `" + name + "` has the type " + typeText +
                   "; convert it to F32, F64, BF16, F16, I32, I64 or U64"};

  TensorEntry tensor;
  tensor.name = name;
  tensor.type = row->type;
  std::optional<SafetensorsError> error = parseShape(entry["shape"], tensor);
  if (!error)
    error = parseRange(entry["data_offsets"], tensor);
  if (!error)
    header.tensors.push_back(std::move(tensor));
  return error;
}

std::optional<SafetensorsError>
HeaderParser::parseShape(const nlohmann::json &shape,
                         TensorEntry &tensor) const {
  for (const nlohmann::json &dimension : shape) {
    if (!dimension.is_number_unsigned() ||
        dimension.get<uint64_t>() >
            static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return damaged("tensor `" + tensor.name +
                     "` has a dimension that is not a size");
    tensor.shape.push_back(dimension.get<int64_t>());
  }
  const std::optional<int64_t> count = countElements(tensor.shape);
  if (!count)
    return damaged("tensor `" + tensor.name + "` has too many elements");
  tensor.elementCount = *count;
  return std::nullopt;
}

std::optional<SafetensorsError>
HeaderParser::parseRange(const nlohmann::json &range,
                         TensorEntry &tensor) const {
  const std::string subject = "tensor `" + tensor.name + "`";
  if (!range[0].is_number_unsigned() || !range[1].is_number_unsigned())
    return damaged(subject + " has data_offsets that are not sizes");
  const uint64_t begin = range[0].get<uint64_t>();
  const uint64_t end = range[1].get<uint64_t>();
  const uint64_t dataBytes = fileBytes - dataStart;
  if (begin > end || end > dataBytes)
    return damaged(subject + " lies at bytes " + std::to_string(begin) +
                   " to " + std::to_string(end) + " of " +
                   std::to_string(dataBytes));
  uint64_t byteSize;
  if (__builtin_mul_overflow(
          static_cast<uint64_t>(tensor.elementCount),
          static_cast<uint64_t>(tensorElementSize(tensor.type)), &byteSize) ||
      byteSize != end - begin)
    return damaged(subject + " of " + tensor.typeAndShape() + " has " +
                   std::to_string(end - begin) + " bytes");
  tensor.offset = dataStart + begin;
  return std::nullopt;
}

/// Byte ranges must be adjacent, without gaps or overlaps.
std::optional<SafetensorsError> HeaderParser::checkCoverage() const {
  std::vector<const TensorEntry *> inFileOrder;
  for (const TensorEntry &tensor : header.tensors)
    inFileOrder.push_back(&tensor);
  std::sort(inFileOrder.begin(), inFileOrder.end(),
            [](const TensorEntry *a, const TensorEntry *b) {
              return std::make_pair(a->offset, a->byteSize()) <
                     std::make_pair(b->offset, b->byteSize());
            });
  uint64_t expected = dataStart;
  for (const TensorEntry *tensor : inFileOrder) {
    if (tensor->offset != expected)
      return damaged("tensor `" + tensor->name + "` " +
                     (tensor->offset < expected ? "overlaps the one before it"
                                                : "follows a gap"));
    expected += tensor->byteSize();
  }
  if (expected != fileBytes)
    return damaged(std::to_string(fileBytes - expected) +
                   " bytes at the end belong to no tensor");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

uint64_t SafetensorsLayout::offsetOf(std::string_view name) const {
  const auto found = std::find_if(
      tensors.begin(), tensors.end(),
      [&](const TensorEntry &tensor) { return tensor.name == name; });
  assert(found != tensors.end() && "the layout has the tensor");
  return found->offset;
}

SafetensorsResult<size_t>
pdlabi::sizeOfNewTensor(const std::string &name, TensorType type,
                        const std::vector<int64_t> &shape) {
  if (name == metadataName)
    return SafetensorsError{false,
                            "a tensor may not have the name `__metadata__`, "
                            "which the safetensors format reserves"};
  const bool isShape =
      std::all_of(shape.begin(), shape.end(), [](int64_t d) { return d >= 0; });
  const std::optional<int64_t> count =
      isShape ? countElements(shape) : std::nullopt;
  size_t bytes;
  if (!count || __builtin_mul_overflow(static_cast<size_t>(*count),
                                       tensorElementSize(type), &bytes))
    return SafetensorsError{false, "tensor `" + name +
                                       "` has a dimension that is not a size"};
  return bytes;
}

SafetensorsResult<SafetensorsLayout>
pdlabi::layOutSafetensors(std::vector<TensorEntry> tensors,
                          const std::map<std::string, std::string> &metadata) {
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorEntry &a, const TensorEntry &b) {
              const size_t sizeA = tensorElementSize(a.type);
              const size_t sizeB = tensorElementSize(b.type);
              return std::tie(sizeB, a.name) < std::tie(sizeA, b.name);
            });
  nlohmann::json root = nlohmann::json::object();
  if (!metadata.empty())
    root[metadataName] = metadata;
  size_t end = 0;
  for (TensorEntry &tensor : tensors) {
    SafetensorsResult<size_t> bytes =
        sizeOfNewTensor(tensor.name, tensor.type, tensor.shape);
    if (auto *error = std::get_if<SafetensorsError>(&bytes))
      return std::move(*error);
    tensor.elementCount = static_cast<int64_t>(*std::get_if<size_t>(&bytes) /
                                               tensorElementSize(tensor.type));
    tensor.offset = end;
    end += tensor.byteSize();
    root[tensor.name] = {{"dtype", tensorTypeName(tensor.type)},
                         {"shape", tensor.shape},
                         {"data_offsets", {tensor.offset, end}}};
  }
  std::string header;
  try {
    header = root.dump();
  } catch (const nlohmann::json::exception &) {
    return SafetensorsError{false, "cannot be written: a tensor's name or the "
                                   "metadata is not UTF-8 text; rename it"};
  }
  header.resize((header.size() + 7) / 8 * 8, ' ');

  SafetensorsLayout layout;
  const uint64_t headerSize = header.size();
  layout.head.assign(reinterpret_cast<const char *>(&headerSize),
                     sizeof(headerSize));
  layout.head += header;
  for (TensorEntry &tensor : tensors)
    tensor.offset += layout.head.size();
  layout.bytes = layout.head.size() + end;
  layout.tensors = std::move(tensors);
  return layout;
}
