//===- StateDigest.h - A number for a whole state ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_STATEDIGEST_H
#define PDLRT_STATE_STATEDIGEST_H

#include "pdlrt/State/Model.h"

#include <cstdint>

namespace pdlrt {

/// A hash of all values, slots, keys and step counts that a model holds: equal
/// for equal states, however they came about. Reads all of it once; the model
/// does not change meanwhile. Throws std::bad_alloc.
uint64_t digestOfState(const Model &model);

} // namespace pdlrt

#endif // PDLRT_STATE_STATEDIGEST_H
