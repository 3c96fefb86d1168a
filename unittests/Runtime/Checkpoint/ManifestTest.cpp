//===- ManifestTest.cpp - The format of manifests -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFolder.h"

#include "pdlrt/Checkpoint/Manifest.h"

#include "gmock/gmock.h"

#include "nlohmann/json.hpp"

#include <fstream>
#include <sstream>
#include <string>

using namespace pdlrt;
using nlohmann::json;
using testing::HasSubstr;

namespace {

/// Returns a manifest in which every field has a value of its own.
CheckpointManifest fullManifest() {
  CheckpointManifest manifest;
  manifest.model = "clicks \"\xc3\xa9\"";
  manifest.layoutFingerprint = 0x0123456789abcdefull;
  manifest.trainingFingerprint = 0xfedcba9876543210ull;
  manifest.modelParts = {{PDL_PART_STATE, "table @t", "hash(0x1)"},
                         {PDL_PART_OPTIMIZER, "group @g", "adam"},
                         {PDL_PART_TRAINING, "loss", "mean"}};
  manifest.compilerVersion = "pdl 1.2.3";
  manifest.targetCpu = "znver3";
  manifest.numerics = "strict";
  manifest.seed = UINT64_MAX;
  manifest.settings = {{"--batch-size", "512"}, {"--data", "a.csv,b.csv"}};
  manifest.groupSteps = {{"g", 7}, {"h", 0}};
  CheckpointSymbol table;
  table.name = "t";
  table.isTable = true;
  table.shape = {8};
  table.slots = {"m", "v", "show"};
  table.rowSlots = 1;
  table.valueType = TensorType::BF16;
  CheckpointSymbol parameter;
  parameter.name = "w";
  parameter.shape = {3, 2};
  parameter.elementType = TensorType::F64;
  manifest.symbols = {table, parameter};
  CheckpointPart dense;
  dense.file = "dense-0.safetensors";
  dense.digest.bytes = 123;
  dense.digest.hash = 0xa5;
  dense.rows = {{"w", {{0, 2}, {2, 3}}}};
  CheckpointPart rows;
  rows.file = "table-t-0000.safetensors";
  rows.kind = PartKind::Table;
  rows.symbol = "t";
  rows.shards = {{0, 10}, {10, 1024}};
  rows.digest.bytes = 1ull << 40;
  rows.digest.hash = UINT64_MAX;
  CheckpointPart sums;
  sums.file = "trainer.safetensors";
  sums.kind = PartKind::Trainer;
  manifest.parts = {dense, rows, sums};
  TrainingProgress &progress = manifest.progress;
  progress.steps = 100;
  progress.samples = 51200;
  progress.skippedUpdates = 1;
  progress.badRows = 2;
  progress.epoch = 3;
  progress.lossLines = 99;
  progress.epochSteps = 20;
  progress.epochSamples = 10240;
  progress.epochSkippedUpdates = 4;
  DataPosition first;
  first.epoch = 3;
  first.window = 5;
  first.offset = 6;
  first.batch = 7;
  first.digest = 8;
  first.next = 9;
  first.start = {10, 11, 12, 13, 14, 15};
  DataPosition second;
  second.epoch = 3;
  progress.positions = {first, second};
  return manifest;
}

/// Returns a delta after some checkpoint.
CheckpointManifest deltaManifest() {
  CheckpointManifest manifest = fullManifest();
  manifest.after = {"step-000000000050", 0x77};
  manifest.parts[1].isChanges = true;
  manifest.parts[1].owner = 2;
  manifest.parts[0].rows.clear();
  manifest.progress.lossLines = 0;
  manifest.progress.positions.clear();
  manifest.symbols[0].rowSlots = 0;
  manifest.symbols[0].valueType.reset();
  return manifest;
}

std::string contentOf(const std::string &path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string goldenPath(const std::string &name) {
  return std::string(PDL_SOURCE_DIR "/unittests/Runtime/Checkpoint/") + name;
}

class ManifestTest : public testing::Test {
protected:
  std::string written(const CheckpointManifest &manifest) {
    const Status status = writeManifest(manifest, folder.file("manifest.json"));
    EXPECT_TRUE(status.ok()) << status.message();
    return folder.read("manifest.json");
  }

  TestFolder folder;
};

// The golden files were written by a program before the fields were in one
// list.
TEST_F(ManifestTest, BytesAreTheGoldens) {
  EXPECT_EQ(written(fullManifest()), contentOf(goldenPath("manifest.json")));
  EXPECT_EQ(written(deltaManifest()),
            contentOf(goldenPath("delta_manifest.json")));
}

TEST_F(ManifestTest, GoldensAreReadAndWrittenAgain) {
  for (const char *name : {"manifest.json", "delta_manifest.json"}) {
    const Expected<CheckpointManifest> read = readManifest(goldenPath(name));
    ASSERT_TRUE(read) << read.status().message();
    EXPECT_EQ(written(*read), contentOf(goldenPath(name)));
    const std::string encoded = encodeManifest(*read);
    const Expected<CheckpointManifest> decoded = decodeManifest(encoded);
    ASSERT_TRUE(decoded) << decoded.status().message();
    EXPECT_EQ(encodeManifest(*decoded), encoded);
  }
}

TEST_F(ManifestTest, HasPlacesOfTopics) {
  CheckpointManifest manifest = fullManifest();
  std::vector<DataPosition> &positions = manifest.progress.positions;
  positions[1].places =
      PartitionPlaces({{1, 1760000000123, 8, 2}, {3, 0, 0, 0}});
  const std::string text = encodeManifest(manifest);
  const json position = json::parse(text)["progress"]["positions"][1];
  EXPECT_EQ(position["next"], 0);
  EXPECT_EQ(position["places"],
            json::parse(R"([{"file":1,"byte":8,"line":2,"time":1760000000123},
                            {"file":3,"byte":0,"line":0}])"));
  const Expected<CheckpointManifest> read = decodeManifest(text);
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(read->progress.positions, positions);
}

// Fields that older manifests lack get default values. If any other field is
// missing, the text is no manifest.
TEST_F(ManifestTest, OnlyLaterFieldsMayBeMissing) {
  const json whole = json::parse(encodeManifest(deltaManifest()));
  const auto isRead = [](const json &object) {
    return bool(decodeManifest(object.dump()));
  };
  ASSERT_TRUE(isRead(whole));
  for (const auto &[key, value] : whole.items()) {
    json without = whole;
    without.erase(key);
    EXPECT_EQ(isRead(without), key == "layout_version" || key == "after")
        << key;
  }
  json earlier = whole;
  earlier.erase("layout_version");
  EXPECT_EQ(decodeManifest(earlier.dump())->layoutVersion, 1);
  const json full = json::parse(encodeManifest(fullManifest()));
  const json::json_pointer position("/progress/positions/0");
  for (const char *key : {"content", "next", "start", "offset"}) {
    json without = full;
    without[position].erase(key);
    EXPECT_EQ(isRead(without), key != std::string("offset")) << key;
  }
  // One type for all symbols, as in earlier manifests.
  json one = full;
  one["element_type"] = "F64";
  one["symbols"][0].erase("value_type");
  for (json &symbol : one["symbols"])
    symbol.erase("element_type");
  const Expected<CheckpointManifest> read = decodeManifest(one.dump());
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(read->symbols[0].elementType, TensorType::F64);
}

TEST_F(ManifestTest, EvaluationsAreReadToTheBit) {
  CheckpointManifest manifest = fullManifest();
  EvaluationProgress &evaluations = manifest.progress.evaluations;
  evaluations.steps = 90;
  evaluations.monitored = {
      .metric = "@auc", .value = 0.1 + 0.2, .steps = 70, .misses = 2};
  written(manifest);
  const auto found = readManifest(folder.file("manifest.json"));
  ASSERT_TRUE(found.ok()) << found.status().message();
  const EvaluationProgress &read = found->progress.evaluations;
  EXPECT_EQ(read.steps, 90);
  EXPECT_EQ(read.monitored.metric, "@auc");
  EXPECT_EQ(read.monitored.value, 0.1 + 0.2);
  EXPECT_EQ(read.monitored.steps, 70);
  EXPECT_EQ(read.monitored.misses, 2);
  EXPECT_EQ(read.kept.metric, "");
}

TEST_F(ManifestTest, WrongValuesAreRefused) {
  const json whole = json::parse(encodeManifest(fullManifest()));
  const auto errorWith = [&](const char *place, const json &value) {
    json changed = whole;
    changed[json::json_pointer(place)] = value;
    return decodeManifest(changed.dump()).status().message();
  };
  EXPECT_THAT(errorWith("/progress/steps", -1), HasSubstr("steps is no count"));
  EXPECT_THAT(errorWith("/progress/steps", 1.5),
              HasSubstr("steps is no count"));
  EXPECT_THAT(errorWith("/layout_version", 0), HasSubstr("its layout is 0"));
  EXPECT_THAT(errorWith("/parts/0/holds", "air"),
              HasSubstr("there is no kind 'air'"));
  EXPECT_THAT(errorWith("/symbols/1/shape", {0, 2}),
              HasSubstr("has the shape [0, 2]"));
  EXPECT_THAT(errorWith("/symbols/0/element_type", "I64"),
              HasSubstr("elements are of type 'I64'"));
  EXPECT_THAT(errorWith("/symbols/0/element_type", "F64"),
              HasSubstr("stores values in 16 bits"));
  EXPECT_THAT(errorWith("/symbols/0/row_slots", 4),
              HasSubstr("more row slots than slots"));
  EXPECT_THAT(errorWith("/model", 7), HasSubstr("type must be string"));
}

} // namespace
