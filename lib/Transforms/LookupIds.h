//===- LookupIds.h - How many ids a lookup takes ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_LOOKUPIDS_H
#define LIB_TRANSFORMS_LOOKUPIDS_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc {

/// How many ids a pull looks up for one sample, a bag counting as one id; an
/// estimate, for costs and reports.
int64_t idsPerSample(nn::PullOp pull);

} // namespace pdlc

#endif // LIB_TRANSFORMS_LOOKUPIDS_H
