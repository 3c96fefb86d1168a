//===- RecordReader.h - The records of one file, in order -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_RECORDREADER_H
#define LIB_RUNTIME_DATA_RECORDREADER_H

#include "Data/RecordColumns.h"
#include "pdlrt/Data/BatchSource.h"

#include <memory>

namespace pdlrt {

/// Counts bad rows against a limit and keeps the sentences of the first few.
class BadRows {
public:
  explicit BadRows(int64_t limit) : limit(limit) {}

  /// Notes a row that could not be parsed; an error once the limit is passed.
  Status add(const std::string &sentence);
  void clear();
  int64_t count() const { return rowCount; }
  const std::vector<std::string> &sentences() const { return kept; }

private:
  int64_t limit;
  int64_t rowCount = 0;
  std::vector<std::string> kept;
};

/// Goes once through the rows of one file.
class RecordReader {
public:
  virtual ~RecordReader() = default;

  /// Parses the next `count` rows and appends the good ones to `into`. Returns
  /// how many rows were passed, good or bad: fewer than `count` only at the
  /// end of the file.
  virtual Expected<int64_t> read(int64_t count, RecordColumns &into,
                                 BadRows &badRows) = 0;
  /// Passes rows without parsing them; returns as `read` does.
  virtual Expected<int64_t> skip(int64_t count) = 0;
};

/// What a reader needs to know; it keeps the reference.
struct RecordReaderOptions {
  const DataOptions &data;
  const pdl_descriptor &descriptor;
  const pdl_program &program;
};

/// Opens a delimited text file; `fileIndex` marks its records.
Expected<std::unique_ptr<RecordReader>>
openDelimitedReader(const std::string &path, int32_t fileIndex,
                    const RecordReaderOptions &options);

/// Opens a safetensors file of columns.
Expected<std::unique_ptr<RecordReader>>
openTensorReader(const std::string &path, int32_t fileIndex,
                 const RecordReaderOptions &options);

/// Opens a file by its name.
Expected<std::unique_ptr<RecordReader>>
openRecordReader(const std::string &path, int32_t fileIndex,
                 const RecordReaderOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RECORDREADER_H
