//===- RecordReader.h - The records of one file, in order -------*- C++ -*-===//
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
#include "pdlrt/Data/BatchSource.h"

#include <memory>
#include <optional>

namespace pdlrt {

/// Where the next row of a file begins.
struct RowPlace {
  int64_t row = 0;  ///< rows before it, from where the reader stands
  int64_t byte = 0; ///< of the text, unpacked; 0: not known
  int64_t line = 0; ///< that is there, from 1
};

/// Goes once through the rows of one file.
class RecordReader {
public:
  virtual ~RecordReader() = default;

  /// Parses the next `count` rows and appends the good ones to `into`. Returns
  /// how many rows were passed, good or bad: fewer than `count` only at the
  /// end of the file, or where `RecordReaderOptions::wait` is late.
  virtual Expected<int64_t> read(int64_t count, RecordColumns &into,
                                 PassedRows &passed) = 0;
  /// Passes rows without parsing them; returns as `read` does. Null: rows that
  /// are none of the group's.
  virtual Expected<int64_t> skip(int64_t count, PassedRows *passed) = 0;
  /// Passes on to a place in the middle of the file, from a row before which
  /// none was told of, as if the rows between had been told; false where there
  /// is none such.
  virtual Expected<bool> moveTo(const RowPlace &place) = 0;
  /// Where the next row begins: of the text, its byte and line.
  virtual RowPlace place() const { return {}; }
  /// An error if the next row is one that no file of such rows begins with, so
  /// that it is found before a pass begins.
  virtual Status checkNext() { return {}; }
  /// No more rows are wanted, though there may be some: ends what goes along
  /// with reading the whole file.
  virtual void finish() {}
};

class CommonHeader;

/// What a reader needs to know; it keeps the reference.
struct RecordReaderOptions {
  const DataOptions &data;
  const pdl_descriptor &descriptor;
  const pdl_program &program;
  /// For the bytes of pipes; null: for as long as it takes.
  ReadWait *wait = nullptr;
  /// What the headers of all files are compared with; null: with nothing.
  CommonHeader *headers = nullptr;
};

/// The field that `DataOptions::idField` names, by its place in the record;
/// none where it names none.
std::optional<size_t> idFieldOf(const RecordReaderOptions &options);

/// False for pipes, sockets and devices, of which each byte comes once, and for
/// the standard input, whatever it is. A path that cannot be looked at is none
/// of them.
bool canBeReadAgain(const std::string &path);
/// How a sentence about one for which it is false begins.
std::string onceText(const std::string &path);

/// Compares the header of a delimited text file with those of other files
/// (`RecordReaderOptions::headers`), without reading its rows.
Status checkHeaderOf(const std::string &path,
                     const RecordReaderOptions &options);

/// Opens a delimited text file; `fileIndex` marks its records.
Expected<std::unique_ptr<RecordReader>>
openDelimitedReader(const std::string &path, int32_t fileIndex,
                    const RecordReaderOptions &options);

/// Opens a safetensors file of columns.
Expected<std::unique_ptr<RecordReader>>
openTensorReader(const std::string &path, int32_t fileIndex,
                 const RecordReaderOptions &options);

/// Whether a file of that name holds tensors; else it is delimited text.
bool isTensorFile(const std::string &path);

/// Opens a file by its name.
Expected<std::unique_ptr<RecordReader>>
openRecordReader(const std::string &path, int32_t fileIndex,
                 const RecordReaderOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RECORDREADER_H
