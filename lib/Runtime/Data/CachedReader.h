//===- CachedReader.h - Reads parsed rows from a cache ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_CACHEDREADER_H
#define LIB_RUNTIME_DATA_CACHEDREADER_H

#include "Data/RecordReader.h"

#include <memory>
#include <string>

namespace pdlrt {

class FileFormat;

/// Opens a file of that format with `DataOptions::cache`. If there is a
/// complete cache of the file's current content, reads that. Otherwise reads
/// the file and writes a cache, which is complete when `RecordReader::finish`
/// or a read has reached the end of the file. Both give the same results. If a
/// cache cannot be written, logs a warning and reads the file.
Expected<std::unique_ptr<RecordReader>>
openCachedReader(const FileFormat &format, const std::string &path,
                 int32_t fileIndex, const RecordReaderOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CACHEDREADER_H
