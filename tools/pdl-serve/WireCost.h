//===- WireCost.h - What a message takes when it is parsed ---- -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_WIRECOST_H
#define PDLSERVE_WIRECOST_H

#include "Outcome.h"

#include <cstdint>
#include <google/protobuf/io/zero_copy_stream.h>

namespace pdlserve {

/// Finds an upper bound of the bytes that a ModelInferRequest takes when it is
/// parsed, which may be 50 times those of the message, without parsing it. Not
/// ok: it is no such message, or has more inputs, outputs or parameters than a
/// request may have.
Outcome findCost(google::protobuf::io::ZeroCopyInputStream &message,
                 uint64_t &cost);

} // namespace pdlserve

#endif // PDLSERVE_WIRECOST_H
