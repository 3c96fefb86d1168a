//===- RecordFraming.h - Records of a TFRecord file -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_RECORDFRAMING_H
#define LIB_RUNTIME_DATA_RECORDFRAMING_H

#include "Data/TFRecordFile.h"
#include "Data/WireWriter.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pdlrt {

/// Returns a record with its length and its checksums.
inline std::string framedRecord(std::string_view record) {
  const std::string length = bytesOf(uint64_t(record.size()));
  return length + bytesOf(maskedCrc32c(length)) + std::string(record) +
         bytesOf(maskedCrc32c(record));
}

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RECORDFRAMING_H
