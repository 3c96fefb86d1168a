//===- Safetensors.h - Named tensors in one file ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes safetensors files (pdlabi/safetensors.h). Programs read and
// write dense values in this format, which Python packages support too.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_SAFETENSORS_H
#define PDLRT_FILES_SAFETENSORS_H

#include "pdlabi/safetensors.h"
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

/// Size and checksum (XXH3, 64 bits) of a file.
struct FileDigest {
  uint64_t bytes = 0;
  uint64_t hash = 0;
  bool operator==(const FileDigest &) const = default;
};

using pdlabi::shapeText;
using pdlabi::tensorElementSize;
using pdlabi::TensorType;
using pdlabi::tensorTypeName;

/// One tensor of an open file; valid as long as the file object. Reading is
/// thread-safe.
struct TensorView : pdlabi::TensorEntry {
  const FileBytes *file = nullptr;

  /// Reads all elements. Returns an error if the file cannot be read;
  /// `destination` may then have some of them.
  Status copyTo(void *destination) const {
    return read(0, elementCount, destination);
  }
  /// Reads the elements [first, first + count), which must exist.
  Status read(int64_t first, int64_t count, void *destination) const;
};

/// Reads a tensor piece by piece, with read-ahead; fastest in ascending order.
/// Not thread-safe.
class TensorWindow {
public:
  /// `of` must outlive it.
  explicit TensorWindow(const TensorView &of)
      : tensor(&of), elementBytes(tensorElementSize(of.type)) {}

  const TensorView &view() const { return *tensor; }
  /// Returns the elements [first, first + count), which must exist; valid until
  /// the next call. They are not aligned: read them with memcpy.
  Expected<const std::byte *> at(int64_t first, int64_t count) {
    if (first < begin || first + count > end)
      PDLRT_RETURN_IF_ERROR(moveTo(first, count));
    return bytes.data() + static_cast<size_t>(first - begin) * elementBytes;
  }

private:
  Status moveTo(int64_t first, int64_t count);

  const TensorView *tensor;
  size_t elementBytes;
  /// Range of the elements in `bytes`.
  int64_t begin = 0, end = 0;
  std::vector<std::byte> bytes;
};

/// A file open for reading. Immutable after `open`, and thread-safe.
class SafetensorsFile {
public:
  /// Opens `path` and checks the whole header: types, shapes, and that byte
  /// ranges neither overlap, leave gaps, nor exceed the file. Each defect is an
  /// error with the names of the file and the tensor. Safe for arbitrary files.
  static Expected<SafetensorsFile> open(const std::string &path);

  SafetensorsFile(SafetensorsFile &&) noexcept;
  SafetensorsFile &operator=(SafetensorsFile &&) noexcept;
  ~SafetensorsFile();

  const std::string &path() const;
  /// Returns the tensors, sorted by name.
  const std::vector<TensorView> &tensors() const;
  /// Returns null if there is no tensor with this name.
  const TensorView *find(std::string_view name) const;
  /// Returns the size of the file in bytes.
  uint64_t size() const;
  /// Reads the whole file and returns its current digest.
  Expected<FileDigest> digest() const;
  /// Reads the bytes [offset, offset + count) to `out`, even if the file was
  /// removed since it was opened. Errors are those of `FileBytes::readAt`.
  Status readAt(uint64_t offset, size_t count, void *out) const;
  /// Returns the texts in "__metadata__".
  const std::map<std::string, std::string> &metadata() const;

private:
  struct Contents;
  explicit SafetensorsFile(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

/// Collects tensors and writes them to one file. Not thread-safe.
class SafetensorsWriter {
public:
  /// Adds a tensor. The caller must keep its data alive until `write`. Returns
  /// an error if the name is reserved or already used, or a dimension is
  /// negative.
  Status add(std::string name, TensorType type, std::vector<int64_t> shape,
             const void *data);
  /// Adds a tensor with a copy of the data.
  Status addCopy(const std::string &name, TensorType type,
                 std::vector<int64_t> shape, const void *data);
  /// Writes the bytes of `count` rows from `first` to `out`.
  using RowSource =
      std::function<void(int64_t first, int64_t count, std::byte *out)>;
  /// Adds a tensor that is generated while it is written, some rows at a time
  /// and in order, so that it is never completely in memory. A row is an
  /// element of the first dimension. Objects that `source` refers to must stay
  /// valid until `write`.
  Status addRows(const std::string &name, TensorType type,
                 std::vector<int64_t> shape, RowSource source);
  void setMetadata(std::string key, std::string value);

  /// The header of the file, and the offset of each tensor.
  using Layout = pdlabi::SafetensorsLayout;
  /// Returns the layout of the file that `write` would write, for callers that
  /// generate its bytes. `path` is used in error messages.
  Expected<Layout> layout(const std::string &path) const;

  /// Writes the file under a temporary name next to `path`, syncs it to disk
  /// and renames it, so that a reader sees either the old or the complete new
  /// file. `digest`, unless null, gets the file's digest.
  Status write(const std::string &path, FileDigest *digest = nullptr) const;
  /// Writes the same bytes to a new file `path`, which has no readers yet, and
  /// syncs it to disk; its name is synced with its folder. For large files:
  /// rows are generated while others are written. Throws std::bad_alloc.
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
    /// Replaces `data` if it is set.
    RowSource source;
  };

  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> texts;
};

} // namespace pdlrt

#endif // PDLRT_FILES_SAFETENSORS_H
