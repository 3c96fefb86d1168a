//===- RTCallOps.cpp - Verifiers of what stages do ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/RT/IR/RT.h"

using namespace mlir;
using namespace pdlc::rt;

LogicalResult ViewOp::verify() {
  auto type = dyn_cast<MemRefType>(getResult().getType());
  if (!type || !type.getLayout().isIdentity())
    return emitOpError() << "views memory as " << getResult().getType()
                         << ", which is not row-major without gaps (C1)";
  for (int64_t i = 1; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      return emitOpError() << "views memory as " << type << ", whose dimension "
                           << i << " is dynamic (C1)";
  if ((type.getRank() > 0 && type.isDynamicDim(0)) !=
      static_cast<bool>(getSize()))
    return emitOpError("needs a size exactly for a dynamic first dimension "
                       "(C2)");
  return success();
}
