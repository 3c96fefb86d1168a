//===- ApiTest.cpp - Functions of a model's library -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/ChangedModel.h"
#include "Support/HandWrittenProgram.h"
#include "Support/TestFolder.h"
#include "pdl/serving.h"
#include "pdlabi/hash.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/State/Model.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace pdlrt;

/// The program of the library.
const pdl_descriptor *pdl_program_query(uint32_t) {
  return handWrittenProgram({});
}

namespace {

/// Three samples with dense numbers and two bags of ids each; key 12 is in no
/// table.
struct Request {
  alignas(64) float dense[3 * handWrittenDense] = {1, 2, 3, 0, 0, 0, -1, .5, 2};
  int64_t keys[5] = {10, 11, 12, 10, 10};
  int32_t splits[7] = {0, 1, 2, 2, 3, 3, 5};

  std::vector<pdl_serving_input> inputs() const {
    return {{dense, nullptr, nullptr, nullptr},
            {keys, splits, nullptr, nullptr}};
  }
};

/// Inputs whose ids are keys.
const int32_t areKeys[] = {0, 1};

class ServingApi : public testing::Test {
protected:
  /// Saves a model whose parameters and rows are all `number`, or near it.
  std::string save(const std::string &name, float number) {
    Model model(*handWrittenProgram({}), 3);
    for (int64_t i = 0; i < handWrittenDense; ++i)
      static_cast<float *>(model.value(SymbolWeights))[i] = number;
    *static_cast<float *>(model.value(SymbolBias)) = number;
    const int64_t keys[] = {10, 11};
    void *rows[2];
    TableScratch scratch;
    int64_t inserted = 0;
    EXPECT_TRUE(model.table(SymbolTable)
                    ->findOrInsert(2, keys, rows, scratch, inserted)
                    .ok());
    for (void *row : rows)
      for (int64_t j = 0; j < handWrittenWidth; ++j)
        static_cast<float *>(row)[j] = number;
    const std::string path = folder.file(name);
    CheckpointWriter writer(path);
    CheckpointManifest manifest;
    manifest.progress.steps = 12;
    EXPECT_TRUE(saveModel(model, writer, manifest).ok());
    EXPECT_TRUE(writer.commit(std::move(manifest)).ok());
    EXPECT_TRUE(dumpModel(model, path + ".safetensors", false).ok());
    return path;
  }

  /// Returns the prediction for a request.
  static std::vector<float> run(pdl_serving_model *model,
                                const Request &request = {}) {
    std::vector<float> predictions(3);
    void *outputs[] = {predictions.data()};
    EXPECT_EQ(functions()->run_keys(model, 2, 3, request.inputs().data(),
                                    areKeys, outputs),
              0)
        << functions()->last_error();
    return predictions;
  }
  static const pdl_serving *functions() {
    return pdl_serving_query(PDL_SERVING_VERSION);
  }

  TestFolder folder;
};

} // namespace

static float sigmoid(float z) { return 1 / (1 + std::exp(-z)); }

TEST_F(ServingApi, PredictsWithTheValuesOfACheckpointOrADump) {
  const std::string path = save("saved", 0.25F);
  for (const char *ending : {"", ".safetensors"}) {
    pdl_serving_model *model = functions()->open((path + ending).c_str());
    ASSERT_NE(model, nullptr) << functions()->last_error();
    const std::vector<float> found = run(model);
    // Each id of a known key adds 0.25 (1 + 2 + 3 + 4) / 4.
    EXPECT_NEAR(found[0], sigmoid(0.25F * 6 + 0.25F + 2 * 0.625F), 1e-6);
    EXPECT_NEAR(found[2], sigmoid(0.25F * 1.5F + 0.25F + 2 * 0.625F), 1e-6);
    pdl_serving_state state = {};
    state.struct_size = sizeof(state);
    ASSERT_EQ(functions()->state(model, &state), 0);
    EXPECT_EQ(state.version, 1);
    EXPECT_EQ(state.rows, 2);
    EXPECT_EQ(state.steps, *ending ? -1 : 12);
    functions()->close(model);
  }
}

