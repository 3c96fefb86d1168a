//===- CachedReader.h - Rows that are parsed but once -----------*- C++ -*-===//
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

/// Opens a delimited text file beside `DataOptions::cache`: its cache, if there
/// is a whole one of what the file has now; else the text, whose cache is
/// written as rows are passed, and is whole when `RecordReader::finish` or a
/// read has come to the end of the file. What a reader says is the same. Where
/// a cache cannot be written, that is a warning, and the text is read.
Expected<std::unique_ptr<RecordReader>>
openCachedReader(const std::string &path, int32_t fileIndex,
                 const RecordReaderOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CACHEDREADER_H
