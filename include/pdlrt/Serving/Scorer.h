//===- Scorer.h - One batch through a frozen program ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a call needs besides the state: arenas, lookups and buffers, which grow
// to the largest batch and stay.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_SCORER_H
#define PDLRT_SERVING_SCORER_H

#include "pdl/serving.h"
#include "pdlabi/abi.h"
#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Serving/ServedState.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Scores with one program, for one thread at a time.
class Scorer {
public:
  /// Both outlive the scorer.
  Scorer(const pdl_descriptor &descriptor, const pdl_program &program);
  Scorer(const Scorer &) = delete;
  Scorer &operator=(const Scorer &) = delete;

  /// Scores a batch with the values of `state`: see `run` of pdl/serving.h.
  /// Inputs and outputs: by field and by output of the program. `areKeys`: by
  /// field, as `run_keys` has it; null: none are. Throws std::bad_alloc.
  Status run(const ServedState &state, int64_t batch,
             const pdl_serving_input *inputs, void *const *outputs,
             const int32_t *areKeys = nullptr);
  /// Whether the last run has failed for want of a server's answer.
  bool serverWasUnavailable() const { return isUnavailable; }

  /// Ids of samples, as often as they occur, and those of them whose key had no
  /// row.
  struct IdCounts {
    int64_t all = 0, unknown = 0;
  };
  /// Of the runs since it was asked last.
  IdCounts takeIdCounts();

private:
  Status takeInput(int32_t index, const pdl_serving_input &input, bool areKeys);
  Status fillMissing(const pdl_field &field, int32_t index,
                     pdl_field_data &data);
  template <typename T>
  Status replaceMissing(const pdl_field &field, int32_t index,
                        pdl_field_data &data);
  Status takeBags(const pdl_field &field, const pdl_serving_input &input,
                  pdl_field_data &data);
  Status hashTexts(const pdl_field &field, const pdl_serving_input &input,
                   int32_t index, pdl_field_data &data);
  Status askForRows(const RemoteRows &remote);
  size_t arenaBytes(const pdl_affine_size &size) const;

  const pdl_descriptor &descriptor;
  const pdl_program &program;
  Worker worker;
  pdl_step_context context = {};
  pdl_draws draws = {};
  std::vector<int64_t> sampleNumbers;
  std::vector<pdl_field_data> fields;
  std::vector<pdl_lookup> lookups;
  /// By field: values and splits that are made here.
  std::vector<AlignedBuffer> values, splits;
  std::vector<AlignedBuffer> outputBuffers;
  std::vector<void *> outputPointers;
  AlignedBuffer prepareArena, computeArena;
  std::vector<double> lossSums, weightSums;
  // Where rows are asked for: by symbol, no table; by lookup, its rows, and
  // which of them are unknown.
  std::vector<EmbeddingTable *> noTables;
  std::vector<WantedRows> wanted;
  std::vector<AlignedBuffer> remoteRows, unknownRows;
  /// Of those that were asked for.
  int64_t unknownIds = 0;
  /// Of `scratchOwner`, which stays as long.
  std::unique_ptr<RemoteRows::Scratch> remoteScratch;
  std::shared_ptr<const RemoteRows> scratchOwner;
  bool isUnavailable = false;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_SCORER_H