TEST_F(ServingApi, AnUnknownKeyReadsItsInitialValue) {
  pdl_serving_model *model = functions()->open(save("saved", 0).c_str());
  ASSERT_NE(model, nullptr);
  const Model initial(*handWrittenProgram({}), 3);
  float row[handWrittenWidth];
  initial.table(SymbolTable)->initialFrozen(12, row);
  float z = 0;
  for (int64_t j = 0; j < handWrittenWidth; ++j)
    z += float(j + 1) / 4 * row[j];
  EXPECT_NEAR(run(model)[1], sigmoid(z), 1e-6);
  functions()->close(model);
}

TEST_F(ServingApi, CountsIdsAndThoseWithoutARow) {
  pdl_serving_model *model = functions()->open(save("saved", 0).c_str());
  ASSERT_NE(model, nullptr);
  run(model);
  run(model);
  // A failed request has scored nothing.
  Request damaged;
  damaged.splits[1] = 9;
  float outputs[3];
  void *to[] = {outputs};
  EXPECT_NE(
      functions()->run_keys(model, 2, 3, damaged.inputs().data(), areKeys, to),
      0);
  pdl_serving_row_counts counts = {};
  counts.struct_size = sizeof(counts);
  ASSERT_EQ(functions()->row_counts(model, &counts), 0);
  EXPECT_EQ(counts.ids, 10);
  EXPECT_EQ(counts.unknown_ids, 2);
  EXPECT_EQ(counts.hits + counts.misses + counts.requests, 0);
  // A caller that was compiled for an older version has no memory for these
  // members.
  counts.ids = counts.unknown_ids = -7;
  counts.struct_size = offsetof(pdl_serving_row_counts, ids);
  ASSERT_EQ(functions()->row_counts(model, &counts), 0);
  EXPECT_EQ(counts.ids, -7);
  EXPECT_EQ(counts.unknown_ids, -7);
  --counts.struct_size;
  EXPECT_EQ(functions()->row_counts(model, &counts), PDL_INVALID_ARGUMENT);
  functions()->close(model);
}

TEST_F(ServingApi, TextsAreHashedAsReadersDo) {
  pdl_serving_model *model = functions()->open(save("saved", 0.5F).c_str());
  ASSERT_NE(model, nullptr);
  // Texts are trimmed, and a missing one is no id.
  const std::string texts = "ab c?  d  a ";
  const int64_t ends[] = {2, 4, 5, 9, 10, 12};
  const int32_t splits[] = {0, 1, 2, 3, 4, 4, 6};
  const Request request;
  const std::vector<pdl_serving_input> inputs = {
      {request.dense, nullptr, nullptr, nullptr},
      {nullptr, splits, texts.data(), ends}};
  float predictions[3];
  void *outputs[] = {predictions};
  ASSERT_EQ(functions()->run(model, 2, 3, inputs.data(), outputs), 0)
      << functions()->last_error();
  const pdl_field &field = handWrittenProgram({})->fields[FieldIds];
  const auto keyOf = [&](const char *text, uint64_t slot) {
    return int64_t(pdlabi::hashText(
        text, field.salt_kind == PDL_SALT_SLOT ? slot : field.salt));
  };
  Request hashed;
  const int64_t keys[] = {keyOf("ab", 0), keyOf("c", 1), keyOf("d", 1),
                          keyOf("a", 1)};
  const int32_t bags[] = {0, 1, 2, 2, 3, 3, 4};
  std::ranges::copy(keys, hashed.keys);
  std::ranges::copy(bags, hashed.splits);
  EXPECT_EQ(std::vector<float>(predictions, predictions + 3),
            run(model, hashed));
  const int64_t wrong[] = {2, 1, 5, 9, 10, 12};
  const std::vector<pdl_serving_input> bad = {
      inputs[0], {nullptr, splits, texts.data(), wrong}};
  EXPECT_NE(functions()->run(model, 2, 3, bad.data(), outputs), 0);
  EXPECT_NE(std::string(functions()->last_error())
                .find("text_ends[1] is 1, less than the one before, 2"),
            std::string::npos)
      << functions()->last_error();
  functions()->close(model);
}

