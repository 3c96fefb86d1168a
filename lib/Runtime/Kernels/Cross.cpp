//===- Cross.cpp - Hashed crosses of id features --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlrt/Core/Trace.h"

#include "pdlabi/hash.h"

#include <limits>

namespace {

constexpr int32_t bufferedOperands = 16;
/// A number of elements that no address space can hold. The size of such an
/// array in bytes still fits into 64 bits.
constexpr int64_t moreThanMemory = int64_t(1) << 56;

/// Returns xxh64 of the keys key(0) to key(operandCount - 1). Models usually
/// cross two or three features, which are hashed from a buffer. The streaming
/// functions of xxh64 support any number.
template <typename KeyOf>
int64_t hashKeys(int32_t operandCount, uint64_t salt, KeyOf keyOf) {
  if (operandCount <= bufferedOperands) {
    int64_t keys[bufferedOperands];
    for (int32_t i = 0; i < operandCount; ++i)
      keys[i] = keyOf(i);
    return pdlabi::crossKeys(keys, static_cast<size_t>(operandCount), salt);
  }
  XXH64_state_t state;
  XXH64_reset(&state, salt);
  for (int32_t i = 0; i < operandCount; ++i) {
    const int64_t key = keyOf(i);
    XXH64_update(&state, &key, sizeof(key));
  }
  return static_cast<int64_t>(XXH64_digest(&state));
}

/// Returns the number of combinations of the operands' ids in one bag, or the
/// maximum of int64_t if there are more.
int64_t combinations(int64_t bag, int32_t operandCount,
                     const int32_t *const *splits) {
  int64_t product = 1;
  bool overflow = false;
  for (int32_t i = 0; i < operandCount; ++i) {
    const int64_t size = splits[i][bag + 1] - splits[i][bag];
    if (size == 0)
      return 0;
    overflow |= __builtin_mul_overflow(product, size, &product);
  }
  return overflow ? std::numeric_limits<int64_t>::max() : product;
}

} // namespace

void pdlrt_cross(int64_t count, int32_t operandCount,
                 const int64_t *const *operands, uint64_t salt, int64_t *out) {
  const pdlrt::TraceSpan span("cross", {count});
  for (int64_t i = 0; i < count; ++i)
    out[i] = hashKeys(operandCount, salt,
                      [&](int32_t operand) { return operands[operand][i]; });
}

int64_t pdlrt_cross_ragged_count(int64_t bagCount, int32_t operandCount,
                                 const int32_t *const *splits) {
  int64_t total = 0;
  for (int64_t bag = 0; bag < bagCount; ++bag)
    if (__builtin_add_overflow(total, combinations(bag, operandCount, splits),
                               &total))
      return moreThanMemory;
  // Offsets into the result have 32 bits. This function cannot return an error,
  // so it returns a size that no allocation can satisfy.
  return total > std::numeric_limits<int32_t>::max() ? moreThanMemory : total;
}

void pdlrt_cross_ragged(int64_t bagCount, int32_t operandCount,
                        const int64_t *const *operands,
                        const int32_t *const *splits, uint64_t salt,
                        int64_t *out, int32_t *outSplits) {
  const pdlrt::TraceSpan span("cross ragged", {bagCount});
  int64_t position = 0;
  outSplits[0] = 0;
  for (int64_t bag = 0; bag < bagCount; ++bag) {
    const int64_t total = combinations(bag, operandCount, splits);
    for (int64_t combination = 0; combination < total; ++combination) {
      // `combination` is a number in a mixed radix, with one digit for each
      // operand. The first operand has the most significant digit.
      int64_t radix = total;
      int64_t rest = combination;
      out[position++] = hashKeys(operandCount, salt, [&](int32_t operand) {
        const int32_t begin = splits[operand][bag];
        radix /= splits[operand][bag + 1] - begin;
        const int64_t digit = rest / radix;
        rest %= radix;
        return operands[operand][begin + digit];
      });
    }
    outSplits[bag + 1] = static_cast<int32_t>(position);
  }
}
