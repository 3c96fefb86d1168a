//===- CtrDnn.h - A handwritten CTR-DNN training step -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference for compiled programs: 26 ids with embedding vectors of
// dimension 10 from one table and 13 numbers, three hidden layers of 400,
// sigmoid cross entropy, Adam for rows (only those of the batch) and for
// weights. One thread. Synthetic ids with skewed frequencies.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_BENCH_HANDWRITTEN_CTRDNN_H
#define PDL_BENCH_HANDWRITTEN_CTRDNN_H

#include "LocalTable.h"
#include "Measure.h"

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/symbols.h"
#include "pdlabi/math.h"
#include "pdlrt/Abi/Worker.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace pdlbench {

inline constexpr int64_t slots = 26;
inline constexpr int64_t numbers = 13;
inline constexpr int64_t pooled = slots * LocalTable::dimension;
inline constexpr int64_t widths[] = {pooled + numbers, 400, 400, 400, 1};
inline constexpr int layers = 4;

/// Returns the floating-point operations of the matrix products of a step, for
/// one sample. Each layer has three products: forward, gradient of its input,
/// and gradient of its weights.
inline double operationsInSample() {
  double operations = 0;
  for (int layer = 0; layer < layers; ++layer)
    operations += 6.0 * static_cast<double>(widths[layer] * widths[layer + 1]);
  return operations;
}

struct Batch {
  std::vector<int64_t> ids; // batch x slots
  std::vector<float> dense; // batch x numbers
  std::vector<float> labels;
};

inline Batch makeBatch(int64_t size, std::mt19937_64 &random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  Batch batch;
  for (int64_t sample = 0; sample < size; ++sample) {
    for (int64_t slot = 0; slot < slots; ++slot) {
      // Vocabularies have 10 to 10^6 ids; a few ids of each are frequent.
      const double vocabulary =
          std::pow(10.0, 1 + static_cast<double>(slot) / 5);
      const double skewed = std::pow(uniform(random), 4.0);
      batch.ids.push_back((slot << 40) |
                          static_cast<int64_t>(vocabulary * skewed));
    }
    for (int64_t i = 0; i < numbers; ++i)
      batch.dense.push_back(static_cast<float>(uniform(random)));
    batch.labels.push_back(uniform(random) < 0.25 ? 1.0f : 0.0f);
  }
  return batch;
}

struct AdamScalars {
  float rate, epsilon, correction;
};

/// Updates `count` elements of value, first and second moment.
inline void adam(int64_t count, float *value, float *first, float *second,
                 const float *gradient, float inverseWeight,
                 const AdamScalars &scalars) {
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * inverseWeight;
    first[i] = 0.9f * first[i] + 0.1f * g;
    second[i] = 0.999f * second[i] + 0.001f * (g * g);
    value[i] -= scalars.rate * first[i] /
                (std::sqrt(second[i]) * scalars.correction + scalars.epsilon);
  }
}

struct Parameter {
  std::vector<float> value, first, second, gradient;

  explicit Parameter(int64_t count, float scale, uint64_t symbol)
      : value(static_cast<size_t>(count)), first(value.size()),
        second(value.size()), gradient(value.size()) {
    const pdl_initializer uniform = {PDL_INIT_UNIFORM, -scale, scale};
    pdlabi::fillInitialValues(uniform, 1, symbol, 0, count, value.data());
  }
  void update(float inverseWeight, const AdamScalars &scalars) {
    adam(static_cast<int64_t>(value.size()), value.data(), first.data(),
         second.data(), gradient.data(), inverseWeight, scalars);
  }
};

/// CPU time of each part of a step in seconds.
struct Times {
  double lookup = 0, forward = 0, backward = 0, sparse = 0, dense = 0;
  double total() const { return lookup + forward + backward + sparse + dense; }
};

class HandwrittenTrainer {
public:
  HandwrittenTrainer(int32_t numerics, int64_t batchSize)
      : numerics(numerics), batchSize(batchSize), table(21) {
    for (int layer = 0; layer < layers; ++layer) {
      const int64_t in = widths[layer], out = widths[layer + 1];
      const float scale = std::sqrt(6.0f / static_cast<float>(in + out));
      weights.emplace_back(in * out, scale, 10 + layer);
      biases.emplace_back(out, 0.0f, 20 + layer);
      activations.emplace_back(static_cast<size_t>(batchSize * in));
      cotangents.emplace_back(static_cast<size_t>(batchSize * in));
    }
    logits.resize(static_cast<size_t>(batchSize));
    logitCotangents.resize(logits.size());
  }

  /// Runs one step and returns the mean loss.
  double step(const Batch &batch, Times &times) {
    const double start = threadSeconds();
    lookup(batch);
    const double looked = threadSeconds();
    const double loss = forward(batch);
    const double forwarded = threadSeconds();
    backward();
    const double backwarded = threadSeconds();
    ++steps;
    const double correction1 = 1 - std::pow(0.9, steps);
    const double correction2 = 1 - std::pow(0.999, steps);
    const AdamScalars scalars = {
        static_cast<float>(1e-3 / correction1), 1e-8f,
        static_cast<float>(1 / std::sqrt(correction2))};
    updateRows(scalars);
    const double sparse = threadSeconds();
    const float inverse = 1.0f / static_cast<float>(batchSize);
    for (int layer = 0; layer < layers; ++layer) {
      weights[static_cast<size_t>(layer)].update(inverse, scalars);
      biases[static_cast<size_t>(layer)].update(inverse, scalars);
    }
    const double dense = threadSeconds();
    times.lookup += looked - start;
    times.forward += forwarded - looked;
    times.backward += backwarded - forwarded;
    times.sparse += sparse - backwarded;
    times.dense += dense - sparse;
    return loss / static_cast<double>(batchSize);
  }

