//===- ModelFileTest.cpp - Loading and saving of state --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"
#include "Support/TestFolder.h"

#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/State/Model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

/// File with everything in the hand-written model. Tests damage parts of it.
struct Tensors {
  std::vector<float> w = {1, 2, 3}, b = {4}, values = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int64_t> keys = {-5, 9};
  std::vector<int64_t> wShape = {3, 1}, valuesShape = {2, 4}, keyShape = {2};
  bool withW = true, withKeys = true, withValues = true;
  std::string extra, seed, steps;

  void write(const std::string &path) const {
    SafetensorsWriter writer;
    if (withW)
      EXPECT_TRUE(writer.add("w", TensorType::F32, wShape, w.data()).ok());
    EXPECT_TRUE(writer.add("b", TensorType::F32, {1}, b.data()).ok());
    if (withKeys)
      EXPECT_TRUE(
          writer.add("emb.keys", TensorType::I64, keyShape, keys.data()).ok());
    if (withValues)
      EXPECT_TRUE(
          writer.add("emb.values", TensorType::F32, valuesShape, values.data())
              .ok());
    if (!extra.empty())
      EXPECT_TRUE(writer.add(extra, TensorType::F32, {1}, b.data()).ok());
    if (!steps.empty())
      writer.setMetadata(groupStepsName("sparse"), steps);
    if (!seed.empty())
      writer.setMetadata("seed", seed);
    EXPECT_TRUE(writer.write(path).ok());
  }
};

} // namespace

template <typename T> static void checkRead(int32_t type) {
  TestFolder folder;
  Tensors tensors;
  tensors.write(folder.file("f"));
  Model model(*handWrittenProgram({type}), 3);
  Status status =
      initializeModel(model, folder.file("f"), FileCoverage::Parameters);
  ASSERT_TRUE(status.ok()) << status.message();
  auto *w = static_cast<const T *>(model.value(SymbolWeights));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(w[i], T(i + 1));
  void *rows[2];
  TableScratch scratch;
  ASSERT_EQ(
      model.table(SymbolTable)->find(2, tensors.keys.data(), rows, scratch), 0);
  for (int r = 0; r < 2; ++r)
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(static_cast<const T *>(rows[r])[j], T(4 * r + j + 1));
      // Slots that are not in the file keep their initial values.
      EXPECT_EQ(static_cast<const T *>(rows[r])[4 + j], T(0));
    }
}

TEST(ModelFile, ReadsValuesAndWidensThem) {
  checkRead<float>(PDL_F32);
  checkRead<double>(PDL_F64);
}

TEST(ModelFile, RefusesWhatCannotBeStored) {
  TestFolder folder;
  Tensors tensors;
  tensors.values[5] = 65519;
  ProgramVariant variant;
  variant.storage = PDL_STORE_F16;
  auto initialize = [&] {
    tensors.write(folder.file("f"));
    Model model(*handWrittenProgram(variant), 0);
    return initializeModel(model, folder.file("f"), FileCoverage::Parameters);
  };
  // The nearest number is the largest one.
  EXPECT_TRUE(initialize().ok());
  tensors.values[5] = 65520;
  EXPECT_THAT(initialize().message(),
              HasSubstr("'emb.values' has a number at [1, 1] that is too large "
                        "for the rows of @emb, which are stored in f16"));
}

TEST(ModelFile, RefusesWhatDoesNotFit) {
  struct Case {
    std::function<void(Tensors &)> spoil;
    const char *message;
  };
  const Case cases[] = {
      {[](Tensors &t) { t.withW = false; }, "no tensor 'w'"},
      {[](Tensors &t) { t.wShape = {1, 3}; }, "'w' is F32 [1, 3]"},
      {[](Tensors &t) { t.withValues = false; }, "no 'emb.values'"},
      {[](Tensors &t) { t.valuesShape = {4, 2}; }, "needs F32 [2, 4]"},
      {[](Tensors &t) { t.keyShape = {2, 1}; }, "I64 of rank 1"},
      {[](Tensors &t) { t.keys = {9, 9}; }, "a key twice"},
      {[](Tensors &t) { t.steps = "many"; }, "'group.sparse.steps'"},
      {[](Tensors &t) { t.w[2] = std::nanf(""); },
       "tensor 'w' has a number that is not finite at [2, 0]"},
      {[](Tensors &t) {
         t.values[5] = -std::numeric_limits<float>::infinity();
       },
       "tensor 'emb.values' has a number that is not finite at [1, 1]"},
  };
  for (const Case &bad : cases) {
    TestFolder folder;
    Tensors tensors;
    bad.spoil(tensors);
    tensors.write(folder.file("f"));
    Model model(*handWrittenProgram({}), 0);
    Status status =
        initializeModel(model, folder.file("f"), FileCoverage::Parameters);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr(bad.message));
    EXPECT_THAT(status.message(), HasSubstr(folder.file("f")));
  }
}

