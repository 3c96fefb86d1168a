//===- BatchDump.cpp - Writes parsed batches to a file --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Data/BatchDump.h"

using namespace pdlrt;

Status BatchDump::add(const Batch &batch, int64_t round, int32_t group,
                      int32_t worker) {
  const std::string prefix = "batch" + std::to_string(batchCount) + "/";
  for (int32_t i = 0; i < program.field_count; ++i) {
    const pdl_field &field = descriptor.fields[program.fields[i]];
    const pdl_field_data &data = batch.fields()[i];
    const std::string name = prefix + field.name;
    const TensorType type = field.element_type == PDL_F32   ? TensorType::F32
                            : field.element_type == PDL_F64 ? TensorType::F64
                                                            : TensorType::I64;
    if (field.kind == PDL_FIELD_RAGGED) {
      PDLRT_RETURN_IF_ERROR(writer.addCopy(name + ".values", type,
                                           {data.value_count}, data.values));
      PDLRT_RETURN_IF_ERROR(writer.addCopy(name + ".splits", TensorType::I32,
                                           {batch.size() * field.width + 1},
                                           data.splits));
      continue;
    }
    PDLRT_RETURN_IF_ERROR(
        writer.addCopy(name, type, {batch.size(), field.width}, data.values));
  }
  const std::string own = "batch" + std::to_string(batchCount);
  PDLRT_RETURN_IF_ERROR(writer.addCopy(own + ".samples", TensorType::I64,
                                       {batch.size()}, batch.sampleNumbers()));
  const int64_t epoch[] = {batch.epoch()};
  PDLRT_RETURN_IF_ERROR(
      writer.addCopy(own + ".epoch", TensorType::I64, {1}, epoch));
  const int64_t place[] = {round, group, worker};
  PDLRT_RETURN_IF_ERROR(
      writer.addCopy(own + ".place", TensorType::I64, {3}, place));
  ++batchCount;
  return {};
}

Status BatchDump::write(const std::string &path) {
  writer.setMetadata("batches", std::to_string(batchCount));
  writer.setMetadata("model", descriptor.model_name);
  // Programs receive hashed texts as keys.
  writer.setMetadata("ids", "keys");
  writer.setMetadata("program", program.name);
  return writer.write(path);
}
