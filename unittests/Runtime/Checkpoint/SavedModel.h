//===- SavedModel.h - Models for tests of checkpoints -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_CHECKPOINT_SAVEDMODEL_H
#define PDL_UNITTESTS_RUNTIME_CHECKPOINT_SAVEDMODEL_H

#include "Support/HandWrittenProgram.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Kernels/Storage.h"
#include "pdlrt/State/Model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// Returns a model whose numbers all differ from their initial values.
inline std::unique_ptr<Model> makeModel(uint64_t seed, int64_t keys,
                                        int32_t type = PDL_F32,
                                        int32_t storage = PDL_STORE_ELEMENT) {
  ProgramVariant variant = {type};
  variant.storage = storage;
  auto model = std::make_unique<Model>(*handWrittenProgram(variant), seed);
  auto fill = [&](void *values, int64_t count, double first) {
    for (int64_t i = 0; i < count; ++i) {
      if (type == PDL_F32)
        static_cast<float *>(values)[i] = float(first + double(i) / 7);
      else
        static_cast<double *>(values)[i] = first + double(i) / 7;
    }
  };
  fill(model->value(SymbolWeights), handWrittenDense, 1);
  fill(model->value(SymbolBias), 1, 2);
  std::vector<int64_t> list;
  for (int64_t i = 0; i < keys; ++i)
    list.push_back(i % 2 ? i : -i * 977);
  std::vector<void *> rows(list.size());
  TableScratch scratch;
  int64_t inserted = 0;
  EXPECT_TRUE(
      model->table(SymbolTable)
          ->findOrInsert(keys, list.data(), rows.data(), scratch, inserted)
          .ok());
  const pdl_symbol &table = model->descriptor().symbols[SymbolTable];
  for (int64_t i = 0; i < keys; ++i) {
    auto *slots = static_cast<char *>(rows[i]) + partBegin(table, 1);
    fill(slots, 2 * handWrittenWidth, double(i) - 5 + handWrittenWidth / 7.0);
    if (storage == PDL_STORE_ELEMENT) {
      fill(rows[i], handWrittenWidth, double(i) - 5);
      continue;
    }
    float values[handWrittenWidth];
    fill(values, handWrittenWidth, double(i) - 5);
    storeNearest(storage, handWrittenWidth, values, rows[i]);
  }
  model->restoreStepCount(0, 11);
  model->restoreStepCount(1, 12);
  return model;
}

/// Saves a checkpoint after `steps` steps.
inline void save(const Model &model, const std::string &path,
                 int64_t steps = 12) {
  CheckpointWriter writer(path);
  CheckpointManifest manifest;
  manifest.progress.steps = steps;
  manifest.settings = {{"--rows", "0:100%"}};
  Status status = saveModel(model, writer, manifest);
  ASSERT_TRUE(status.ok()) << status.message();
  status = writer.commit(std::move(manifest));
  ASSERT_TRUE(status.ok()) << status.message();
}

/// Returns the sorted names.
inline std::vector<std::string> filesOf(const std::string &path) {
  std::vector<std::string> names;
  for (const std::filesystem::directory_entry &entry :
       std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace pdlrt

#endif // PDL_UNITTESTS_RUNTIME_CHECKPOINT_SAVEDMODEL_H
