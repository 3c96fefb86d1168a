//===- SipHash.h - SipHash-2-4 with 128 bits --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_SIPHASH_H
#define PDLRT_CORE_SIPHASH_H

#include <array>
#include <cstdint>
#include <string_view>

namespace pdlrt {

using SipKey = std::array<uint64_t, 2>;
using SipDigest = std::array<uint64_t, 2>;

/// Returns the keyed digest of `bytes`: SipHash-2-4 with an output of 128 bits
/// (Aumasson and Bernstein). It takes about a tenth of a microsecond for 100
/// bytes. Key and digest are little-endian words.
SipDigest sipHash128(const SipKey &key, std::string_view bytes);

} // namespace pdlrt

#endif // PDLRT_CORE_SIPHASH_H
