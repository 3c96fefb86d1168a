//===- SipHash.cpp - SipHash-2-4 with 128 bits ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/SipHash.h"

#include <bit>
#include <cstddef>
#include <cstring>

using namespace pdlrt;

static_assert(std::endian::native == std::endian::little,
              "words are read as they lie in memory");

namespace {

struct SipState {
  uint64_t v0, v1, v2, v3;

  void mix(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void add(uint64_t word) {
    v3 ^= word;
    mix(2);
    v0 ^= word;
  }
  uint64_t result() const { return v0 ^ v1 ^ v2 ^ v3; }
};

} // namespace

SipDigest pdlrt::sipHash128(const SipKey &key, std::string_view bytes) {
  // The constants are the text "somepseudorandomlygeneratedbytes".
  SipState state = {0x736f6d6570736575 ^ key[0],
                    0x646f72616e646f6d ^ key[1] ^ 0xee,
                    0x6c7967656e657261 ^ key[0], 0x7465646279746573 ^ key[1]};
  const size_t whole = bytes.size() / 8 * 8;
  for (size_t at = 0; at < whole; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    state.add(word);
  }
  uint64_t last = uint64_t(bytes.size()) << 56;
  for (size_t i = whole; i < bytes.size(); ++i)
    last |= uint64_t(uint8_t(bytes[i])) << (8 * (i - whole));
  state.add(last);
  state.v2 ^= 0xee;
  state.mix(4);
  SipDigest digest = {state.result(), 0};
  state.v1 ^= 0xdd;
  state.mix(4);
  digest[1] = state.result();
  return digest;
}
