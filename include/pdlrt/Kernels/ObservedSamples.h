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

/// A copy of the observations of a program's metrics in one batch, for access
/// to individual samples. Not thread-safe.
class ObservedSamples {
public:
  /// One observation call of a metric. If a program observes a metric twice,
  /// there are two of them.
  struct Observation {
    /// The sums to which the metric adds; they identify the metric.
    const double *sums = nullptr;
    /// pdl_element_type of all arrays except groups.
    int32_t type = PDL_F32;
    int64_t count = 0;
    /// Elements per sample.
    int64_t width = 1, labelWidth = 1;
    /// Row by row; labels, weights and groups are empty if there are none.
    std::vector<std::byte> predictions, labels, weights;
    std::vector<int64_t> groups;
  };

  /// While it exists, observations of metrics in its thread are copied to
  /// `who`, after those of the previous batch were removed. Null: nothing is
  /// copied.
  class Scope {
  public:
    explicit Scope(ObservedSamples *who);
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope();

  private:
    ObservedSamples *before;
  };
  /// Returns the object for this thread's observations; null if there is none.
  static ObservedSamples *ofThread();

  /// Copies an observation. The arguments are those of `pdlrt_observe`;
  /// `groups` may be null, like weights and labels. Does not throw: if memory
  /// is exhausted, the observation is lost.
  void add(int32_t type, int64_t count, int64_t width, const void *predictions,
           int64_t labelWidth, const void *labels, const void *weights,
           const int64_t *groups, const double *sums) noexcept;

  /// Returns the observations in the order of the program.
  const std::vector<Observation> &all() const { return observations; }
  /// Returns true if memory was too low for some observations of the batch.
  bool lostSome() const { return hasLost; }

private:
  void clear();

  std::vector<Observation> observations;
  bool hasLost = false;
};

} // namespace pdlrt

#endif // PDLRT_KERNELS_OBSERVEDSAMPLES_H
