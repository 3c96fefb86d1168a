//===- ColumnReader.h - Reads records from files of columns -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNREADER_H
#define LIB_RUNTIME_DATA_COLUMNREADER_H

#include "Data/ColumnFileApi.h"
#include "Data/RecordReader.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pdlrt {

/// A message of a topic: an Arrow IPC stream in memory.
struct ColumnMessage {
  std::string_view bytes; ///< Must outlive the reader.
  /// Name in messages about its rows, such as "kafka://host:9092/clicks[3]@17".
  std::string place;
  /// Name in warnings, which are logged once for all messages.
  std::string topic;
  /// Sample number (pdl_draws) of the first row (`sampleOfMessageRow`); none:
  /// those of the caller.
  std::optional<int64_t> sample;
};

/// Opens a message. Sets `rows` to the number of its rows. `name`: the format
/// in messages.
Expected<std::unique_ptr<RecordReader>>
openColumnMessage(const ColumnMessage &message, int32_t fileIndex,
                  std::string_view name, const RecordReaderOptions &options,
                  int64_t &rows);

/// Opens a Parquet or Arrow file. Only the columns that the program reads are
/// decoded, a part of a row group at a time. `name`: the format in messages.
Expected<std::unique_ptr<RecordReader>>
openColumnReader(const std::string &path, int32_t fileIndex,
                 PdlColumnFormat format, std::string_view name,
                 const RecordReaderOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNREADER_H
