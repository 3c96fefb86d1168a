//===- Safetensors.h - Named tensors in one file ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes safetensors files (pdlabi/safetensors.h). Many Python
// packages support this format.
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

/// One tensor of an open file. Valid as long as the SafetensorsFile exists.
/// Reading is thread-safe.
struct TensorView : pdlabi::TensorEntry {
  const FileBytes *file = nullptr;

  /// Reads all elements to `destination`. After an error, some of the elements
  /// may have been written to `destination`.
  Status copyTo(void *destination) const {
    return read(0, elementCount, destination);
  }
  /// Reads the elements [first, first + count) to `destination`. They must
  /// exist.
  Status read(int64_t first, int64_t count, void *destination) const;
};

/// Reads a tensor piece by piece, and reads some elements ahead. So access in
/// ascending order is the fastest. Not thread-safe.
class TensorWindow {
public:
  /// `of` must outlive this object.
  explicit TensorWindow(const TensorView &of)
      : tensor(&of), elementBytes(tensorElementSize(of.type)) {}

  const TensorView &view() const { return *tensor; }
  /// Returns the elements [first, first + count), which must exist. They are
  /// valid until the next call. They are not aligned, so read them with memcpy.
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
  /// Opens `path` and checks the whole header. Types and shapes must be valid.
  /// The byte ranges of tensors must not overlap, leave gaps, or exceed the
  /// file. Returns an error with the names of the file and the tensor for the
  /// first defect. Safe for arbitrary files.
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
  /// Returns the metadata of the file: the texts in "__metadata__".
  const std::map<std::string, std::string> &metadata() const;

private:
  struct Contents;
  explicit SafetensorsFile(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

/// Collects tensors and writes them to one file. Not thread-safe.
class SafetensorsWriter {
public:
  /// Adds a tensor. `data` must stay valid until the file is written. Returns
  /// an error if the name is reserved or already used, or if a dimension is
  /// negative.
  Status add(std::string name, TensorType type, std::vector<int64_t> shape,
             const void *data);
  /// Like `add`, but copies the data.
  Status addCopy(const std::string &name, TensorType type,
                 std::vector<int64_t> shape, const void *data);
  /// Writes the bytes of `count` rows from `first` to `out`.
  using RowSource =
      std::function<void(int64_t first, int64_t count, std::byte *out)>;
  /// Like `add`, but calls `source` for the data while the file is written, for
  /// some rows at a time and in order. So the tensor is never completely in
  /// memory. A row is a slice of the tensor along the first dimension. Objects
  /// that `source` refers to must stay valid until the file is written.
  Status addRows(const std::string &name, TensorType type,
                 std::vector<int64_t> shape, RowSource source);
  void setMetadata(std::string key, std::string value);

  /// The header of the file, and the offset of each tensor.
  using Layout = pdlabi::SafetensorsLayout;
  /// Returns the layout of the file that `write` would write, for callers that
  /// write its bytes themselves. `path` is the file's name in error messages.
  Expected<Layout> layout(const std::string &path) const;

  /// Writes the file under a temporary name next to `path`, syncs it to disk
  /// and renames it. In an object store, the file appears when it is complete.
  /// So a reader sees either the old file or the complete new one. If `digest`
  /// is not null, sets it to the digest of the file.
  Status write(const std::string &path, FileDigest *digest = nullptr) const;
  /// Writes the same bytes directly to the new file `path` and syncs them to
  /// disk, for a file that no process reads yet. The caller must sync the
  /// folder. Faster than `write` for large files, because rows are generated
  /// while others are written. Throws std::bad_alloc.
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
    /// Source of the data if it is set; otherwise `data` is.
    RowSource source;
  };

  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> texts;
};

} // namespace pdlrt

#endif // PDLRT_FILES_SAFETENSORS_H
