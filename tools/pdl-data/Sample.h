//===- Sample.h - Writes a part of the rows ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_SAMPLE_H
#define PDL_TOOLS_PDL_DATA_SAMPLE_H

#include "Input.h"

#include <cstdint>
#include <optional>
#include <string>

/// Flags of `sample`.
struct SampleFlags {
  std::optional<double> rate;   ///< Probability of each row.
  std::optional<int64_t> count; ///< Number of rows.
  uint64_t seed = 0;
  std::string output; ///< Empty: the standard output.
};

/// Writes a random part of the rows, as their bytes are in the files, in their
/// order. Which rows these are depends on the seed and on the numbers of the
/// rows over all files, not on how rows are divided into files. Returns the
/// exit status.
int sampleRows(InputFlags input, const SampleFlags &flags);

#endif // PDL_TOOLS_PDL_DATA_SAMPLE_H
