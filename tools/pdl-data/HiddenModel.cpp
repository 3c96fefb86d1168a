//===- HiddenModel.cpp - The model behind generated data ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HiddenModel.h"

#include "pdlabi/math.h"
#include "pdlabi/philox.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace {

/// Purposes of random numbers: each has counters of its own.
enum Purpose : uint32_t {
  LabelDraw,
  NumberDraw,
  IdDraw,
  FactorDraw,
  WeightDraw,
  TextDraw
};

} // namespace

static pdlabi::PhiloxBlock drawBlock(uint64_t seed, Purpose purpose,
                                     uint32_t column, uint64_t index) {
  return pdlabi::philox(
      {{uint32_t(index), uint32_t(index >> 32), column, uint32_t(purpose)}},
      seed);
}

/// Returns a number in [0, 1).
static double uniformOf(uint32_t word) { return word * 0x1p-32; }

/// Returns the sum of four uniform numbers, shifted and scaled to mean 0 and
/// deviation 1. It needs no function whose result depends on the machine.
static float roughNormal(const pdlabi::PhiloxBlock &block) {
  double sum = -2;
  for (const uint32_t word : block.words)
    sum += uniformOf(word);
  return float(sum * 1.7320508);
}

HiddenModel::HiddenModel(const GenerateOptions &options)
    : options(options), bias(-1.6F) {
  for (size_t k = 0; k < factors.size(); ++k)
    factors[k] = 0.08F * roughNormal(drawBlock(options.seed, FactorDraw,
                                               uint32_t(k), 0));
  // A third of the columns has few ids, and a third has many.
  for (size_t j = 0; j < vocabularies.size(); ++j) {
    const int64_t most = options.vocabulary;
    vocabularies[j] = j % 3 == 0 ? std::min<int64_t>(most, 4 + int64_t(j))
                      : j % 3 == 1
                          ? std::min<int64_t>(most, 100 + 20 * int64_t(j))
                          : std::max<int64_t>(1, most / int64_t(1 + j / 3));
  }
}

uint32_t HiddenModel::idText(size_t column, int64_t id) const {
  return drawBlock(options.seed, TextDraw, uint32_t(column), uint64_t(id))
      .words[0];
}

float HiddenModel::weightOf(size_t column, int64_t id, float cosine,
                            float sine) const {
  constexpr float deviation = 0.3F;
  const uint64_t index = 2 * uint64_t(id);
  float weight = cosine * roughNormal(drawBlock(options.seed, WeightDraw,
                                                uint32_t(column), index));
  if (sine != 0)
    weight += sine * roughNormal(drawBlock(options.seed, WeightDraw,
                                           uint32_t(column), index + 1));
  return deviation * weight;
}

GeneratedRow HiddenModel::row(int64_t number) const {
  // Shares of missing values, in 256ths.
  constexpr uint32_t missingNumbers = 26, missingIds = 13;
  constexpr int maxLog = 12;
  GeneratedRow row;
  float logit = bias;
  for (size_t k = 0; k < row.numbers.size(); ++k) {
    const pdlabi::PhiloxBlock block =
        drawBlock(options.seed, NumberDraw, uint32_t(k), uint64_t(number));
    if (k % 3 == 0 && block.words[1] >> 24 < missingNumbers) {
      row.numbers[k] = -1;
      continue;
    }
    // The logarithm is geometric: half of the counts are 0, a quarter 1 or 2.
    const int log = std::min(std::countl_zero(block.words[0]), maxLog);
    const int64_t bound = int64_t(1) << log;
    row.numbers[k] = bound - 1 + int64_t(block.words[2]) % bound;
    logit += factors[k] * pdlabi::log1p(float(row.numbers[k]));
  }
  const auto angle = float(options.drift * double(number) * 1e-6);
  const float cosine = pdlabi::cos(angle), sine = pdlabi::sin(angle);
  for (size_t j = 0; j < row.ids.size(); ++j) {
    const pdlabi::PhiloxBlock block =
        drawBlock(options.seed, IdDraw, uint32_t(j), uint64_t(number));
    if (j % 5 == 4 && block.words[1] >> 24 < missingIds) {
      row.ids[j] = -1;
      continue;
    }
    // Few ids are frequent: the fourth power of a uniform number.
    const double uniform = uniformOf(block.words[0]);
    const double skewed = uniform * uniform * uniform * uniform;
    row.ids[j] = int64_t(skewed * double(vocabularies[j]));
    logit += weightOf(j, row.ids[j], cosine, sine);
  }
  row.probability = pdlabi::sigmoid(logit);
  const pdlabi::PhiloxBlock block =
      drawBlock(options.seed, LabelDraw, 0, uint64_t(number));
  row.isClick = uniformOf(block.words[0]) < double(row.probability);
  return row;
}
