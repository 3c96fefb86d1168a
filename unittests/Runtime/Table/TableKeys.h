//===- TableKeys.h - Tables and keys for tests ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_TABLE_TABLEKEYS_H
#define PDL_UNITTESTS_RUNTIME_TABLE_TABLEKEYS_H

#include "pdlrt/Table/EmbeddingTable.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace pdlrt {

inline TableOptions makeOptions(int32_t type = PDL_F32, int64_t width = 3) {
  TableOptions options;
  options.name = "emb";
  options.id = 99;
  options.elementType = type;
  options.width = width;
  options.initializer = {PDL_INIT_UNIFORM, -1, 1};
  options.slotInitialValues = {0, 0.125};
  options.seed = 5;
  return options;
}

/// Returns edge cases of keys, followed by `count` keys that are spread.
inline std::vector<int64_t> makeKeys(int64_t count) {
  std::vector<int64_t> keys = {0,
                               1,
                               -1,
                               std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max(),
                               int64_t(0x8000000000000001u)};
  uint64_t state = 3;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Half of them are dense and small, as ids often are.
    keys.push_back(i % 2 ? i : int64_t(state));
  }
  return keys;
}

} // namespace pdlrt

#endif // PDL_UNITTESTS_RUNTIME_TABLE_TABLEKEYS_H
