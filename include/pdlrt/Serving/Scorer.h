//===- Scorer.h - Runs one batch through a frozen program -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contains everything a call needs in addition to the state: arenas, lookups
// and buffers. They grow to the largest batch and are kept.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_SCORER_H
#define PDLRT_SERVING_SCORER_H

#include "pdl/serving.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Serving/ServedState.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Runs one program. Not thread-safe.
class Scorer {
public:
  /// Both arguments must outlive the scorer.
  Scorer(const pdl_descriptor &descriptor, const pdl_program &program);
  Scorer(const Scorer &) = delete;
  Scorer &operator=(const Scorer &) = delete;

  /// Scores a batch with the values of `state`; see `run` of pdl/serving.h.
  /// Inputs are by field, outputs by output of the program. `areKeys`: by
  /// field, as in `run_keys`; null: no input has keys. Throws std::bad_alloc.
  Status run(const ServedState &state, int64_t batch,
             const pdl_serving_input *inputs, void *const *outputs,
             const int32_t *areKeys = nullptr);
  /// Returns true if the last run failed because a server did not respond.
  bool serverWasUnavailable() const { return isUnavailable; }

  /// Number of ids in samples, including duplicates, and of those whose key had
  /// no row.
  struct IdCounts {
    int64_t all = 0, unknown = 0;
  };
  /// Returns the counts since the previous call.
  IdCounts takeIdCounts();

private:
  Status takeInput(int32_t index, const pdl_serving_input &input, bool areKeys);
  Status fillMissing(const pdl_field &field, int32_t index,
                     pdl_field_data &data);
  template <typename T>
  Status replaceMissing(const pdl_field &field, int32_t index,
                        pdl_field_data &data);
  template <typename T>
  Status takeBagValues(const pdl_field &field, const void *from, int32_t index,
                       pdl_field_data &data);
  void takeValues(const void *from, size_t bytes, int32_t index,
                  pdl_field_data &data);
  /// Returns true if the program joins the bags of that field with others.
  bool isJoined(int32_t index) const;
  Status checkJoined() const;
  Status takeBags(const pdl_field &field, const pdl_serving_input &input,
                  pdl_field_data &data);
  Status hashTexts(const pdl_field &field, const pdl_serving_input &input,
                   int32_t index, pdl_field_data &data);
  Status requestRows(const RemoteRows &remote);
  size_t arenaBytes(const pdl_affine_size &size) const;

  const pdl_descriptor &descriptor;
  const pdl_program &program;
  Worker worker;
  pdl_step_context context = {};
  pdl_draws draws = {};
  std::vector<int64_t> sampleNumbers;
  std::vector<pdl_field_data> fields;
  std::vector<pdl_lookup> lookups;
  /// Indexed by field: values and splits that the scorer creates.
  std::vector<AlignedBuffer> values, splits;
  /// Indexed by field and bag, for joined fields: a digest of the positions of
  /// omitted missing ids; 0: none. Empty if no bag has omitted ids.
  std::vector<std::vector<uint64_t>> leftOut;
  std::vector<AlignedBuffer> outputBuffers;
  std::vector<void *> outputPointers;
  AlignedBuffer prepareArena, computeArena;
  std::vector<double> lossSums, weightSums;
  // For rows that are requested from servers. By symbol: null; by lookup: its
  // rows, and which of them are unknown.
  std::vector<EmbeddingTable *> noTables;
  std::vector<WantedRows> wanted;
  std::vector<AlignedBuffer> remoteRows, unknownRows;
  /// Number of unknown ids among requested rows.
  int64_t unknownIds = 0;
  /// Belongs to `scratchOwner`, which keeps its rows alive.
  std::unique_ptr<RemoteRows::Scratch> remoteScratch;
  std::shared_ptr<const RemoteRows> scratchOwner;
  bool isUnavailable = false;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_SCORER_H
