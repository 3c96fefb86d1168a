//===- StateDigest.h - Hash of a model's state ------------------*- C++ -*-===//
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

/// Returns a hash of all values, slots, keys and step counts of a model. Equal
/// states have equal hashes, whatever their history. Reads the whole state
/// once. The model must not change during the call. Throws std::bad_alloc.
uint64_t digestOfState(const Model &model);

} // namespace pdlrt

#endif // PDLRT_STATE_STATEDIGEST_H