TEST_F(ServingApi, SaysHowKeysAndMissingElementsAreMade) {
  const pdl_field &field = handWrittenProgram({})->fields[FieldIds];
  pdl_serving_input_rules rules = {};
  EXPECT_NE(functions()->describe_input(2, 1, &rules), 0);
  rules.struct_size = sizeof(rules);
  ASSERT_EQ(functions()->describe_input(2, 1, &rules), 0);
  EXPECT_EQ(rules.missing, PDL_SERVING_EMPTY_BAG);
  EXPECT_EQ(rules.hashes_texts, 1);
  EXPECT_EQ(rules.salts_by_slot, field.salt_kind == PDL_SALT_SLOT);
  ASSERT_EQ(functions()->describe_input(2, 0, &rules), 0);
  EXPECT_EQ(rules.missing, PDL_SERVING_REQUIRED);
  EXPECT_EQ(rules.hashes_texts, 0);
  EXPECT_NE(functions()->describe_input(2, 2, &rules), 0);
  EXPECT_NE(functions()->describe_input(9, 0, &rules), 0);
  EXPECT_EQ(functions()->key(" ab ", 4, 3), int64_t(pdlabi::hashText("ab", 3)));
}

TEST_F(ServingApi, AMissingInputIsEmptyBags) {
  pdl_serving_model *model = functions()->open(save("saved", 0.5F).c_str());
  ASSERT_NE(model, nullptr);
  Request empty;
  std::ranges::fill(empty.splits, 0);
  std::vector<pdl_serving_input> inputs = empty.inputs();
  inputs[1] = {};
  float predictions[3];
  void *outputs[] = {predictions};
  ASSERT_EQ(functions()->run(model, 2, 3, inputs.data(), outputs), 0)
      << functions()->last_error();
  EXPECT_EQ(std::vector<float>(predictions, predictions + 3),
            run(model, empty));
  functions()->close(model);
}

TEST_F(ServingApi, WarnsOfManyUnknownIds) {
  pdl_serving_model *model = functions()->open(save("saved", 0.5F).c_str());
  ASSERT_NE(model, nullptr);
  for (int i = 0; i < 40; ++i)
    run(model);
  // One id of five is unknown.
  EXPECT_STREQ(functions()->warning(model), "");
  Request others;
  std::ranges::fill(others.keys, 12);
  for (int i = 0; i < 40; ++i)
    run(model, others);
  EXPECT_STREQ(functions()->warning(model),
               "240 of 400 looked-up ids (60 %) are unknown to the model; "
               "check that ids are given as in training: texts where the "
               "model hashes them, not numbers of another list");
  EXPECT_EQ(functions()->warning(nullptr), nullptr);
  functions()->close(model);
}

/// Unaligned values are copied, and outputs may be at any address.
TEST_F(ServingApi, MemoryOfCallersMayStandAnywhere) {
  pdl_serving_model *model = functions()->open(save("saved", 0.5F).c_str());
  ASSERT_NE(model, nullptr);
  const Request request;
  std::vector<float> moved(1 + 3 * handWrittenDense);
  std::memcpy(moved.data() + 1, request.dense, sizeof(request.dense));
  std::vector<pdl_serving_input> inputs = request.inputs();
  inputs[0].values = moved.data() + 1;
  float predictions[4];
  void *outputs[] = {predictions + 1};
  ASSERT_EQ(functions()->run_keys(model, 2, 3, inputs.data(), areKeys, outputs),
            0);
  EXPECT_EQ(std::vector<float>(predictions + 1, predictions + 4), run(model));
  functions()->close(model);
}

TEST_F(ServingApi, CallsSeeOneCheckpointEach) {
  const std::string first = save("first", 0.25F), second = save("second", -1);
  pdl_serving_model *model = functions()->open(second.c_str());
  ASSERT_NE(model, nullptr);
  const std::vector<float> ofSecond = run(model);
  ASSERT_EQ(functions()->reload(model, first.c_str()), 0);
  const std::vector<float> ofFirst = run(model);
  ASSERT_NE(ofFirst, ofSecond);
  std::atomic<bool> ends = false;
  std::atomic<int64_t> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      while (!ends) {
        const std::vector<float> found = run(model);
        wrong += found != ofFirst && found != ofSecond;
      }
    });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(functions()->reload(model, (i % 2 ? first : second).c_str()), 0);
  // A failed load changes nothing.
  EXPECT_NE(functions()->reload(model, folder.file("none").c_str()), 0);
  ends = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(run(model), ofFirst);
  functions()->close(model);
}

