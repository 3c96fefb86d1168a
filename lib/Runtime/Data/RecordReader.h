//===- RecordReader.h - Reads the records of one file -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_RECORDREADER_H
#define LIB_RUNTIME_DATA_RECORDREADER_H

#include "Data/PassedRows.h"
#include "Data/ReadWait.h"
#include "Data/RecordColumns.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Data/BatchSource.h"

#include <memory>
#include <optional>

namespace pdlrt {

/// Start of the next row of a file.
struct RowPlace {
  int64_t row = 0;  ///< Number of rows between the reader's position and it.
  int64_t byte = 0; ///< Byte in the decompressed text; 0: unknown
  int64_t line = 0; ///< Line at that byte, from 1.
};

/// Reads the rows of one file once, in order.
class RecordReader {
public:
  virtual ~RecordReader() = default;

  /// Parses the next `count` rows and appends the good ones to `into`. Returns
  /// the number of rows, good or bad. It is less than `count` only at the end
  /// of the file, or if `RecordReaderOptions::wait` is late.
  virtual Expected<int64_t> read(int64_t count, RecordColumns &into,
                                 PassedRows &passed) = 0;
  /// Skips rows without parsing them; returns as `read` does. `passed` is null
  /// for rows of other groups.
  virtual Expected<int64_t> skip(int64_t count, PassedRows *passed) = 0;
  /// Seeks to `place`. Must be called before the first row is reported. Rows
  /// that are skipped count as already reported. Returns false if there is no
  /// such place.
  virtual Expected<bool> moveTo(const RowPlace &place) = 0;
  /// Returns the start of the next row: byte and line of the text. The member
  /// `row` is 0.
  virtual RowPlace place() const { return {}; }
  /// Returns an error if the next row cannot belong to the record. Lets a pass
  /// fail before it begins.
  virtual Status checkNext() { return {}; }
  /// Tells the reader that no more rows are needed, although there may be some.
  /// Ends work that accompanies reading the whole file.
  virtual void finish() {}
};

class CommonHeader;

/// Information for readers, which keep a reference to it.
struct RecordReaderOptions {
  const DataOptions &data;
  const pdl_descriptor &descriptor;
  const pdl_program &program;
  /// Limits waiting for bytes of pipes; null: no limit.
  ReadWait *wait = nullptr;
  /// Checks that all files have the same header line; null: no check.
  CommonHeader *headers = nullptr;
};

/// Returns the index in the record of the field that `DataOptions::idField`
/// names; none if it is empty.
std::optional<size_t> idFieldOf(const RecordReaderOptions &options);

/// Returns false for pipes, sockets and devices, which can be read only once,
/// and always for the standard input. Returns true for paths that cannot be
/// examined.
bool canBeReadAgain(const std::string &path);
/// Returns the beginning of a message about a file that can be read only once.
std::string onceText(const std::string &path);

/// Compares the header of a delimited text file with those of other files
/// (`RecordReaderOptions::headers`), without reading its rows.
Status checkHeaderOf(const std::string &path,
                     const RecordReaderOptions &options);

/// Opens a delimited text file. Its records are marked with `fileIndex`.
Expected<std::unique_ptr<RecordReader>>
openDelimitedReader(const std::string &path, int32_t fileIndex,
                    const RecordReaderOptions &options);

/// Opens a safetensors file of columns.
Expected<std::unique_ptr<RecordReader>>
openTensorReader(const std::string &path, int32_t fileIndex,
                 const RecordReaderOptions &options);

/// Opens a file in its format (`fileFormatOf`). If a
/// cache is requested and the format uses one, reads or writes the cache.
Expected<std::unique_ptr<RecordReader>>
openRecordReader(const std::string &path, int32_t fileIndex,
                 const RecordReaderOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RECORDREADER_H
