//===- Safetensors.h - Named tensors in one file ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors format: eight bytes of header length, a JSON header that
// names each tensor's type, shape and byte range, then the bytes. It is how
// dense values enter and leave a program, and it can be read from Python
// without us.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_SAFETENSORS_H
#define PDLRT_FILES_SAFETENSORS_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/FileBytes.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Size and sum (XXH3, 64 bits) of a file's bytes.
struct FileDigest {
  uint64_t bytes = 0;
  uint64_t hash = 0;
  bool operator==(const FileDigest &) const = default;
};

/// The element types that are read and written.
enum class TensorType { F32, F64, I32, I64, U64, BF16, F16, U8 };

/// Bytes of one element.
size_t tensorElementSize(TensorType type);

/// The name in the file, such as "F32".
const char *tensorTypeName(TensorType type);

/// For people: "[2, 3]".
std::string shapeText(const std::vector<int64_t> &shape);

/// One tensor of an open file; valid as long as the file object. Row-major,
/// little-endian. Any thread may read.
struct TensorView {
  std::string name;
  TensorType type;
  std::vector<int64_t> shape;
  int64_t elementCount; ///< the product of `shape`
  const FileBytes *file;
  /// Of its first byte in the file.
  uint64_t offset;

  size_t byteSize() const {
    return static_cast<size_t>(elementCount) * tensorElementSize(type);
  }
  /// All elements. An error where the file cannot be read; then `destination`
  /// may hold some of them.
  Status copyTo(void *destination) const {
    return read(0, elementCount, destination);
  }
  /// The same of elements [first, first + count), which it has.
  Status read(int64_t first, int64_t count, void *destination) const;
  /// Such as "F32 [3, 4]".
  std::string typeAndShape() const;
};

/// Reads a tensor piece by piece, best in ascending order: the file is read
/// ahead. One thread at a time.
class TensorWindow {
public:
  /// `of` outlives it.
  explicit TensorWindow(const TensorView &of)
      : tensor(&of), elementBytes(tensorElementSize(of.type)) {}

  const TensorView &view() const { return *tensor; }
  /// Elements [first, first + count), which the tensor has; valid until the
  /// next call. Not aligned: read them by memcpy.
  Expected<const std::byte *> at(int64_t first, int64_t count) {
    if (first < begin || first + count > end)
      PDLRT_RETURN_IF_ERROR(moveTo(first, count));
    return bytes.data() + static_cast<size_t>(first - begin) * elementBytes;
  }

private:
  Status moveTo(int64_t first, int64_t count);

  const TensorView *tensor;
  size_t elementBytes;
  /// The elements in `bytes`.
  int64_t begin = 0, end = 0;
  std::vector<std::byte> bytes;
};

/// A file open for reading. Immutable after `open`: any thread may read.
class SafetensorsFile {
public:
  /// Opens `path` and checks the whole header: types, shapes, byte ranges that
  /// neither overlap, leave gaps, nor pass the end. Every defect is an error
  /// that names the file and the tensor; nothing in the file is trusted.
  static Expected<SafetensorsFile> open(const std::string &path);

  SafetensorsFile(SafetensorsFile &&) noexcept;
  SafetensorsFile &operator=(SafetensorsFile &&) noexcept;
  ~SafetensorsFile();

  const std::string &path() const;
  /// Sorted by name.
  const std::vector<TensorView> &tensors() const;
  /// Null if there is none of that name.
  const TensorView *find(std::string_view name) const;
  /// In bytes.
  uint64_t size() const;
  /// Of the bytes in the file now: reads all of it.
  Expected<FileDigest> digest() const;
  /// Bytes [offset, offset + count) to `out`, also of a file that was removed
  /// since it was opened; an error as `FileBytes::readAt` has.
  Status readAt(uint64_t offset, size_t count, void *out) const;
  /// The texts under "__metadata__".
  const std::map<std::string, std::string> &metadata() const;

private:
  struct Contents;
  explicit SafetensorsFile(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

/// Collects tensors and writes them as one file. Not thread-safe.
class SafetensorsWriter {
public:
  /// Adds a tensor whose bytes the caller keeps alive until `write`. Fails on
  /// a name that is taken or reserved and on a negative dimension.
  Status add(std::string name, TensorType type, std::vector<int64_t> shape,
             const void *data);
  /// The same with a copy of the bytes.
  Status addCopy(const std::string &name, TensorType type,
                 std::vector<int64_t> shape, const void *data);
  /// Makes the bytes of `count` rows from `first` at `out`.
  using RowSource =
      std::function<void(int64_t first, int64_t count, std::byte *out)>;
  /// Adds a tensor that is made while it is written, some rows at a time and in
  /// order, so that it is never in memory as a whole. A row is an element of
  /// the first dimension. What `source` refers to is kept alive until `write`.
  Status addRows(const std::string &name, TensorType type,
                 std::vector<int64_t> shape, RowSource source);
  void setMetadata(std::string key, std::string value);

  /// How the file begins, and where in it each tensor does.
  struct Layout {
    /// All bytes before those of the tensors.
    std::string head;
    std::map<std::string, size_t> offsets;
    /// Of the whole file.
    size_t bytes = 0;
  };
  /// The layout of the file that `write` would write, for who makes its bytes;
  /// `path` is for the sentence of an error.
  Expected<Layout> layout(const std::string &path) const;

  /// Writes to a temporary name beside `path`, flushes it to the disk and
  /// renames it, so that a reader sees the old file or the whole new one.
  /// `digest`, unless null, gets that of the file.
  Status write(const std::string &path, FileDigest *digest = nullptr) const;
  /// Writes the same bytes as a new file `path` that nobody reads yet, and
  /// flushes them to the disk; the name is flushed with its folder. For large
  /// files: rows are made while others are written. Throws std::bad_alloc.
  Status writeStreamed(const std::string &path, FileDigest &digest) const;

private:
  template <typename File>
  Status writeTo(File &file, const std::string &path) const;
  struct Entry {
    TensorType type;
    std::vector<int64_t> shape;
    size_t byteSize;
    const void *data;
    std::shared_ptr<std::vector<std::byte>> copy;
    /// Instead of `data`, where it is there.
    RowSource source;
  };
  using Entries = std::map<std::string, Entry>;
  std::vector<Entries::const_iterator> fileOrder() const;

  Entries entries;
  std::map<std::string, std::string> texts;
};

} // namespace pdlrt

#endif // PDLRT_FILES_SAFETENSORS_H
