//===- Scorer.h - Runs one batch through a frozen program -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scorer has the memory that a call needs in addition to the state: arenas,
// lookups and buffers. It grows to the largest batch and is then reused.
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
  /// The arguments must outlive the scorer.
  Scorer(const pdl_descriptor &descriptor, const pdl_program &program);
  Scorer(const Scorer &) = delete;
  Scorer &operator=(const Scorer &) = delete;

  /// Computes the outputs of the program for a batch, with the values of
  /// `state`; see `run` in pdl/serving.h. `inputs` has one entry per field of
  /// the program, and `outputs` one per output. `areKeys` has one entry per
  /// field, as in `run_keys`; null: no input has keys. Throws std::bad_alloc.
  Status run(const ServedState &state, int64_t batch,
             const pdl_serving_input *inputs, void *const *outputs,
             const int32_t *areKeys = nullptr);
  /// Returns true if the last `run` returned an error because a server did not
  /// respond.
  bool serverWasUnavailable() const { return isUnavailable; }

  /// `all`: number of ids in samples, including duplicates. `unknown`: number
  /// of ids whose key had no row.
  struct IdCounts {
    int64_t all = 0, unknown = 0;
  };
  /// Returns the counts since the previous call of `takeIdCounts`.
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
  /// Returns true if the program concatenates the bags of field `index` with
  /// bags of other fields.
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
  /// Values and splits that the scorer creates, by field.
  std::vector<AlignedBuffer> values, splits;
  /// Digest of the positions of missing ids that were left out, by field and
  /// bag; 0 if none or all ids of the bag were left out. Empty for fields
  /// without texts, and for fields that are not concatenated.
  std::vector<std::vector<uint64_t>> leftOut;
  std::vector<AlignedBuffer> outputBuffers;
  std::vector<void *> outputPointers;
  AlignedBuffer prepareArena, computeArena;
  std::vector<double> lossSums, weightSums;
  // The following members are for rows that are requested from servers.
  // `noTables` has null for each symbol. The others have, for each lookup, its
  // rows and flags of unknown keys.
  std::vector<EmbeddingTable *> noTables;
  std::vector<WantedRows> wanted;
  std::vector<AlignedBuffer> remoteRows, unknownRows;
  /// Number of ids without a row among the requested rows.
  int64_t unknownIds = 0;
  /// Scratch memory for `scratchOwner`, which must outlive it.
  std::unique_ptr<RemoteRows::Scratch> remoteScratch;
  std::shared_ptr<const RemoteRows> scratchOwner;
  bool isUnavailable = false;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_SCORER_H