  int64_t rows() const { return table.size(); }
  double uniqueKeys() const {
    return static_cast<double>(occurrences.keys.size());
  }

private:
  void multiply(bool transposeA, bool transposeB, int64_t m, int64_t n,
                int64_t k, const float *a, const float *b, float *c,
                std::initializer_list<pdl_post> posts) {
    pdlrt_gemm(&worker, PDL_F32, numerics, transposeA, transposeB, m, n, k, a,
               b, c, n, static_cast<int32_t>(posts.size()), posts.begin());
  }

  /// Finds distinct keys and their rows, and writes the first layer's input.
  void lookup(const Batch &batch) {
    occurrences.build(batch.ids);
    table.find(occurrences.keys, rowPointers);
    float *out = activations[0].data();
    for (int64_t sample = 0; sample < batchSize; ++sample) {
      const int32_t *inverse = occurrences.inverse.data() + sample * slots;
      for (int64_t slot = 0; slot < slots; ++slot)
        std::memcpy(out + slot * LocalTable::dimension,
                    rowPointers[static_cast<size_t>(inverse[slot])],
                    LocalTable::dimension * sizeof(float));
      std::memcpy(out + pooled, batch.dense.data() + sample * numbers,
                  numbers * sizeof(float));
      out += widths[0];
    }
  }

  double forward(const Batch &batch) {
    for (size_t layer = 0; layer < layers; ++layer) {
      const pdl_post bias = {PDL_POST_BIAS, biases[layer].value.data()};
      float *out =
          layer + 1 < layers ? activations[layer + 1].data() : logits.data();
      const float *in = activations[layer].data();
      const float *weight = weights[layer].value.data();
      if (layer + 1 < layers)
        multiply(false, false, batchSize, widths[layer + 1], widths[layer], in,
                 weight, out, {bias, {PDL_POST_RELU, nullptr}});
      else
        multiply(false, false, batchSize, widths[layer + 1], widths[layer], in,
                 weight, out, {bias});
    }
    double loss = 0;
    for (size_t i = 0; i < logits.size(); ++i) {
      const float z = logits[i];
      const float y = batch.labels[i];
      loss += static_cast<double>(std::max(z, 0.0f) - z * y +
                                  pdlabi::log1p(pdlabi::exp(-std::fabs(z))));
      logitCotangents[i] = pdlabi::sigmoid(z) - y;
    }
    return loss;
  }

  void backward() {
    const float *cotangent = logitCotangents.data();
    for (size_t layer = layers; layer-- > 0;) {
      const int64_t in = widths[layer], out = widths[layer + 1];
      multiply(true, false, in, out, batchSize, activations[layer].data(),
               cotangent, weights[layer].gradient.data(), {});
      float *bias = biases[layer].gradient.data();
      std::fill_n(bias, out, 0.0f);
      for (int64_t sample = 0; sample < batchSize; ++sample)
        for (int64_t i = 0; i < out; ++i)
          bias[i] += cotangent[sample * out + i];
      float *next = cotangents[layer].data();
      // The dense features need no gradient, so the last 13 rows of this
      // product are omitted.
      if (layer > 0)
        multiply(false, true, batchSize, in, out, cotangent,
                 weights[layer].value.data(), next,
                 {{PDL_POST_RELU_GRADIENT, activations[layer].data()}});
      else
        multiply(false, true, batchSize, pooled, out, cotangent,
                 weights[layer].value.data(), next, {});
      cotangent = next;
    }
  }

  void updateRows(const AdamScalars &scalars) {
    constexpr int dimension = LocalTable::dimension;
    const float inverse = 1.0f / static_cast<float>(batchSize);
    const float *cotangent = cotangents[0].data();
    for (size_t key = 0; key < rowPointers.size(); ++key) {
      if (key + 8 < rowPointers.size()) {
        __builtin_prefetch(rowPointers[key + 8], 1);
        __builtin_prefetch(rowPointers[key + 8] + 16, 1);
      }
      float gradient[dimension] = {};
      for (int32_t i = occurrences.splits[key]; i < occurrences.splits[key + 1];
           ++i) {
        // Positions count samples and slots in the order of the gradient's
        // columns.
        const float *from =
            cotangent +
            int64_t(occurrences.positions[static_cast<size_t>(i)]) * dimension;
        for (int d = 0; d < dimension; ++d)
          gradient[d] += from[d];
      }
      float *row = rowPointers[key];
      adam(dimension, row, row + dimension, row + 2 * dimension, gradient,
           inverse, scalars);
    }
  }

  int32_t numerics;
  int64_t batchSize;
  LocalTable table;
  pdlrt::Worker worker;
  Occurrences occurrences;
  std::vector<float *> rowPointers;
  std::vector<Parameter> weights, biases;
  std::vector<std::vector<float>> activations, cotangents;
  std::vector<float> logits, logitCotangents;
  int64_t steps = 0;
};

} // namespace pdlbench

#endif // PDL_BENCH_HANDWRITTEN_CTRDNN_H
