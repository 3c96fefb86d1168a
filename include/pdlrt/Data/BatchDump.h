//===- BatchDump.h - Writes parsed batches to a file ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch dump is a safetensors file with batches exactly as a program received
// them. Another program, such as the reference interpreter or PyTorch, can run
// the same steps from it. Batch i, counted from 0 in the order of the dump, has
// the tensors:
//
//   batch<i>/<field>           dense: F32 or F64 [samples, width];
//                              ids: I64 [samples, width]
//   batch<i>/<field>.values    ragged: I64 [ids], or F32 or F64 [numbers]
//   batch<i>/<field>.splits    ragged: I32 [samples * width + 1]
//   batch<i>.place             I64 [3]: round, group, worker
//   batch<i>.samples           I64 [B]: the samples' numbers, pdl_draws
//   batch<i>.epoch             I64 [1]
//
// The metadata are `batches` (the number of batches), `model` and `program`.
// Only fields that the program reads are included.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_BATCHDUMP_H
#define PDLRT_DATA_BATCHDUMP_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Data/Batch.h"
#include "pdlrt/Files/Safetensors.h"

namespace pdlrt {

/// Collects copies of batches in memory and writes them to a file. Not
/// thread-safe.
class BatchDump {
public:
  /// `program` must be the program for which the BatchSource of the batches was
  /// opened. Both arguments must outlive this object.
  BatchDump(const pdl_descriptor &descriptor, const pdl_program &program)
      : descriptor(descriptor), program(program) {}

  /// Appends a copy of `batch`, which worker `worker` of group `group` has read
  /// in round `round`.
  Status add(const Batch &batch, int64_t round, int32_t group, int32_t worker);
  /// Writes all batches so far to `path`, atomically.
  Status write(const std::string &path);

private:
  const pdl_descriptor &descriptor;
  const pdl_program &program;
  SafetensorsWriter writer;
  int64_t batchCount = 0;
};

} // namespace pdlrt

#endif // PDLRT_DATA_BATCHDUMP_H
