//===- Sha256.h - SHA-256 and HMAC-SHA-256 ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_SHA256_H
#define PDLRT_CORE_SHA256_H

#include <array>
#include <cstdint>
#include <string_view>

namespace pdlrt {

using Sha256Digest = std::array<uint8_t, 32>;

/// Returns the SHA-256 digest of `bytes` (FIPS 180-4).
Sha256Digest sha256(std::string_view bytes);

/// Returns the HMAC-SHA-256 of `bytes` with the key `key` (RFC 2104).
Sha256Digest hmacSha256(std::string_view key, std::string_view bytes);

/// Returns true if two byte strings are equal. The time depends only on their
/// sizes, so it reveals nothing to an attacker who guesses.
bool equalInConstantTime(std::string_view first, std::string_view second);

} // namespace pdlrt

#endif // PDLRT_CORE_SHA256_H
