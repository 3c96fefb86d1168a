//===- BatchDump.h - Parsed batches as a file -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Batches exactly as a program saw them, so that another program (the reference
// interpreter, PyTorch) can run the same steps. The layout is safetensors with,
// for batch i in the order of the dump, from 0:
//
//   batch<i>/<field>           dense: F32 or F64 [samples, width];
//                              ids: I64 [samples, width]
//   batch<i>/<field>.values    ragged: I64 [ids], or F32 or F64 [numbers]
//   batch<i>/<field>.splits    ragged: I32 [samples * width + 1]
//   batch<i>.place             I64 [3]: round, group, worker
//   batch<i>.samples           I64 [B]: the samples' numbers, pdl_draws
//   batch<i>.epoch             I64 [1]
//
// and the metadata `batches` (how many), `model` and `program`. Only the fields
// that the program reads are there.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_BATCHDUMP_H
#define PDLRT_DATA_BATCHDUMP_H

#include "pdlrt/Data/Batch.h"
#include "pdlrt/Files/Safetensors.h"

namespace pdlrt {

/// Collects copies of batches in memory, then writes them. Not thread-safe.
class BatchDump {
public:
  /// Both must outlive the dump; `program` is the one that the batches' source
  /// was opened for.
  BatchDump(const pdl_descriptor &descriptor, const pdl_program &program)
      : descriptor(descriptor), program(program) {}

  /// Copies `batch` as the next one of the dump.
  Status add(const Batch &batch, int64_t round, int32_t group, int32_t worker);
  /// Writes all batches so far to `path`, at once or not at all.
  Status write(const std::string &path);

private:
  const pdl_descriptor &descriptor;
  const pdl_program &program;
  SafetensorsWriter writer;
  int64_t batchCount = 0;
};

} // namespace pdlrt

#endif // PDLRT_DATA_BATCHDUMP_H
