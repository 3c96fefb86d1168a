//===- Infer.h - Proposes a record for files --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_INFER_H
#define PDL_TOOLS_PDL_DATA_INFER_H

#include "Input.h"
#include "Proposal.h"
#include "pdlrt/Core/Status.h"

#include <string>

/// Flags of `infer`.
struct InferFlags {
  ModelKind model = ModelKind::WideDeep;
  bool isDialect = false;
  std::string label;  ///< Name of the column; empty: found by name and values.
  std::string output; ///< Empty: the standard output.
};

/// Reads the files and writes a proposal. Returns the exit status.
int inferRecord(InputFlags input, const InferFlags &flags);

#endif // PDL_TOOLS_PDL_DATA_INFER_H
