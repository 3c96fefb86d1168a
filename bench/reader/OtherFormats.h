//===- OtherFormats.h - The rows of the benchmark in other formats -*- C++
//-*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_BENCH_READER_OTHERFORMATS_H
#define PDL_BENCH_READER_OTHERFORMATS_H

#include <string>
#include <vector>

/// Rows in one format.
struct FormatRows {
  std::string format; ///< Value of --format.
  std::string bytes;
  /// The rows have only a label and one bag of ids with their numbers.
  bool isSparse = false;
};

/// Converts rows of tab-separated text: a label, numbers that may be missing,
/// and texts. A sparse format has all of them as features with the value 1, and
/// a format without missing numbers has zeros.
std::vector<FormatRows> inOtherFormats(const std::string &text,
                                       int64_t numbers);

#endif // PDL_BENCH_READER_OTHERFORMATS_H
