//===- safetensors.h - Headers of files with named tensors ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors format: eight bytes with the length of the header, a JSON
// header with each tensor's name, type, shape and byte range, then the data.
// Compiler and runtime use these functions to read and write the header, so
// that both accept the same files and write the same bytes. The functions open
// no file: their callers read and write the bytes.
//
// All functions are thread-safe. They throw only std::bad_alloc.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_SAFETENSORS_H
#define PDLABI_SAFETENSORS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pdlabi {

/// The supported element types.
enum class TensorType { F32, F64, I32, I64, U64, BF16, F16, U8 };

/// Returns the size of one element in bytes.
size_t tensorElementSize(TensorType type);

/// Returns the name of a type in files, such as "F32".
const char *tensorTypeName(TensorType type);

/// Returns a shape as text for messages, such as "[2, 3]".
std::string shapeText(const std::vector<int64_t> &shape);

/// A tensor of a file, without its data, which is row-major and little-endian.
struct TensorEntry {
  std::string name;
  TensorType type = TensorType::F32;
  std::vector<int64_t> shape;
  int64_t elementCount = 0; ///< the product of `shape`
  /// Offset of the tensor's first byte in the file.
  uint64_t offset = 0;

  size_t byteSize() const {
    return static_cast<size_t>(elementCount) * tensorElementSize(type);
  }
  /// Returns a text such as "F32 [3, 4]".
  std::string typeAndShape() const;
};

/// The reason why a file cannot be read or written.
struct SafetensorsError {
  /// True if bytes of a file are wrong or missing. False if the file is intact
  /// but its content is not supported, or if an argument is wrong.
  bool isDamage = false;
  /// Error message with the remedy. Put the name of the file and ": " before
  /// it.
  std::string message;
};

/// The value that a function returns, or the error if the function failed.
template <typename T>
using SafetensorsResult = std::variant<T, SafetensorsError>;

/// Number of bytes before the JSON header. They contain its length.
constexpr size_t safetensorsPrefixBytes = 8;

/// Returns the size of the JSON header in bytes. `prefix` must have the first
/// `safetensorsPrefixBytes` bytes of a file of `fileBytes` bytes, or all bytes
/// of a shorter file.
SafetensorsResult<uint64_t> readSafetensorsPrefix(std::string_view prefix,
                                                  uint64_t fileBytes);

/// Content of a header.
struct SafetensorsHeader {
  std::vector<TensorEntry> tensors; ///< sorted by name
  /// The texts in "__metadata__".
  std::map<std::string, std::string> metadata;
};

/// Parses the JSON header of a file of `fileBytes` bytes. The length of
/// `header` must be the result of `readSafetensorsPrefix`. Returns an error if
/// a type or a shape is invalid, or if byte ranges of tensors overlap, leave
/// gaps, or exceed the file. Safe for arbitrary texts.
SafetensorsResult<SafetensorsHeader>
readSafetensorsHeader(std::string_view header, uint64_t fileBytes);

/// Returns the size in bytes of a tensor that will be written. Returns an error
/// if the name is reserved, a dimension is negative, or the tensor is too
/// large.
SafetensorsResult<size_t> sizeOfNewTensor(const std::string &name,
                                          TensorType type,
                                          const std::vector<int64_t> &shape);

/// The header of a file that will be written, and the position of each tensor.
struct SafetensorsLayout {
  /// The bytes of the file before the tensors.
  std::string head;
  /// The tensors in their order in the file: by descending size of their
  /// elements, then by name. They have no gaps, and this order keeps each
  /// tensor aligned.
  std::vector<TensorEntry> tensors;
  /// Size of the whole file.
  size_t bytes = 0;

  /// Returns the offset in the file of the tensor `name`, which must exist.
  uint64_t offsetOf(std::string_view name) const;
};

/// Returns the layout of a file with `tensors`, whose `elementCount` and
/// `offset` are ignored. Names must be unique. The layout does not depend on
/// the order of `tensors`. Returns an error if `sizeOfNewTensor` returns one
/// for a tensor, or if a name or a text of the metadata is not UTF-8.
SafetensorsResult<SafetensorsLayout>
layOutSafetensors(std::vector<TensorEntry> tensors,
                  const std::map<std::string, std::string> &metadata);

} // namespace pdlabi

#endif // PDLABI_SAFETENSORS_H
