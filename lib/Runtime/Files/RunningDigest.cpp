//===- RunningDigest.cpp - Incremental digest of a file -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/RunningDigest.h"

#include <xxhash.h>

using namespace pdlrt;

struct RunningDigest::State {
  State() { XXH3_64bits_reset(&hash); }
  XXH3_state_t hash;
};

RunningDigest::RunningDigest() : state(std::make_unique<State>()) {}

RunningDigest::~RunningDigest() = default;

void RunningDigest::add(const void *bytes, size_t more) {
  XXH3_64bits_update(&state->hash, bytes, more);
  count += more;
}

FileDigest RunningDigest::digest() const {
  return {count, XXH3_64bits_digest(&state->hash)};
}
