//===- KeyValueFiles.h - Rows as files of keys and values -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files from which key-value stores are filled. They have keys with the
// elements of their rows, in the order that the file format requires.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_KEYVALUEFILES_H
#define PDLRT_SERVING_KEYVALUEFILES_H

#include "pdlrt/Checkpoint/SortedRows.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Writes a new file. Not thread-safe.
class KeyValueWriter {
public:
  virtual ~KeyValueWriter();

  /// Appends a row. Rows must be added in the order of the format.
  virtual Status add(int64_t key, const std::byte *values) = 0;
  /// Returns the approximate size of the file so far.
  virtual uint64_t bytes() const = 0;
  /// Completes the file, syncs it to the disk, and returns its digest. The file
  /// must have at least one row. The caller must sync the folder.
  virtual Expected<FileDigest> finish() = 0;
};

/// Reads the rows of a file in order. Not thread-safe.
class KeyValueReader {
public:
  virtual ~KeyValueReader();

  /// Advances to the next row. Returns false if there is none. Returns an error
  /// with the position if the file has invalid content. Safe for arbitrary
  /// bytes.
  virtual Expected<bool> next() = 0;
  /// Return the key and the values of the current row. The values are valid
  /// until the next call of `next`. They are not aligned.
  virtual int64_t key() const = 0;
  virtual const std::byte *values() const = 0;
};

/// A file format for rows of F32 or F64 elements. Thread-safe.
class KeyValueFormat {
public:
  virtual ~KeyValueFormat();

  /// Returns the name of the format in flags and file extensions.
  virtual std::string_view name() const = 0;
  virtual KeyOrder order() const = 0;
  /// Creates a file, which must not exist. Throws std::bad_alloc.
  virtual Expected<std::unique_ptr<KeyValueWriter>>
  create(const std::string &path, const RowElements &elements) const = 0;
  /// Opens a file that a writer of this format has written. Throws
  /// std::bad_alloc.
  virtual Expected<std::unique_ptr<KeyValueReader>>
  open(const std::string &path, const RowElements &elements) const = 0;
};

/// Returns the text format. Each line has the key as a signed number, and for
/// each element a tab and a number, with enough digits to restore its bits
/// exactly.
const KeyValueFormat &tsvFormat();

/// Returns the binary format with records of equal size: the key as a
/// big-endian number, then the elements as little-endian numbers.
const KeyValueFormat &recordFormat();

/// Reads a file and returns the digest of its current bytes.
Expected<FileDigest> digestOfFile(const std::string &path);

/// Returns the eight bytes of a key in big-endian order, for stores that
/// compare bytes. Negative keys come after the others, because their first byte
/// is at least 0x80.
std::string bytesOfKey(int64_t key);
/// Returns the key for eight bytes of `bytesOfKey`.
int64_t keyOfBytes(const void *bytes);

} // namespace pdlrt

#endif // PDLRT_SERVING_KEYVALUEFILES_H
