//===- Sha256.cpp - SHA-256 and HMAC-SHA-256 ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Sha256.h"

#include <bit>
#include <cstddef>
#include <string>

using namespace pdlrt;

static constexpr size_t blockSize = 64;

/// The first 32 bits of the fractional parts of the cube roots of the first 64
/// primes.
static constexpr uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;

static void addBlock(State &state, const uint8_t *block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t(block[4 * i]) << 24 | uint32_t(block[4 * i + 1]) << 16 |
           uint32_t(block[4 * i + 2]) << 8 | uint32_t(block[4 * i + 3]);
  for (int i = 16; i < 64; ++i) {
    const uint32_t low =
        std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t high =
        std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const uint32_t sumE = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t first =
        h + sumE + ((e & f) ^ (~e & g)) + roundConstants[i] + w[i];
    const uint32_t sumA = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t second = sumA + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const State added = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < added.size(); ++i)
    state[i] += added[i];
}

Sha256Digest pdlrt::sha256(std::string_view bytes) {
  State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  const size_t whole = bytes.size() / blockSize * blockSize;
  for (size_t at = 0; at < whole; at += blockSize)
    addBlock(state, data + at);
  // The padding: a one bit, zeros, and the number of bits.
  std::array<uint8_t, 2 * blockSize> end = {};
  const size_t left = bytes.size() - whole;
  for (size_t i = 0; i < left; ++i)
    end[i] = data[whole + i];
  end[left] = 0x80;
  const size_t size = left + 9 <= blockSize ? blockSize : 2 * blockSize;
  const uint64_t bits = uint64_t(bytes.size()) * 8;
  for (size_t i = 0; i < 8; ++i)
    end[size - 1 - i] = uint8_t(bits >> (8 * i));
  for (size_t at = 0; at < size; at += blockSize)
    addBlock(state, end.data() + at);
  Sha256Digest digest;
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = uint8_t(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

static std::string_view viewOf(const Sha256Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

Sha256Digest pdlrt::hmacSha256(std::string_view key, std::string_view bytes) {
  std::string padded(key);
  if (key.size() > blockSize)
    padded = viewOf(sha256(key));
  padded.resize(blockSize, '\0');
  std::string inner = padded, outer = padded;
  for (char &each : inner)
    each = char(each ^ 0x36);
  for (char &each : outer)
    each = char(each ^ 0x5c);
  inner += bytes;
  outer += viewOf(sha256(inner));
  return sha256(outer);
}

bool pdlrt::equalInConstantTime(std::string_view first,
                                std::string_view second) {
  // volatile, so that the compiler does not end the loop early.
  volatile unsigned difference = first.size() != second.size();
  if (first.size() == second.size())
    for (size_t i = 0; i < first.size(); ++i)
      difference = difference | uint8_t(first[i] ^ second[i]);
  return difference == 0;
}
