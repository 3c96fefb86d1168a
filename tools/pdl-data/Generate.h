//===- Generate.h - Generates data like Criteo's ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_GENERATE_H
#define PDL_TOOLS_PDL_DATA_GENERATE_H

#include "HiddenModel.h"

#include <cstdint>
#include <string>

/// Flags of `generate`.
struct GenerateFlags {
  GenerateOptions model;
  int64_t rows = 0;
  int64_t firstRow = 0;
  std::string output; ///< Empty: the standard output, as tab-separated text.
  bool quiet = false;
};

/// Writes rows of a hidden model, and prints the best log loss and AUC that any
/// model can reach on them. Returns the exit status.
int generateRows(const GenerateFlags &flags);

#endif // PDL_TOOLS_PDL_DATA_GENERATE_H
