//===- HandWrittenProgram.h - A program written by hand ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The output of pdl-translate for one model, as C++: a logistic regression
//
//   z = dense . w + b + sum over slots and j of (j + 1) / 4 * pooled[slot][j],
//
// with per-sample weights, SGD for @w and @b, Adam for @emb, the metrics AUC,
// log loss and COPC, and the programs @train, @evaluate and @predict. It shows
// how the ABI is used, and allows testing the runtime without a compiler.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_HANDWRITTENPROGRAM_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_HANDWRITTENPROGRAM_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/descriptor.h"

#include <compare>

/// Differences of the hand-written program from its default.
struct ProgramVariant {
  int32_t elementType = PDL_F32;
  int32_t untouched = PDL_UNTOUCHED_LAZY;
  /// True if both groups are clipped together, at `handWrittenClipLimit`.
  bool clipped = false;
  /// `mode`: pdl_mode. `role`: pdl_role. Programs of a server have no stages.
  /// The state of a trainer has no groups, except in mode geo, in which it has
  /// those of a server.
  int32_t mode = PDL_MODE_LOCAL;
  int32_t role = PDL_ROLE_LOCAL;
  /// pdl_storage of the table's values.
  int32_t storage = PDL_STORE_ELEMENT;
  /// pdl_merge_kind of the table's group.
  int32_t tableMerge = PDL_MERGE_MEAN;

  auto operator<=>(const ProgramVariant &) const = default;
};

/// Returns the descriptor of a variant. It is created at the first use and
/// kept. Only one thread may call this at a time.
const pdl_descriptor *handWrittenProgram(const ProgramVariant &variant);

inline constexpr double handWrittenClipLimit = 0.05;
inline constexpr double handWrittenRate = 0.1;
inline constexpr int64_t handWrittenDense = 3;
inline constexpr int64_t handWrittenSlots = 2;
inline constexpr int64_t handWrittenWidth = 4;

/// Indices of fields and symbols.
enum : int32_t { FieldLabel, FieldWeight, FieldDense, FieldIds };
enum : int32_t { SymbolWeights, SymbolBias, SymbolTable };

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_HANDWRITTENPROGRAM_H
