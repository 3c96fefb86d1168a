//===- ObservedSamples.h - What metrics are told of a batch -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_KERNELS_OBSERVEDSAMPLES_H
#define PDLRT_KERNELS_OBSERVEDSAMPLES_H

#include "pdlabi/abi.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pdlrt {

/// A copy of what the metrics of a program are told of one batch, for who wants
/// to see it sample by sample. Not thread-safe.
class ObservedSamples {
public:
  /// What one metric was told at once. A metric that a program observes twice
  /// has two of them.
  struct Observation {
    /// Those that the metric adds to, by which its name is found.
    const double *sums = nullptr;
    /// pdl_element_type of all but groups.
    int32_t type = PDL_F32;
    int64_t count = 0;
    /// Elements a sample.
    int64_t width = 1, labelWidth = 1;
    /// Row by row; labels, weights and groups are empty where there are none.
    std::vector<std::byte> predictions, labels, weights;
    std::vector<int64_t> groups;
  };

  /// While it lives, metrics that its thread tells are copied to `who`, from
  /// which those of the batch before are gone; null: nothing is.
  class Scope {
  public:
    explicit Scope(ObservedSamples *who);
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope();

  private:
    ObservedSamples *before;
  };
  /// Null: nobody wants to see what this thread tells.
  static ObservedSamples *ofThread();

  /// Arguments as those of `pdlrt_observe`; `groups` may be null, as weights
  /// and labels may. Throws nothing: what there is no memory for is lost.
  void add(int32_t type, int64_t count, int64_t width, const void *predictions,
           int64_t labelWidth, const void *labels, const void *weights,
           const int64_t *groups, const double *sums) noexcept;

  /// In the order of the program.
  const std::vector<Observation> &all() const { return observations; }
  /// Whether there was no memory for some of the batch.
  bool lostSome() const { return hasLost; }

private:
  void clear();

  std::vector<Observation> observations;
  bool hasLost = false;
};

} // namespace pdlrt

#endif // PDLRT_KERNELS_OBSERVEDSAMPLES_H
