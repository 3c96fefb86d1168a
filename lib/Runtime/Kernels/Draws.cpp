//===- Draws.cpp - Random numbers for samples -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/draws.h"
#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/status.h"
#include "pdlrt/Core/Trace.h"

#include <cmath>
#include <string>

using namespace pdlabi;

namespace {

// Number of blocks that are computed at a time, one in each lane of a vector.
constexpr int64_t drawLanes = 16;

/// Computes the words of `drawLanes` blocks from `first` on, block by block.
void drawBlocks(uint64_t key, uint32_t stream, int64_t sample, uint32_t first,
                uint32_t (&words)[4 * drawLanes]) {
  uint32_t key0 = static_cast<uint32_t>(key);
  uint32_t key1 = static_cast<uint32_t>(key >> 32);
  const auto bits = static_cast<uint64_t>(sample);
  // 64 bits wide for the products, so that vectors need not change their width.
  uint64_t c0[drawLanes], c1[drawLanes], c2[drawLanes], c3[drawLanes];
  for (int64_t l = 0; l < drawLanes; ++l) {
    c0[l] = static_cast<uint32_t>(bits);
    c1[l] = bits >> 32;
    c2[l] = static_cast<uint32_t>(first + static_cast<uint32_t>(l));
    c3[l] = stream;
  }
  // The same rounds as in pdlabi::philox.
  for (int round = 0; round < 10; ++round) {
    for (int64_t l = 0; l < drawLanes; ++l) {
      const uint64_t product0 = (c0[l] & 0xffffffffu) * uint64_t(0xd2511f53u);
      const uint64_t product1 = (c2[l] & 0xffffffffu) * uint64_t(0xcd9e8d57u);
      c0[l] = (product1 >> 32) ^ c1[l] ^ key0;
      c1[l] = product1 & 0xffffffffu;
      c2[l] = (product0 >> 32) ^ c3[l] ^ key1;
      c3[l] = product0 & 0xffffffffu;
    }
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  for (int64_t l = 0; l < drawLanes; ++l) {
    words[4 * l] = static_cast<uint32_t>(c0[l]);
    words[4 * l + 1] = static_cast<uint32_t>(c1[l]);
    words[4 * l + 2] = static_cast<uint32_t>(c2[l]);
    words[4 * l + 3] = static_cast<uint32_t>(c3[l]);
  }
}

/// Vectorized form of pdlabi::dropElements.
template <typename T>
void dropSample(const Dropout<T> &dropout, uint64_t key, uint32_t stream,
                int64_t sample, int64_t count, const T *values, T *out) {
  uint32_t words[4 * drawLanes];
  for (int64_t i = 0; i < count; i += 4 * drawLanes) {
    drawBlocks(key, stream, sample, static_cast<uint32_t>(i / 4), words);
    const int64_t rest = count - i < 4 * drawLanes ? count - i : 4 * drawLanes;
    for (int64_t j = 0; j < rest; ++j)
      out[i + j] = dropout(values[i + j], words[j]);
  }
}

template <typename T>
void dropRows(const pdl_draws &draws, uint32_t stream, double rate,
              int64_t width, int64_t bagCount, const int32_t *splits,
              const T *values, T *out) {
  const Dropout<T> dropout(rate);
  const uint64_t key = drawKey(draws.seed, draws.epoch);
  const int64_t slots = splits ? bagCount / draws.sample_count : 0;
  for (int64_t i = 0; i < draws.sample_count; ++i) {
    const int64_t rows =
        splits ? splits[(i + 1) * slots] - splits[i * slots] : 1;
    dropSample(dropout, key, stream, draws.samples[i], rows * width, values,
               out);
    values += rows * width;
    out += rows * width;
  }
}

template <typename T>
int32_t logProbabilities(int32_t distribution, int64_t first, int64_t end,
                         const double *logarithms, int64_t count,
                         const int64_t *ids, T *out) {
  const uint64_t size = rangeSize(first, end);
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] < first || ids[i] >= end) {
      const std::string message =
          "nn.log_probability meets the id " + std::to_string(ids[i]) +
          ", which nn.sample never draws from " + std::to_string(first) +
          " below " + std::to_string(end) +
          "; widen the range, or take the id out of the data";
      return pdlrt_set_error(PDL_INVALID_ARGUMENT, message.c_str());
    }
    out[i] = logProbability<T>(distribution, size, logarithms,
                               rangeSize(first, ids[i]));
    // Only draws by counts can have the probability 0.
    if (std::isinf(out[i])) {
      const std::string message =
          "nn.log_probability meets the id " + std::to_string(ids[i]) +
          ", whose count is 0, so that nn.sample never draws it; give it a "
          "count of 1, or take the id out of the data";
      return pdlrt_set_error(PDL_INVALID_ARGUMENT, message.c_str());
    }
  }
  return PDL_OK;
}

} // namespace

void pdlrt_sample(const pdl_draws *draws, int64_t stream, int32_t distribution,
                  int64_t count, int64_t first, int64_t end,
                  const double *table, int64_t *out) {
  const pdlrt::TraceSpan span("sample", {count});
  const uint64_t key = drawKey(draws->seed, draws->epoch);
  drawIds(distribution, first, end, table, key, static_cast<uint32_t>(stream),
          draws->samples, draws->sample_count, count, out);
}

int32_t pdlrt_log_probability(int32_t type, int32_t distribution, int64_t first,
                              int64_t end, const double *logarithms,
                              int64_t count, const int64_t *ids, void *out) {
  if (type == PDL_F64)
    return logProbabilities(distribution, first, end, logarithms, count, ids,
                            static_cast<double *>(out));
  return logProbabilities(distribution, first, end, logarithms, count, ids,
                          static_cast<float *>(out));
}

void pdlrt_dropout(const pdl_draws *draws, int64_t stream, int32_t type,
                   double rate, int64_t width, int64_t bagCount,
                   const int32_t *splits, const void *values, void *out) {
  const pdlrt::TraceSpan span("dropout", {width, bagCount});
  if (type == PDL_F64)
    dropRows(*draws, static_cast<uint32_t>(stream), rate, width, bagCount,
             splits, static_cast<const double *>(values),
             static_cast<double *>(out));
  else
    dropRows(*draws, static_cast<uint32_t>(stream), rate, width, bagCount,
             splits, static_cast<const float *>(values),
             static_cast<float *>(out));
}