TEST_F(ServingApi, WhatIsWrongIsSaid) {
  pdl_serving_model *model = functions()->open(save("saved", 1).c_str());
  ASSERT_NE(model, nullptr);
  const Request request;
  float predictions[3];
  void *outputs[] = {predictions};
  auto expect = [&](const char *message, int32_t program, int64_t batch,
                    const std::vector<pdl_serving_input> &inputs) {
    EXPECT_NE(functions()->run_keys(model, program, batch, inputs.data(),
                                    areKeys, outputs),
              0);
    EXPECT_NE(std::string(functions()->last_error()).find(message),
              std::string::npos)
        << functions()->last_error();
  };
  expect("there is no program 9", 9, 3, request.inputs());
  expect("a batch of 0 samples", 2, 0, request.inputs());
  expect("a batch of 16777217 samples", 2, (int64_t(1) << 24) + 1,
         request.inputs());
  std::vector<pdl_serving_input> inputs = request.inputs();
  inputs[0].values = nullptr;
  expect("input 'dense': is missing, and the field has no missing(...)", 2, 3,
         inputs);
  Request unknown;
  unknown.dense[4] = std::numeric_limits<float>::quiet_NaN();
  expect("input 'dense': element 4 is NaN, which means missing, and the field "
         "has no missing(...)",
         2, 3, unknown.inputs());
  EXPECT_NE(functions()->run(model, 2, 3, request.inputs().data(), outputs), 0);
  EXPECT_NE(std::string(functions()->last_error())
                .find("input 'ids': has integers, but the model hashes texts"),
            std::string::npos)
      << functions()->last_error();
  inputs = request.inputs();
  inputs[1].splits = nullptr;
  expect("has no splits", 2, 3, inputs);
  inputs = request.inputs();
  const int64_t ends[] = {0, 0, 0, 0, 0};
  inputs[1].text_ends = ends;
  expect("has values and texts", 2, 3, inputs);
  inputs = request.inputs();
  inputs[0].text_ends = ends;
  expect("has texts, but takes numbers", 2, 3, inputs);
  const int32_t bags[] = {0, 0, 0, 1, 1, 1, 1};
  const int64_t end[] = {1};
  inputs = request.inputs();
  inputs[1] = {nullptr, bags, nullptr, end};
  expect("input 'ids': has ends of texts, but no texts", 2, 3, inputs);
  void *none[] = {nullptr};
  EXPECT_NE(functions()->run(model, 2, 3, request.inputs().data(), none), 0);
  EXPECT_NE(std::string(functions()->last_error()).find("is null"),
            std::string::npos);
  EXPECT_EQ(functions()->find_program("predict"), 2);
  EXPECT_EQ(functions()->find_program("rank"), -1);
  EXPECT_STREQ(functions()->last_error(),
               "the library has no program @rank, only @train, @evaluate, "
               "@predict");
  EXPECT_EQ(functions()->open(nullptr), nullptr);
  EXPECT_NE(functions()->reload(nullptr, "x"), 0);
  pdl_serving_state state = {};
  EXPECT_NE(functions()->state(model, &state), 0);
  functions()->close(model);
  functions()->close(nullptr);
  EXPECT_EQ(pdl_serving_query(PDL_SERVING_VERSION + 1), nullptr);
}

