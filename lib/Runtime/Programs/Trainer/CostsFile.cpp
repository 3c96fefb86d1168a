//===- CostsFile.cpp - Measured costs of a step ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/CostsFile.h"

#include "Files/TemporaryFile.h"
#include "pdlrt/Core/ProcessMemory.h"

#include <nlohmann/json.hpp>

using namespace pdlrt;

Status pdlrt::writeCosts(const std::string &path, const MeasuredSteps &measured,
                         const Model &model) {
  const StepCosts &costs = measured.costs;
  if (costs.steps == 0)
    return Status::invalidArgument(
        "nothing was trained, so that there are no costs to "
        "write to " +
        path + ": leave --costs out, or train some steps");
  const double steps = double(costs.steps);
  nlohmann::ordered_json out;
  out["model"] = model.descriptor().model_name;
  out["batch_size"] = measured.batchSize;
  out["replicas"] = measured.replicas;
  out["steps"] = costs.steps;
  out["step_seconds"] = measured.seconds / steps;
  out["cpu_seconds"] = measured.cpuSeconds / steps;
  out["read_seconds"] = costs.read / steps;
  out["prepare_seconds"] = (costs.prepare + costs.prepareInBackground) / steps;
  out["compute_seconds"] = costs.compute / steps;
  out["apply_seconds"] = costs.apply / steps;
  out["ids"] = double(costs.ids) / steps;
  out["keys"] = double(costs.keys) / steps;
  out["resident_bytes"] = residentBytes();
  size_t tableBytes = 0, tableBytesOfDevice = 0;
  out["table_keys"] = nlohmann::ordered_json::object();
  for (int32_t i = 0; i < model.descriptor().symbol_count; ++i)
    if (const EmbeddingTable *table = model.table(i)) {
      const Expected<TableSize> size = model.tableSize(i);
      if (!size)
        return size.status();
      out["table_keys"][model.descriptor().symbols[i].name] = size->rows;
      // Memory of this process; a device has its own memory.
      tableBytes += table->memoryBytes();
      tableBytesOfDevice += model.placesTablesOnDevice() ? size->bytes : 0;
    }
  out["table_bytes"] = tableBytes;
  if (measured.deviceBytes > 0) {
    out["device_bytes"] = measured.deviceBytes;
    out["device_table_bytes"] = tableBytesOfDevice;
    out["device_bytes_of_sample"] = measured.deviceNeeds.ofSample;
    out["device_bytes_of_key"] = measured.deviceNeeds.ofKey;
  }
  const std::string text = out.dump(2) + "\n";
  TemporaryFile file(path);
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.write(text.data(), text.size()));
  return file.commit();
}
