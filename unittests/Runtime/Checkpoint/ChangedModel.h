//===- ChangedModel.h - Checkpoints of a model that trains ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_CHECKPOINT_CHANGEDMODEL_H
#define PDL_UNITTESTS_RUNTIME_CHECKPOINT_CHANGEDMODEL_H

#include "Checkpoint/SavedModel.h"
#include "Support/TestFolder.h"

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Updater.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

inline constexpr int64_t keyCount = 20'000;

/// Changes a model with a rule that never divides by values that it reads.
class Changes {
public:
  Changes(Model &model, int threads)
      : table(*model.table(SymbolTable)), scheduler(threads),
        updater(model, model.descriptor().programs[0], scheduler) {}

  /// Runs a step on some keys, a few of which are new, and erases a few keys.
  void step(int64_t touched = 300, int64_t erased = 7) {
    std::vector<int64_t> keys;
    for (int64_t i = 0; i < touched; ++i)
      keys.push_back(draw());
    for (int64_t i = 0; i < 5; ++i)
      keys.push_back(50'000'000 + next++);
    update(std::move(keys));
    std::vector<int64_t> gone;
    for (int64_t i = 0; i < erased; ++i)
      gone.push_back(draw());
    TableScratch own;
    table.erase(erased, gone.data(), own);
    // Some erased keys return immediately, and some later.
    if (erased > 2)
      update({gone.begin(), gone.begin() + 2});
    table.quiesce(0);
  }

  void update(std::vector<int64_t> keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::vector<void *> rows(keys.size());
    int64_t inserted = 0;
    ASSERT_TRUE(table
                    .findOrInsert(int64_t(keys.size()), keys.data(),
                                  rows.data(), scratch, inserted)
                    .ok());
    std::vector<float> gradient(std::max(handWrittenWidth, handWrittenDense));
    for (float &element : gradient)
      element = float(random() % 1000) / 1000;
    const std::vector<const void *> gradients(keys.size(), gradient.data());
    PartialSum merged;
    merged.present = true;
    merged.objectives[0].weight = 2;
    merged.blocks.push_back({gradient.data()});
    merged.blocks.push_back({gradient.data()});
    merged.blocks.push_back({nullptr, int64_t(keys.size()), keys.data(),
                             rows.data(), gradients.data()});
    const Status status = updater.apply(merged);
    ASSERT_TRUE(status.ok()) << status.message();
  }

private:
  int64_t draw() {
    const auto i = int64_t(random() % uint64_t(keyCount));
    return i % 2 ? i : -i * 977;
  }

  EmbeddingTable &table;
  Scheduler scheduler;
  Updater updater;
  std::mt19937_64 random{7};
  int64_t next = 0;
  TableScratch scratch;
};

inline std::unique_ptr<Model>
makeTrained(int32_t untouched = PDL_UNTOUCHED_LAZY) {
  auto model =
      std::make_unique<Model>(*handWrittenProgram({PDL_F32, untouched}), 3);
  Changes changes(*model, 1);
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < keyCount; ++i)
    keys.push_back(i % 2 ? i : -i * 977);
  changes.update(std::move(keys));
  return model;
}

/// Checkpoints of a model, in `chain` of the folder.
struct Chain {
  explicit Chain(const TestFolder &folder) : folder(folder) {
    std::filesystem::create_directory(folder.file("chain"));
  }

  std::string pathOf(int64_t steps) const {
    return CheckpointFolder::nameIn(folder.file("chain"), steps);
  }
  CheckpointManifest manifestOf(int64_t steps, bool isDelta) const {
    CheckpointManifest manifest;
    manifest.progress.steps = steps;
    manifest.settings = {{"--rows", "0:100%"}};
    if (isDelta)
      manifest.after = last;
    return manifest;
  }
  void commit(CheckpointWriter &writer, CheckpointManifest manifest) {
    last.name =
        std::filesystem::path(pathOf(manifest.progress.steps)).filename();
    const Status status = writer.commit(std::move(manifest), &last.digest);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void save(const Model &model, int64_t steps, bool isDelta,
            const TablePartSizes &sizes = {}) {
    CheckpointWriter writer(pathOf(steps));
    CheckpointManifest manifest = manifestOf(steps, isDelta);
    describeModel(model, manifest);
    const Status status =
        saveParts(model, "dense.safetensors", writer, nullptr, sizes,
                  isDelta ? SavedRows::Changed : SavedRows::Base);
    ASSERT_TRUE(status.ok()) << status.message();
    commit(writer, std::move(manifest));
  }

  const TestFolder &folder;
  CheckpointLink last;
};

/// Returns a whole checkpoint at step 1, and a delta after it at step 2.
inline Chain makeBaseAndDelta(const TestFolder &folder) {
  auto model = makeTrained();
  Changes changes(*model, 1);
  Chain chain(folder);
  chain.save(*model, 1, false);
  changes.step();
  chain.save(*model, 2, true);
  return chain;
}

/// Keys of a part, and erased keys.
using ChangeKeys = std::function<void(std::vector<int64_t> &keys,
                                      std::vector<int64_t> &erased)>;

/// Rewrites the checkpoint `path` with changed keys and correct checksums. Each
/// of its tables must have one part.
inline void writeOtherKeys(const std::string &path, const ChangeKeys &change) {
  std::map<std::string, SafetensorsWriter> files;
  CheckpointManifest manifest;
  {
    const Expected<Checkpoint> checkpoint = Checkpoint::openAlone(path);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    manifest = checkpoint->manifest();
    for (size_t p = 0; p < manifest.parts.size(); ++p) {
      SafetensorsWriter &writer = files[manifest.parts[p].file];
      std::vector<int64_t> erased;
      std::vector<int64_t> keys;
      for (const TensorView &tensor : checkpoint->file(p).tensors()) {
        if (tensor.name == "erased" || tensor.name == "keys") {
          std::vector<int64_t> &found = tensor.name == "keys" ? keys : erased;
          found.resize(size_t(tensor.elementCount));
          ASSERT_TRUE(tensor.copyTo(found.data()).ok());
          continue;
        }
        std::vector<std::byte> bytes(tensor.byteSize());
        ASSERT_TRUE(tensor.copyTo(bytes.data()).ok());
        ASSERT_TRUE(
            writer.addCopy(tensor.name, tensor.type, tensor.shape, bytes.data())
                .ok());
      }
      if (manifest.parts[p].kind != PartKind::Table)
        continue;
      change(keys, erased);
      ASSERT_TRUE(writer
                      .addCopy("keys", TensorType::I64, {int64_t(keys.size())},
                               keys.data())
                      .ok());
      if (!erased.empty())
        ASSERT_TRUE(writer
                        .addCopy("erased", TensorType::I64,
                                 {int64_t(erased.size())}, erased.data())
                        .ok());
    }
  }
  CheckpointWriter writer(path);
  for (const CheckpointPart &part : std::exchange(manifest.parts, {})) {
    const Status status = writer.addPart(part, files[part.file]);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  ASSERT_TRUE(writer.commit(std::move(manifest)).ok());
}

} // namespace pdlrt

#endif // PDL_UNITTESTS_RUNTIME_CHECKPOINT_CHANGEDMODEL_H
