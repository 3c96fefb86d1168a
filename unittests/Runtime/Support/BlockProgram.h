//===- BlockProgram.h - State of many units, without stages -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The server part of a compiled program, written by hand. It has parameters
// with several blocks, a vector, and a parameter that is only read. Untouched
// rows of one table stay unchanged; all rows of the other one are updated. Two
// groups share a clip, and one has none. Tests provide the gradients.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_BLOCKPROGRAM_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_BLOCKPROGRAM_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/descriptor.h"

#include <memory>

struct BlockVariant {
  int32_t elementType = PDL_F32;
  /// True if the groups of @w, @b and @lazy are clipped together.
  bool clipped = false;
  /// LOCAL (with role LOCAL), SYNC or ASYNC (with role PSERVER).
  int32_t mode = PDL_MODE_SYNC;
  /// Merge rule of the groups.
  int32_t merge = PDL_MERGE_MEAN;
  /// True if the groups of @w, @b and @lazy use delay compensation.
  bool compensates = false;
};

/// Symbols: @w 300 x 3 in five blocks, rule with two slots; @b of 7; @c 130 x 2
/// in two blocks, never trained; tables @lazy of width 4, two slots; @all of
/// width 2, one slot, untouched(dense).
enum : int32_t { BlockW, BlockB, BlockC, BlockLazy, BlockAll, BlockSymbols };
/// Programs: @train; the frozen @evaluate reads @w, @c and both tables.
enum : int32_t { BlockTrain, BlockEvaluate, BlockPrograms };

/// A descriptor with everything that it refers to.
class BlockProgram {
public:
  explicit BlockProgram(const BlockVariant &variant);
  ~BlockProgram();
  const pdl_descriptor &descriptor() const;

private:
  struct Content;
  std::unique_ptr<Content> content;
};

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_BLOCKPROGRAM_H
