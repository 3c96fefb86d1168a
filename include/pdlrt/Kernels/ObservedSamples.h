//===- ObservedSamples.h - Observations of metrics in a batch ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_KERNELS_OBSERVEDSAMPLES_H
#define PDLRT_KERNELS_OBSERVEDSAMPLES_H

#include "pdlabi/abi/codes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pdlrt {

/// A copy of the samples that the metrics of a program have observed in one
/// batch. Sums of metrics do not contain individual samples. Not thread-safe.
class ObservedSamples {
public:
  /// The arguments of one call of `pdlrt_observe`. A program may call it
  /// several times for one metric.
  struct Observation {
    /// The sums to which the metric adds; they identify the metric.
    const double *sums = nullptr;
    /// pdl_element_type of `predictions`, `labels` and `weights`.
    int32_t type = PDL_F32;
    int64_t count = 0;
    /// Elements per sample of `predictions`, and of `labels`.
    int64_t width = 1, labelWidth = 1;
    /// Arrays with one row per sample. `labels`, `weights` and `groups` are
    /// empty if the metric has none.
    std::vector<std::byte> predictions, labels, weights;
    std::vector<int64_t> groups;
  };

  /// Copies the observations of metrics in the calling thread to `who` during
  /// its lifetime. The constructor removes the observations of the previous
  /// batch from `who`. If `who` is null, copies nothing.
  class Scope {
  public:
    explicit Scope(ObservedSamples *who);
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope();

  private:
    ObservedSamples *before;
  };
  /// Returns the object to which a Scope copies the observations of the calling
  /// thread; null if there is no Scope.
  static ObservedSamples *ofThread();

  /// Copies an observation. The arguments are those of `pdlrt_observe`.
  /// `labels`, `weights` and `groups` may be null. If memory is exhausted, the
  /// observation is lost (`lostSome`).
  void add(int32_t type, int64_t count, int64_t width, const void *predictions,
           int64_t labelWidth, const void *labels, const void *weights,
           const int64_t *groups, const double *sums) noexcept;

  /// Returns the observations in the order of the program.
  const std::vector<Observation> &all() const { return observations; }
  /// Returns true if some observations of the batch were not copied, because
  /// memory was exhausted.
  bool lostSome() const { return hasLost; }

private:
  void clear();

  std::vector<Observation> observations;
  bool hasLost = false;
};

} // namespace pdlrt

#endif // PDLRT_KERNELS_OBSERVEDSAMPLES_H
