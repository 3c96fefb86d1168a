//===- StrictKernelsV4.cpp - Strict products with AVX-512 -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StrictKernelsImpl.h"
#include "StrictPackedImpl.h"
#include "StrictPrefetchImpl.h"
#include "Vectors512.h"

namespace pdlrt {

const StrictKernels strictKernelsV4 = {packedElements * int64_t(sizeof(double)),
                                       multiply<FloatVector>,
                                       multiply<DoubleVector>,
                                       multiplyBatch<FloatVector>,
                                       multiplyBatch<DoubleVector>,
                                       packWhole<FloatVector>,
                                       packWhole<DoubleVector>};

const StrictKernels strictKernelsV4Prefetching = {packedElements *
                                                      int64_t(sizeof(double)),
                                                  multiplyAhead<FloatVector>,
                                                  multiplyAhead<DoubleVector>,
                                                  multiplyBatch<FloatVector>,
                                                  multiplyBatch<DoubleVector>,
                                                  packWhole<FloatVector>,
                                                  packWhole<DoubleVector>};

} // namespace pdlrt
