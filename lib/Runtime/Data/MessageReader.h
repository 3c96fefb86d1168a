//===- MessageReader.h - Reads messages of columns --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_MESSAGEREADER_H
#define LIB_RUNTIME_DATA_MESSAGEREADER_H

#include "Data/RecordReader.h"

#include <memory>
#include <string>
#include <string_view>

namespace pdlrt {

/// Opens partitions of a topic whose messages are Arrow IPC streams. A message
/// has the rows of its batches. One that cannot be read is one bad row. `name`:
/// the format in messages.
Expected<std::unique_ptr<RecordReader>>
openMessageReader(const std::string &address, int32_t fileIndex,
                  std::string_view name, const RecordReaderOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_MESSAGEREADER_H
