//===- StrictKernelsV3.cpp - Strict products with AVX2 --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StrictKernelsImpl.h"
#include "StrictPackedImpl.h"
#include "Vectors256.h"

namespace pdlrt {

const StrictKernels strictKernelsV3 = {packedElements * int64_t(sizeof(double)),
                                       multiply<FloatVector>,
                                       multiply<DoubleVector>,
                                       multiplyBatch<FloatVector>,
                                       multiplyBatch<DoubleVector>,
                                       packWhole<FloatVector>,
                                       packWhole<DoubleVector>};

} // namespace pdlrt
