//===- TFRecordFile.h - Records of a TFRecord file --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_TFRECORDFILE_H
#define LIB_RUNTIME_DATA_TFRECORDFILE_H

#include "Data/InputFile.h"
#include "pdlrt/Core/AlignedVector.h"
#include "pdlrt/Core/Status.h"

#include <string>
#include <string_view>

namespace pdlrt {

/// Returns the masked CRC32C of bytes, as TFRecord files have it.
uint32_t maskedCrc32c(std::string_view bytes);

/// Reads the records of a TFRecord file in order: for each a length of 8 bytes,
/// the checksum of the length, the bytes, and their checksum. Not thread-safe.
class TFRecordFile {
public:
  /// Opens a file.
  Status open(const std::string &name, const InputOptions &options);
  /// Moves to the next record, whose bytes are valid until the next call.
  /// Returns false at the end. Damage is an error, not a bad row: where the
  /// next record begins is then unknown. After an error with
  /// `ReadWait::isLate`, the next call reads the same record.
  Expected<bool> next(std::string_view &record);
  /// Return the number of the current record, from 1, and its first byte.
  int64_t number() const { return recordNumber; }
  int64_t recordByte() const { return recordBegin; }
  /// Returns the byte after the current record.
  int64_t nextByte() const { return nextBegin; }
  /// Continues at a byte where record `number` begins, not before the current
  /// record. Returns false if no record begins there.
  Expected<bool> moveTo(int64_t byte, int64_t number);

private:
  Expected<bool> fill(size_t size);
  Status damaged(const std::string &what) const;

  std::string path;
  InputFile file;
  AlignedVector<char> buffer;
  size_t begin = 0, end = 0; ///< The unread bytes of the buffer.
  bool atEnd = false;
  int64_t recordNumber = 0, recordBegin = 0, nextBegin = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_TFRECORDFILE_H
