//===- LookupIds.cpp - How many ids a lookup takes -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LookupIds.h"

using namespace mlir;
using namespace pdlc;

/// Those of one input.
static int64_t idsOfInput(Value ids) {
  auto type = cast<RankedTensorType>(ids.getType());
  int64_t count = 1;
  for (int64_t size : type.getShape().drop_front())
    count *= size;
  if (count > 1)
    return count;
  if (auto argument = dyn_cast<BlockArgument>(ids)) {
    auto program = dyn_cast<nn::ProgramOp>(argument.getOwner()->getParentOp());
    if (!program)
      return 1;
    unsigned position = 0;
    for (nn::FieldOp field : program.getFields()) {
      if (position == argument.getArgNumber())
        return field.getWidth();
      position += field.isRagged() ? 2 : 1;
    }
    return 1;
  }
  if (auto reshape = ids.getDefiningOp<nn::ReshapeOp>())
    return idsOfInput(reshape.getInput());
  if (auto cross = ids.getDefiningOp<nn::CrossBagsOp>())
    return idsOfInput(cross.getIds().front());
  return 1;
}

int64_t pdlc::idsPerSample(nn::PullOp pull) {
  int64_t count = 0;
  if (auto unique = pull.getKeys().getDefiningOp<nn::UniqueOp>())
    for (Value input : unique.getIds())
      count += idsOfInput(input);
  return count;
}
