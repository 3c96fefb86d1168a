//===- KeyValueFiles.h - Rows as files of keys and values -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What key-value stores are filled with: keys, each with the elements of a row,
// in the order that the format has.
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

/// A new file; not thread-safe.
class KeyValueWriter {
public:
  virtual ~KeyValueWriter();

  /// Adds a row behind those before it in the order of the format.
  virtual Status add(int64_t key, const std::byte *values) = 0;
  /// About as many as the file has so far.
  virtual uint64_t bytes() const = 0;
  /// Flushes it to the disk, with a row at least; its name is flushed with its
  /// folder. Its digest.
  virtual Expected<FileDigest> finish() = 0;
};

/// The rows of a file, one after the other; not thread-safe.
class KeyValueReader {
public:
  virtual ~KeyValueReader();

  /// Goes on to the next row; false: there is none. An error, which names the
  /// place, where the file has something else. Any bytes are safe.
  virtual Expected<bool> next() = 0;
  /// Of the row; valid until the next call of `next`, and not aligned.
  virtual int64_t key() const = 0;
  virtual const std::byte *values() const = 0;
};

/// How rows are written: the elements are F32 or F64. Any thread may call.
class KeyValueFormat {
public:
  virtual ~KeyValueFormat();

  /// Of the flag, and of files' names.
  virtual std::string_view name() const = 0;
  virtual KeyOrder order() const = 0;
  /// Makes a file that is not there yet. Throws std::bad_alloc.
  virtual Expected<std::unique_ptr<KeyValueWriter>>
  create(const std::string &path, const RowElements &elements) const = 0;
  /// Opens one that `create` made. Throws std::bad_alloc.
  virtual Expected<std::unique_ptr<KeyValueReader>>
  open(const std::string &path, const RowElements &elements) const = 0;
};

/// Lines of text: the key as a number with a sign, and behind a tab each
/// element, with as many digits as it takes to read back the same bits.
const KeyValueFormat &tsvFormat();

/// Records of equal size: the key with the greatest byte first, then the
/// elements with the least byte first.
const KeyValueFormat &recordFormat();

/// Of the bytes in a file now: reads all of it.
Expected<FileDigest> digestOfFile(const std::string &path);

/// A key as stores that compare bytes want it: the greatest byte first. Of keys
/// below zero the first byte is 0x80 or more, so they come last.
std::string bytesOfKey(int64_t key);
/// Back, of eight bytes.
int64_t keyOfBytes(const void *bytes);

} // namespace pdlrt

#endif // PDLRT_SERVING_KEYVALUEFILES_H