TEST(ModelFile, RefusesSlotsThatAreNotFinite) {
  TestFolder folder;
  Model model(*handWrittenProgram({}), 3);
  const int64_t key = 77;
  void *row;
  TableScratch scratch;
  int64_t inserted = 0;
  ASSERT_TRUE(model.table(SymbolTable)
                  ->findOrInsert(1, &key, &row, scratch, inserted)
                  .ok());
  // The row of a table: its value, then its slots.
  static_cast<float *>(row)[4 + 2] = std::numeric_limits<float>::infinity();
  ASSERT_TRUE(dumpModel(model, folder.file("f"), /*withSlots=*/true).ok());
  Model other(*handWrittenProgram({}), 3);
  const Status status =
      initializeModel(other, folder.file("f"), FileCoverage::Any);
  EXPECT_THAT(status.message(),
              HasSubstr("tensor 'emb.slot.m' has a number that is not finite "
                        "at [0, 2]"));
}

// A reader needs every table completely.
TEST(ModelFile, RefusesATableThatIsNotThere) {
  TestFolder folder;
  Tensors tensors;
  tensors.withKeys = false;
  const auto refusal = [&](FileCoverage coverage) {
    tensors.write(folder.file("f"));
    Model model(*handWrittenProgram({}), 0);
    return initializeModel(model, folder.file("f"), coverage).message();
  };
  for (const FileCoverage coverage :
       {FileCoverage::Any, FileCoverage::Parameters})
    EXPECT_THAT(refusal(coverage),
                HasSubstr("there is 'emb.values', but no 'emb.keys'; add it"));
  tensors.withValues = false;
  EXPECT_THAT(
      refusal(FileCoverage::Parameters),
      HasSubstr("there is no tensor 'emb.keys', which the model has as a "
                "table; add it"));
  EXPECT_EQ(refusal(FileCoverage::Any), "");
}

// A training may start with a part of a model; it logs which part.
TEST(ModelFile, TakesAPartByName) {
  TestFolder folder;
  Tensors tensors;
  tensors.withW = false;
  tensors.extra = "emb.value";
  tensors.write(folder.file("f"));
  Model fresh(*handWrittenProgram({}), 3), model(*handWrittenProgram({}), 3);
  testing::internal::CaptureStderr();
  Status status = initializeModel(model, folder.file("f"), FileCoverage::Any);
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(log, HasSubstr("took b, emb from "));
  EXPECT_THAT(log, HasSubstr("does not have w: initial values stay"));
  EXPECT_THAT(log, HasSubstr("'emb.value' belongs to nothing in model "
                             "handwritten and is not taken; did you mean "
                             "'emb.values'?"));
  EXPECT_THAT(log, HasSubstr("does not have the optimizer's slots of emb"));
  EXPECT_EQ(std::memcmp(model.value(SymbolWeights), fresh.value(SymbolWeights),
                        3 * sizeof(float)),
            0);
  EXPECT_EQ(static_cast<const float *>(model.value(SymbolBias))[0], 4);
}

TEST(ModelFile, RefusesAFileThatHasNothingOfTheModel) {
  TestFolder folder;
  SafetensorsWriter writer;
  const float number = 1;
  ASSERT_TRUE(writer.add("ww", TensorType::F32, {1}, &number).ok());
  ASSERT_TRUE(writer.write(folder.file("f")).ok());
  Model model(*handWrittenProgram({}), 3);
  EXPECT_THAT(
      initializeModel(model, folder.file("f"), FileCoverage::Any).message(),
      HasSubstr("no tensor in it belongs to model handwritten, which "
                "has w, b, emb"));
}

TEST(ModelFile, DoublesAreNotNarrowed) {
  TestFolder folder;
  Model wide(*handWrittenProgram({PDL_F64}), 0);
  ASSERT_TRUE(dumpModel(wide, folder.file("f"), false).ok());
  Model narrow(*handWrittenProgram({}), 0);
  EXPECT_THAT(
      initializeModel(narrow, folder.file("f"), FileCoverage::Any).message(),
      HasSubstr("F64"));
}

TEST(ModelFile, Seed) {
  TestFolder folder;
  Tensors tensors;
  tensors.write(folder.file("none"));
  Expected<std::optional<uint64_t>> seed = seedOfModelFile(folder.file("none"));
  ASSERT_TRUE(seed.ok());
  EXPECT_FALSE(seed->has_value());
  tensors.seed = "18446744073709551615";
  tensors.write(folder.file("big"));
  seed = seedOfModelFile(folder.file("big"));
  ASSERT_TRUE(seed.ok());
  EXPECT_EQ(**seed, ~uint64_t(0));
  for (const char *bad : {"-1", "7x", "18446744073709551616"}) {
    tensors.seed = bad;
    tensors.write(folder.file("bad"));
    EXPECT_THAT(seedOfModelFile(folder.file("bad")).status().message(),
                HasSubstr(bad));
  }
}
