//===- RecordFraming.h - Records of a TFRecord file -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_RECORDFRAMING_H
#define PDL_TOOLS_PDL_DATA_RECORDFRAMING_H

#include "Data/TFRecordFile.h"

#include <cstdint>
#include <string>
#include <string_view>

/// Returns the bytes of a number, little-endian.
template <typename T> std::string bytesOf(T number) {
  return {reinterpret_cast<const char *>(&number), sizeof(number)}; // NOLINT
}

/// Returns a record with its length and its checksums.
inline std::string framedRecord(std::string_view record) {
  const std::string length = bytesOf(uint64_t(record.size()));
  return length + bytesOf(pdlrt::maskedCrc32c(length)) + std::string(record) +
         bytesOf(pdlrt::maskedCrc32c(record));
}

#endif // PDL_TOOLS_PDL_DATA_RECORDFRAMING_H
