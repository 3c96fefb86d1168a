//===- WireCost.h - Memory cost of parsing a message ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_WIRECOST_H
#define PDL_TOOLS_PDL_SERVE_WIRECOST_H

#include "Outcome.h"

#include <cstdint>
#include <google/protobuf/io/zero_copy_stream.h>

namespace pdlserve {

/// Sets `cost` to an upper bound of the memory that a ModelInferRequest needs
/// when it is parsed, which may be 50 times the size of the message. Does not
/// parse the message. Returns an error if the bytes are no such message, or if
/// it has too many inputs, outputs or parameters.
Outcome findCost(google::protobuf::io::ZeroCopyInputStream &message,
                 uint64_t &cost);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_WIRECOST_H
