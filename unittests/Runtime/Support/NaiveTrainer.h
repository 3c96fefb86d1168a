//===- NaiveTrainer.h - The hand-written model, plainly ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_NAIVETRAINER_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_NAIVETRAINER_H

#include "HandWrittenProgram.h"

#include "pdlrt/Engine/BatchContext.h"
#include "pdlrt/Table/InitialValues.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Samples of one replica in the layout of the ABI.
template <typename T> struct Samples {
  std::vector<T> label, weight, dense;
  std::vector<int64_t> ids;
  std::vector<int32_t> splits = {0};
  std::vector<pdl_field_data> fields;

  int64_t count() const { return int64_t(label.size()); }

  /// Adds a sample with one bag of ids for each slot.
  void add(T y, T sampleWeight, std::array<T, handWrittenDense> x,
           std::array<std::vector<int64_t>, handWrittenSlots> bags) {
    label.push_back(y);
    weight.push_back(sampleWeight);
    dense.insert(dense.end(), x.begin(), x.end());
    for (const std::vector<int64_t> &bag : bags) {
      ids.insert(ids.end(), bag.begin(), bag.end());
      splits.push_back(int32_t(ids.size()));
    }
  }

  /// Returns the engine's input; valid until the next `add`.
  pdlrt::StepInput input() {
    fields = {{label.data(), nullptr, count()},
              {weight.data(), nullptr, count()},
              {dense.data(), nullptr, int64_t(dense.size())},
              {ids.data(), splits.data(), int64_t(ids.size())}};
    return {fields.data(), count(), 7, "samples.tsv"};
  }
};

/// Returns a pseudo-random batch; equal arguments give equal samples. Weights
/// are between 0.5 and 1.5, ids between 0 and `idCount - 1`.
template <typename T>
Samples<T> makeSamples(uint64_t seed, int64_t count, int64_t idCount = 40) {
  uint64_t state = seed * 2 + 1;
  auto uniform = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return T(state >> 40) * T(0x1p-24);
  };
  Samples<T> samples;
  for (int64_t i = 0; i < count; ++i) {
    std::array<T, handWrittenDense> x;
    for (T &value : x)
      value = uniform() - T(0.5);
    std::array<std::vector<int64_t>, handWrittenSlots> bags;
    for (std::vector<int64_t> &bag : bags)
      for (int64_t n = int64_t(uniform() * 4); n > 0; --n)
        bag.push_back(int64_t(uniform() * T(idCount)));
    T y = T(uniform() < T(0.4) + x[0]);
    samples.add(y, T(0.5) + uniform(), x, bags);
  }
  return samples;
}

/// The model in double precision, sample by sample, with textbook formulas and
/// ordered maps; the reference for the engine.
class NaiveTrainer {
public:
  explicit NaiveTrainer(const pdl_descriptor &descriptor, uint64_t seed,
                        bool clipped, bool updatesUntouched)
      : descriptor(descriptor), seed(seed), clipped(clipped),
        updatesUntouched(updatesUntouched) {
    const pdl_symbol &w = descriptor.symbols[SymbolWeights];
    for (int64_t r = 0; r < handWrittenDense; ++r)
      pdlrt::fillInitialValues(PDL_F64, w.initializer, seed, w.id, r, 1,
                               &weights[r]);
  }

  struct Row {
    std::array<double, handWrittenWidth> value, m, v;
  };

  /// Runs one step over the samples of all replicas. Returns the mean loss.
  double step(const std::vector<const Samples<double> *> &replicas) {
    std::array<double, handWrittenDense> dw = {};
    std::map<int64_t, std::array<double, handWrittenWidth>> rowGradients;
    double db = 0, loss = 0, weight = 0;
    for (const Samples<double> *samples : replicas) {
      for (int64_t i = 0; i < samples->count(); ++i) {
        double z = bias;
        for (int64_t j = 0; j < handWrittenDense; ++j)
          z += weights[j] * samples->dense[i * handWrittenDense + j];
        auto forEachId = [&](auto visit) {
          for (int32_t o = samples->splits[i * handWrittenSlots];
               o < samples->splits[(i + 1) * handWrittenSlots]; ++o)
            visit(samples->ids[o]);
        };
        forEachId([&](int64_t key) {
          for (int64_t j = 0; j < handWrittenWidth; ++j)
            z += row(key).value[j] * double(j + 1) / 4;
        });
        const double y = samples->label[i];
        const double p = 1 / (1 + std::exp(-z));
        loss -=
            samples->weight[i] * (y * std::log(p) + (1 - y) * std::log1p(-p));
        weight += samples->weight[i];
        const double dz = (p - y) * samples->weight[i];
        db += dz;
        for (int64_t j = 0; j < handWrittenDense; ++j)
          dw[j] += dz * samples->dense[i * handWrittenDense + j];
        forEachId([&](int64_t key) {
          for (int64_t j = 0; j < handWrittenWidth; ++j)
            rowGradients[key][j] += dz * double(j + 1) / 4;
        });
      }
    }
    ++steps;
    double factor = 1 / weight;
    if (clipped) {
      double squares = db * db;
      for (double g : dw)
        squares += g * g;
      for (const auto &[key, gradient] : rowGradients)
        for (double g : gradient)
          squares += g * g;
      const double norm = std::sqrt(squares) / weight;
      if (norm > handWrittenClipLimit)
        factor *= handWrittenClipLimit / norm;
    }
    bias -= handWrittenRate * db * factor;
    for (int64_t j = 0; j < handWrittenDense; ++j)
      weights[j] -= handWrittenRate * dw[j] * factor;
    if (updatesUntouched)
      for (auto &[key, known] : rows)
        rowGradients[key];
    for (const auto &[key, gradient] : rowGradients)
      updateRow(row(key), gradient, factor);
    return loss / weight;
  }

  std::array<double, handWrittenDense> weights;
  double bias = 0.25;
  std::map<int64_t, Row> rows;

private:
  Row &row(int64_t key) {
    auto [found, isNew] = rows.try_emplace(key);
    if (isNew) {
      const pdl_symbol &table = descriptor.symbols[SymbolTable];
      found->second = {};
      pdlrt::fillInitialValues(PDL_F64, table.initializer, seed, table.id, key,
                               handWrittenWidth, found->second.value.data());
    }
    return found->second;
  }
  void updateRow(Row &target,
                 const std::array<double, handWrittenWidth> &gradient,
                 double factor) {
    for (int64_t j = 0; j < handWrittenWidth; ++j) {
      const double g = gradient[j] * factor;
      target.m[j] = 0.9 * target.m[j] + 0.1 * g;
      target.v[j] = 0.999 * target.v[j] + 0.001 * g * g;
      target.value[j] -=
          handWrittenRate * (target.m[j] / (1 - std::pow(0.9, steps))) /
          (std::sqrt(target.v[j] / (1 - std::pow(0.999, steps))) + 1e-8);
    }
  }

  const pdl_descriptor &descriptor;
  uint64_t seed;
  bool clipped, updatesUntouched;
  int64_t steps = 0;
};

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_NAIVETRAINER_H