// The checksums are correct. The loaded state is kept.
TEST_F(ServingApi, RefusesKeysThatAreNotInTheirPlace) {
  const auto refusal = [&](const ChangeKeys &change) {
    TestFolder own;
    const Chain chain = makeBaseAndDelta(own);
    pdl_serving_model *model = functions()->open(chain.pathOf(1).c_str());
    EXPECT_NE(model, nullptr) << functions()->last_error();
    const std::vector<float> before = run(model);
    writeOtherKeys(chain.pathOf(2), change);
    EXPECT_NE(functions()->reload(model, chain.pathOf(2).c_str()), 0);
    std::string messages = functions()->last_error();
    EXPECT_EQ(run(model), before);
    functions()->close(model);
    for (const int64_t steps : {2, 1}) {
      if (steps == 1)
        writeOtherKeys(chain.pathOf(1),
                       [](auto &keys, auto &) { std::swap(keys[0], keys[1]); });
      EXPECT_EQ(functions()->open(chain.pathOf(steps).c_str()), nullptr);
      messages += std::string("\n") + functions()->last_error();
    }
    return messages;
  };
  const std::string place = "is not in its place; the checkpoint is damaged";
  for (const ChangeKeys &change :
       {ChangeKeys([](auto &keys, auto &) { std::swap(keys[3], keys[200]); }),
        ChangeKeys([](auto &keys, auto &) { keys[8] = keys[7]; }),
        ChangeKeys([](auto &, auto &erased) { erased.push_back(erased[0]); })})
    EXPECT_THAT(refusal(change),
                testing::MatchesRegex("[^\n]*" + place + "[^\n]*\n[^\n]*" +
                                      place + "[^\n]*\n[^\n]*" + place +
                                      "[^\n]*"));
  EXPECT_THAT(refusal([](auto &keys, auto &erased) { erased = {keys[70]}; }),
              testing::HasSubstr("has a row, and is erased"));
}

// The base of a delta may have been replaced, for example by a training that
// resumed from an earlier checkpoint.
TEST_F(ServingApi, DeltasOfAnotherCheckpointOfThatNameAreNotTaken) {
  auto trained = makeTrained();
  Changes changes(*trained, 1);
  Chain chain(folder);
  chain.save(*trained, 1, false);
  const CheckpointLink first = chain.last;
  pdl_serving_model *model = functions()->open(chain.pathOf(1).c_str());
  ASSERT_NE(model, nullptr) << functions()->last_error();
  for (const int64_t steps : {2, 3}) {
    changes.step();
    chain.save(*trained, steps, true);
  }
  changes.step();
  chain.last = first;
  chain.save(*trained, 2, true);
  ASSERT_EQ(functions()->reload(model, folder.file("chain").c_str()), 0)
      << functions()->last_error();
  pdl_serving_state state = {};
  state.struct_size = sizeof(state);
  ASSERT_EQ(functions()->state(model, &state), 0);
  EXPECT_EQ(state.steps, 2);
  EXPECT_NE(functions()->reload(model, chain.pathOf(3).c_str()), 0);
  functions()->close(model);
}

// Overlapping deltas are merged after their reload. Only the memory use shows
// it.
TEST_F(ServingApi, ManyDeltasAreTheirCheckpoint) {
  auto trained = makeTrained();
  Changes changes(*trained, 1);
  Chain chain(folder);
  chain.save(*trained, 1, false);
  pdl_serving_model *model = functions()->open(chain.pathOf(1).c_str());
  ASSERT_NE(model, nullptr) << functions()->last_error();
  const auto state = [](pdl_serving_model *of) {
    pdl_serving_state found = {};
    found.struct_size = sizeof(found);
    EXPECT_EQ(functions()->state(of, &found), 0);
    return found;
  };
  const int64_t whole = state(model).bytes;
  std::mt19937_64 random(11);
  for (int64_t steps = 2; steps < 16; ++steps) {
    // Large deltas with small ones between them.
    changes.step(steps % 3 ? 60 : 6000, steps % 3 ? 7 : 500);
    chain.save(*trained, steps, true);
    ASSERT_EQ(functions()->reload(model, chain.pathOf(steps).c_str()), 0)
        << functions()->last_error();
    pdl_serving_model *fresh = functions()->open(chain.pathOf(steps).c_str());
    ASSERT_NE(fresh, nullptr) << functions()->last_error();
    EXPECT_EQ(state(model).rows, state(fresh).rows);
    EXPECT_EQ(state(model).steps, steps);
    for (int i = 0; i < 200; ++i) {
      Request request;
      for (int64_t &key : request.keys) {
        const auto drawn = int64_t(random() % uint64_t(keyCount));
        key = drawn % 2 ? drawn : -drawn * 977;
      }
      request.keys[4] = 50'000'000 + int64_t(random() % 80);
      ASSERT_EQ(run(model, request), run(fresh, request)) << "steps " << steps;
    }
    functions()->close(fresh);
  }
  // Five large deltas have more rows than there are keys.
  EXPECT_LT(state(model).bytes, 2 * double(whole));
  EXPECT_EQ(state(model).version, 15);
  functions()->close(model);
}
