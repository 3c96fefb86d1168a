//===- StateServerTest.cpp - Servers hold what one process would ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServerJob.h"
#include "Support/ErasedRow.h"
#include "Support/TestFolder.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/Engine/BatchContext.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"

#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <limits>
#include <map>
#include <thread>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;

namespace {

/// One process that owns all state, stepped by the same gradients.
template <typename T> class Reference {
public:
  explicit Reference(BlockVariant variant)
      : program([&] {
          variant.mode = PDL_MODE_LOCAL;
          return variant;
        }()),
        model(program.descriptor(), 5),
        train(program.descriptor().programs[BlockTrain]),
        updater(model, train, scheduler),
        blocks(gradientBlocks(program.descriptor(), train)) {}

  void insert(const std::vector<Gradients<T>> &next) {
    for (const Gradients<T> &each : next)
      for (int i = 0; i < 2 && each.present; ++i)
        (void)rowsOf(i, each.keys[i]);
  }
  /// `norm`: the squared norm of the clip, if it is given; else formed here.
  void step(const std::vector<Gradients<T>> &gradients, double norm = -1) {
    std::vector<Contribution> parts(gradients.size());
    std::vector<std::vector<void *>> rows;
    std::vector<std::vector<const void *>> pointers;
    rows.reserve(2 * gradients.size());
    pointers.reserve(2 * gradients.size());
    for (size_t t = 0; t < gradients.size(); ++t) {
      const Gradients<T> &from = gradients[t];
      parts[t].present = from.present;
      parts[t].objectives = {{from.loss, from.weight}};
      parts[t].blocks.resize(4);
      parts[t].blocks[0].dense = from.w.data();
      parts[t].blocks[1].dense = from.b.data();
      for (int i = 0; i < 2; ++i) {
        rows.push_back(
            rowsOf(i, from.present ? from.keys[i] : std::vector<int64_t>()));
        std::vector<const void *> &list = pointers.emplace_back();
        const size_t width = i == 0 ? 4 : 2;
        for (size_t k = 0; k < rows.back().size(); ++k)
          list.push_back(from.rows[i].data() + k * width);
        parts[t].blocks[2 + i] = {nullptr, int64_t(rows.back().size()),
                                  from.keys[i].data(), rows.back().data(),
                                  list.data()};
      }
    }
    ASSERT_TRUE(sum.assign(blocks, parts, scheduler).ok());
    if (!sum.result().present || !sum.result().hasWeight())
      return;
    if (norm < 0) {
      ASSERT_TRUE(updater.apply(sum.result()).ok());
      return;
    }
    updater.begin(sum.result());
    ASSERT_TRUE(updater.finish(sum.result(), {norm}).ok());
  }
  std::vector<void *> rowsOf(int table, const std::vector<int64_t> &keys) {
    std::vector<void *> rows(keys.size());
    TableScratch scratch;
    int64_t inserted = 0;
    EXPECT_TRUE(model.table(table == 0 ? BlockLazy : BlockAll)
                    ->findOrInsert(int64_t(keys.size()), keys.data(),
                                   rows.data(), scratch, inserted)
                    .ok());
    return rows;
  }

  BlockProgram program;
  Scheduler scheduler{1};
  Model model;
  const pdl_program &train;
  Updater updater;
  std::vector<GradientBlock> blocks;
  RunningSum sum;
};

template <typename T>
uint32_t usesIn(const Reference<T> &local, int32_t table, const TableRow &row) {
  return local.model.table(table)->layout().headerOf(row.row).uses();
}

/// Whether rows have headers that tell how often they were used, or came from a
/// checkpoint, which does not hold them.
enum class Headers { Kept, Restored };

/// All values and slots of all servers, against those of one process; and how
/// often rows were used.
template <typename T>
void expectSame(ServerJob<T> &job, Reference<T> &local,
                Headers headers = Headers::Kept) {
  const pdl_descriptor &descriptor = job.descriptor();
  for (int32_t index = 0; index < BlockSymbols; ++index) {
    const pdl_symbol &symbol = descriptor.symbols[index];
    const size_t rowBytes = size_t(symbol.row_width) * sizeof(T);
    for (size_t s = 0; s < job.size(); ++s) {
      Model &own = job.server(s).model();
      if (symbol.kind == PDL_SYMBOL_PARAMETER) {
        size_t at = 0;
        for (const RowBlock &run : job.map().rowsOf(index, int(s))) {
          for (int32_t slot = -1; slot < symbol.slot_count; ++slot) {
            auto *mine = static_cast<char *>(slot < 0 ? own.value(index)
                                                      : own.slot(index, slot));
            auto *whole =
                static_cast<char *>(slot < 0 ? local.model.value(index)
                                             : local.model.slot(index, slot));
            EXPECT_EQ(std::memcmp(mine + at,
                                  whole + size_t(run.firstRow) * rowBytes,
                                  size_t(run.rowCount) * rowBytes),
                      0)
                << symbol.name << " slot " << slot << " on server " << s;
          }
          at += size_t(run.rowCount) * rowBytes;
        }
        EXPECT_EQ(own.heldElements(index),
                  int64_t(at / rowBytes) * symbol.row_width);
        continue;
      }
      std::vector<TableRow> mine, theirs;
      for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
        own.table(index)->collectShard(shard, mine);
        if (job.map().ownerOf(index, shard) != int(s)) {
          EXPECT_TRUE(mine.empty());
          continue;
        }
        local.model.table(index)->collectShard(shard, theirs);
        ASSERT_EQ(mine.size(), theirs.size());
        for (size_t i = 0; i < mine.size(); ++i) {
          EXPECT_EQ(mine[i].key, theirs[i].key);
          EXPECT_EQ(std::memcmp(mine[i].row, theirs[i].row,
                                own.table(index)->rowBytes()),
                    0)
              << symbol.name << ", key " << mine[i].key;
          if (headers == Headers::Restored)
            continue;
          EXPECT_EQ(own.table(index)->layout().headerOf(mine[i].row).uses(),
                    usesIn(local, index, theirs[i]))
              << symbol.name << ", key " << mine[i].key;
        }
      }
    }
  }
  for (size_t s = 0; s < job.size(); ++s)
    for (int32_t g = 0; g < descriptor.group_count; ++g)
      EXPECT_EQ(job.server(s).model().stepCount(g), local.model.stepCount(g));
}

/// What trainer 0 was answered, against the same.
template <typename T>
void expectAnswers(ServerJob<T> &job, Reference<T> &local,
                   const Gradients<T> &next) {
  for (int32_t index : {BlockW, BlockB, BlockC})
    EXPECT_EQ(std::memcmp(job.mirrors[index].data(), local.model.value(index),
                          job.mirrors[index].size() * sizeof(T)),
              0);
  for (int i = 0; i < 2; ++i) {
    const auto rows = local.rowsOf(i, next.keys[i]);
    const size_t width = i == 0 ? 4 : 2;
    for (size_t k = 0; k < rows.size(); ++k)
      EXPECT_EQ(std::memcmp(job.rows[i].data() + k * width, rows[k],
                            width * sizeof(T)),
                0);
  }
}

template <typename T>
void runSync(bool clipped, int32_t servers, uint32_t trainers,
             PlacementPolicy policy, uint32_t seed) {
  SCOPED_TRACE(testing::Message()
               << "clipped " << clipped << ", " << servers << " servers, "
               << trainers << " trainers, " << placementPolicyName(policy));
  std::mt19937 random(seed);
  const BlockVariant variant = {sizeof(T) == 4 ? PDL_F32 : PDL_F64, clipped};
  Reference<T> local(variant);
  ServerJob<T> job(variant, servers, trainers, policy, 1 + int(seed % 3));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<Gradients<T>> now = randomGradients<T>(trainers, random);
    Status status = job.step({}, now, random);
    ASSERT_TRUE(status.ok()) << status.message();
    local.insert(now);
    expectSame(job, local);
    for (int step = 0; step < 12; ++step) {
      std::vector<Gradients<T>> next;
      if (step < 11)
        next = randomGradients<T>(trainers, random);
      status = job.step(now, next, random);
      ASSERT_TRUE(status.ok()) << status.message();
      local.step(now);
      local.insert(next);
      expectSame(job, local);
      if (!next.empty() && next[0].present)
        expectAnswers(job, local, next[0]);
      EXPECT_EQ(job.contributors,
                std::count_if(next.begin(), next.end(),
                              [](const auto &each) { return each.present; }));
      if (local.sum.result().present) {
        EXPECT_EQ(job.lossSum, local.sum.result().objectives[0].loss);
        EXPECT_EQ(job.weightSum, local.sum.result().objectives[0].weight);
      }
      now = std::move(next);
    }
  }
  EXPECT_GT(local.model.stepCount(0), 10);
}

} // namespace

TEST(SyncServer, StateIsThatOfOneProcessForAnyNumberOfServers) {
  uint32_t seed = 1;
  for (bool clipped : {false, true})
    for (int32_t servers : {1, 2, 3})
      for (uint32_t trainers : {1u, 2u, 3u}) {
        runSync<float>(clipped, servers, trainers, PlacementPolicy::LeastLoaded,
                       seed++);
        runSync<double>(clipped, servers, trainers, PlacementPolicy::HashName,
                        seed++);
      }
  // Many own nothing of the parameters.
  runSync<float>(true, 12, 2, PlacementPolicy::RoundRobin, seed);
}

// What two servers wrote, one process and three servers go on from, and the
// other way round.
TEST(SyncServer, PartsOfAnyNumberOfServersAreOneCheckpoint) {
  std::mt19937 random(2);
  TestFolder folder;
  Reference<float> local({});
  ServerJob<float> two({}, 2, 2, PlacementPolicy::LeastLoaded, 1);
  std::vector<Gradients<float>> now = randomGradients<float>(2, random);
  now[0].present = now[1].present = true;
  now[0].weight = 1;
  ASSERT_TRUE(two.step({}, now, random).ok());
  ASSERT_TRUE(two.step(now, {}, random).ok());
  local.insert(now);
  local.step(now);

  auto commit = [&](const char *name, const std::vector<Model *> &models) {
    CheckpointWriter writer(folder.file(name));
    for (size_t i = 0; i < models.size(); ++i) {
      const Status status = saveParts(
          *models[i], "dense-" + std::to_string(i) + ".safetensors", writer);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    CheckpointManifest manifest;
    describeModel(*models[0], manifest);
    EXPECT_TRUE(writer.commit(manifest).ok());
    Expected<Checkpoint> checkpoint = Checkpoint::open(folder.file(name));
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    return checkpoint;
  };
  Model *first = &two.server(0).model(), *second = &two.server(1).model();
  const Expected<Checkpoint> ofTwo = commit("two", {first, second});
  const Expected<Checkpoint> ofOne = commit("one", {&local.model});
  ASSERT_TRUE(ofTwo.ok() && ofOne.ok());
  const Expected<ModelState> stateOfTwo = stateOf(*ofTwo);
  const Expected<ModelState> stateOfOne = stateOf(*ofOne);
  ASSERT_TRUE(stateOfTwo.ok() && stateOfOne.ok());
  EXPECT_THAT(compareStates(*stateOfTwo, *stateOfOne, "A", "B", 3).sentences,
              testing::IsEmpty());
  for (const Checkpoint *from : {&*ofTwo, &*ofOne}) {
    ServerJob<float> three({}, 3, 2, PlacementPolicy::HashName, 1);
    for (size_t s = 0; s < 3; ++s) {
      const Status status =
          restoreModel(three.server(s).model(), *from, CheckpointUse::Training);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    expectSame(three, local, Headers::Restored);
    Reference<float> again({});
    ASSERT_TRUE(restoreModel(again.model, *from, CheckpointUse::Training).ok());
    expectSame(two, again, Headers::Restored);
  }
  // The same by requests.
  {
    CheckpointWriter writer(folder.file("asked"));
    const Message payload = Message::ofString(*writer.folder());
    const Envelope head = {MessageKind::Save, 0, 0, 1, 1, 0};
    std::vector<Message> answers;
    for (size_t s = 0; s < 2; ++s) {
      ASSERT_TRUE(two.server(s).check(head, payload).ok());
      Expected<Message> answer = two.server(s).handle(head, payload);
      ASSERT_TRUE(answer.ok()) << answer.status().message();
      answers.push_back(*std::move(answer));
    }
    CheckpointManifest manifest;
    ASSERT_TRUE(joinSaved(answers, StepCounts::Equal, writer, manifest).ok());
    ASSERT_TRUE(writer.commit(manifest).ok());
    const Expected<Checkpoint> asked = Checkpoint::open(folder.file("asked"));
    ASSERT_TRUE(asked.ok()) << asked.status().message();
    EXPECT_THAT(
        compareStates(*stateOf(*asked), *stateOfOne, "A", "B", 3).sentences,
        testing::IsEmpty());
    const Message nowhere = Message::ofString(folder.file("nowhere"));
    EXPECT_THAT(
        decodeSaved(*two.server(0).handle(head, nowhere)).status().message(),
        HasSubstr("server 0 does not see the folder"));
    {
      Expected<SaveProbe> probe = SaveProbe::create(folder.file(""));
      ASSERT_TRUE(probe.ok()) << probe.status().message();
      ASSERT_TRUE(two.server(0).check(head, probe->request()).ok());
      EXPECT_EQ(two.server(0).handle(head, probe->request())->toString(), "+");
    }
    // Neither the probe nor what the server wrote beside it is left.
    for (const auto &entry :
         std::filesystem::directory_iterator(folder.file("")))
      EXPECT_THAT(entry.path().filename().string(),
                  testing::Not(testing::StartsWith(".pdl-probe-")));
    const Message outside = Message::ofString("?/nowhere/.pdl-probe-1");
    EXPECT_FALSE(two.server(0).check(head, outside).ok());
    EXPECT_FALSE(decodeSaved(Message::ofString("+{}")).ok());
    EXPECT_FALSE(decodeSaved(Message()).ok());
    EXPECT_FALSE(
        two.server(0).check({MessageKind::Save, 1, 0, 1, 1, 0}, payload).ok());
  }
  // A half, and a half twice.
  for (const std::vector<Model *> &models :
       {std::vector<Model *>{first}, {first, first}}) {
    CheckpointWriter writer(folder.file("half"));
    Status status;
    for (size_t i = 0; i < models.size(); ++i)
      status = saveParts(*models[i],
                         "dense-" + std::to_string(i) + ".safetensors", writer);
    CheckpointManifest manifest;
    describeModel(*first, manifest);
    ASSERT_TRUE(writer.commit(manifest).ok());
    EXPECT_FALSE(Checkpoint::open(folder.file("half")).ok());
  }
}

// Begun between two steps, and written beside those that follow.
TEST(SyncServer, PartsAreOfTheMomentWhenTheirSaveBegan) {
  std::mt19937 random(2);
  TestFolder folder;
  ServerJob<float> two({}, 2, 2, PlacementPolicy::LeastLoaded, 1);
  std::vector<Gradients<float>> now = randomGradients<float>(2, random);
  now[0].present = now[1].present = true;
  now[0].weight = 1;
  ASSERT_TRUE(two.step({}, now, random).ok());
  const Envelope head = {MessageKind::Save, 0, 0, 1, 1, 0};
  const auto ask = [&](size_t s, SaveKind kind, const std::string &path) {
    const Message payload = encodeSaveRequest({kind, path});
    EXPECT_TRUE(two.server(s).check(head, payload).ok());
    Expected<Message> answer = two.server(s).handle(head, payload);
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    return answer ? *std::move(answer) : Message();
  };
  const auto commit = [&](CheckpointWriter &writer,
                          const std::vector<Message> &answers) {
    CheckpointManifest manifest;
    EXPECT_TRUE(joinSaved(answers, StepCounts::Equal, writer, manifest).ok());
    EXPECT_TRUE(writer.commit(manifest).ok());
  };
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(two.step(now, now, random).ok());
    const std::string number = std::to_string(round);
    CheckpointWriter stopping(folder.file("stopping" + number)),
        beside(folder.file("beside" + number));
    std::vector<Message> expected, answers(2);
    for (size_t s = 0; s < 2; ++s)
      expected.push_back(ask(s, SaveKind::Stopping, *stopping.folder()));
    const std::string into = *beside.folder();
    for (size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(ask(s, SaveKind::Begin, into).toString(),
                answerSaving().toString());
      EXPECT_THAT(decodeSaved(ask(s, SaveKind::Ask, into + "/other"))
                      .status()
                      .message(),
                  HasSubstr("has begun no save into"));
    }
    for (int step = 0; step < 3; ++step)
      ASSERT_TRUE(two.step(now, now, random).ok());
    for (size_t s = 0; s < 2; ++s)
      while ((answers[s] = ask(s, SaveKind::Ask, into)).toString() ==
             answerSaving().toString())
        std::this_thread::yield();
    commit(stopping, expected);
    commit(beside, answers);
    const Expected<Checkpoint> a = Checkpoint::open(
                                   folder.file("stopping" + number)),
                               b = Checkpoint::open(
                                   folder.file("beside" + number));
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_THAT(
        compareStates(*stateOf(*a), *stateOf(*b), "A", "B", 3).sentences,
        testing::IsEmpty());
  }
  // One that was begun last and is not asked for; a folder that is not there.
  CheckpointWriter left(folder.file("left"));
  ask(0, SaveKind::Begin, *left.folder());
  EXPECT_THAT(decodeSaved(ask(0, SaveKind::Begin, folder.file("nowhere")))
                  .status()
                  .message(),
              HasSubstr("server 0 does not see the folder"));
  ask(1, SaveKind::Begin, *left.folder());
  ASSERT_TRUE(two.step(now, now, random).ok());
  EXPECT_FALSE(
      two.server(0)
          .check(head, encodeSaveRequest({SaveKind::Begin, "/somewhere/else"}))
          .ok());
}

TEST(SyncServer, SumsThatAreNotFiniteAreNotApplied) {
  std::mt19937 random(3);
  ServerJob<float> job({}, 2, 2, PlacementPolicy::LeastLoaded, 1);
  Reference<float> local({});
  std::vector<Gradients<float>> now = randomGradients<float>(2, random);
  for (Gradients<float> &each : now) {
    each.present = true;
    each.weight = 1;
    // Both are finite.
    std::fill(each.w.begin(), each.w.end(), 3e38f);
  }
  ASSERT_TRUE(job.step({}, now, random).ok());
  EXPECT_EQ(job.step(now, {}, random).message(),
            "the sum of all replicas' gradients of @w, divided by the sum of "
            "weights, is not finite; nothing of this step was applied: lower "
            "the rate, or look for extreme values in the data");
  local.insert(now);
  expectSame(job, local);
}

TEST(SyncServer, RequestsOutOfStepAreRefused) {
  std::mt19937 random(4);
  ServerJob<float> job({}, 2, 2, PlacementPolicy::LeastLoaded, 1);
  Reference<float> local({});
  std::vector<Gradients<float>> now = randomGradients<float>(2, random);
  now[0].present = now[1].present = true;
  auto sentence = [&](MessageKind kind, const Message &payload,
                      uint32_t trainer = 0) {
    return job.server(0)
        .check({kind, trainer, 0, 1, 1, 0}, payload)
        .status()
        .message();
  };
  // Gradients before any key was sent.
  EXPECT_THAT(
      sentence(MessageKind::Exchange, job.exchange(now[0], nullptr, false)[0]),
      HasSubstr("a step it is not in"));
  ASSERT_TRUE(job.step({}, now, random).ok());
  // Another server's payload, rows of other keys, no norms here.
  EXPECT_THAT(
      sentence(MessageKind::Exchange, job.exchange(now[0], nullptr, false)[1]),
      HasSubstr("damaged"));
  EXPECT_THAT(
      sentence(MessageKind::Exchange, job.exchange(now[1], nullptr, false)[0]),
      HasSubstr("damaged"));
  EXPECT_THAT(
      sentence(MessageKind::Norm, ExchangeWriter(job.layout(0), {}).finish()),
      HasSubstr("without a clip"));
  EXPECT_THAT(sentence(MessageKind::Exchange, Message::ofString("x")),
              HasSubstr("damaged"));
  EXPECT_THAT(
      sentence(MessageKind::Pull, ExchangeWriter(job.layout(0), {}).finish()),
      HasSubstr("trains"));
  EXPECT_THAT(sentence(MessageKind::Exchange,
                       ExchangeWriter(job.layout(1), {}).finish()),
              HasSubstr("frozen"));
  // Nothing has changed.
  local.insert(now);
  ASSERT_TRUE(job.step(now, {}, random).ok());
  local.step(now);
  expectSame(job, local);
}

TEST(SyncServer, AllTrainersMustSendTheSameNorm) {
  std::mt19937 random(5);
  ServerJob<float> job({PDL_F32, true}, 1, 2, PlacementPolicy::LeastLoaded, 1);
  std::vector<Gradients<float>> now = randomGradients<float>(2, random);
  now[0].present = now[1].present = true;
  ASSERT_TRUE(job.step({}, now, random).ok());
  std::vector<std::vector<Message>> answers;
  ASSERT_TRUE(job.round(MessageKind::Exchange,
                        {job.exchange(now[0], nullptr, false),
                         job.exchange(now[1], nullptr, false)},
                        answers, random)
                  .ok());
  const ExchangeLayout &layout = job.layout(BlockTrain);
  auto check = [&](uint32_t trainer, double norm, bool contributes = true) {
    ExchangeWriter writer(layout, {.contributes = contributes});
    if (contributes)
      writer.addCopy(layout.find(PDL_CHANNEL_NORM, 0), &norm, sizeof(norm));
    return job.server(0)
        .check({MessageKind::Norm, trainer, 0, 1, 1, 0}, writer.finish())
        .status()
        .message();
  };
  EXPECT_THAT(check(0, 0, false), HasSubstr("although they are due"));
  EXPECT_EQ(check(0, 2.5), "");
  EXPECT_THAT(check(1, std::nextafter(2.5, 3.0)), HasSubstr("different norms"));
  EXPECT_EQ(check(1, 2.5), "");
  // Gradients are not due.
  EXPECT_THAT(job.server(0)
                  .check({MessageKind::Exchange, 0, 0, 1, 1, 0},
                         job.exchange(now[0], nullptr, false)[0])
                  .status()
                  .message(),
              HasSubstr("while norms are due"));
}

TEST(StateServer, PullsReadWithoutInserting) {
  std::mt19937 random(6);
  ServerJob<float> job({}, 2, 1, PlacementPolicy::LeastLoaded, 2);
  Reference<float> local({});
  std::vector<Gradients<float>> now = randomGradients<float>(1, random);
  now[0].present = true;
  ASSERT_TRUE(job.step({}, now, random).ok());
  ASSERT_TRUE(job.step(now, {}, random).ok());
  local.step(now);

  const ExchangeLayout &layout = job.layout(BlockEvaluate);
  // Every second key is unknown.
  std::vector<int64_t> keys[2];
  for (int i = 0; i < 2; ++i)
    for (int64_t key : now[0].keys[i]) {
      keys[i].push_back(key);
      keys[i].push_back(key ^ (int64_t(1) << 50));
    }
  for (int s = 0; s < 2; ++s) {
    ExchangeWriter writer(layout, {.allValues = true});
    KeyRouter routers[2];
    std::vector<int64_t> counts(layout.channelCount());
    for (int i = 0; i < 2; ++i) {
      const int32_t table = i == 0 ? BlockLazy : BlockAll;
      routers[i].assign(job.map(), table, int64_t(keys[i].size()),
                        keys[i].data());
      const auto own = routers[i].keysOf(s);
      writer.addCopy(layout.find(PDL_CHANNEL_KEYS, table), own.data(),
                     own.size_bytes());
      counts[layout.find(PDL_CHANNEL_ROWS, table)] = int64_t(own.size());
    }
    const Message payload = writer.finish();
    const Envelope head = {MessageKind::Pull, 0, 0, 1, 1, 0};
    const Status status = job.server(s).check(head, payload).status();
    ASSERT_TRUE(status.ok()) << status.message();
    auto message = ExchangeMessage::decode(*job.server(s).handle(head, payload),
                                           layout.channelCount());
    ASSERT_TRUE(message.ok());
    const Status fits = layout.check(ExchangeForm::State, s, *message, counts);
    ASSERT_TRUE(fits.ok()) << fits.message();
    EXPECT_EQ(message->section(layout.find(PDL_CHANNEL_VALUE, BlockW)).size(),
              size_t(job.map().rowCountOf(BlockW, s)) * 12);
    for (int i = 0; i < 2; ++i) {
      const int32_t table = i == 0 ? BlockLazy : BlockAll;
      const size_t width = i == 0 ? 4 : 2;
      const auto own = routers[i].keysOf(s);
      const auto rows =
          message->sectionOf<float>(layout.find(PDL_CHANNEL_ROWS, table));
      const auto missing =
          message->sectionOf<int64_t>(layout.find(PDL_CHANNEL_KEYS, table));
      size_t next = 0;
      for (size_t k = 0; k < own.size(); ++k) {
        std::vector<float> wanted(width);
        void *row = nullptr;
        TableScratch scratch;
        if (local.model.table(table)->find(1, &own[k], &row, scratch) == 0) {
          std::memcpy(wanted.data(), row, width * sizeof(float));
        } else {
          ASSERT_LT(next, missing.size());
          EXPECT_EQ(missing[next++], int64_t(k));
          if (table == BlockLazy) // the other one has unknown(zero)
            local.model.table(table)->initialValue(own[k], wanted.data());
        }
        EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), &rows[k * width]));
      }
      EXPECT_EQ(next, missing.size());
      EXPECT_GT(next, 0u);
    }
  }
  expectSame(job, local);
}

TEST(StateServer, SumsGoOverAllTrainersInRankOrder) {
  std::mt19937 random(7);
  ServerJob<float> job({}, 1, 3, PlacementPolicy::LeastLoaded, 1);
  // In another order the sum would be another one.
  const double sums[] = {1e16, 1, -1e16};
  std::vector<std::vector<Message>> payloads, answers;
  for (int t = 0; t < 3; ++t)
    payloads.push_back({encodeReduce({{1, int64_t(1) << t}, {sums[t]}})});
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(job.round(MessageKind::Reduce, payloads, answers, random).ok());
    for (const Message &answer : answers[0])
      EXPECT_EQ(*decodeReduce(answer),
                (ReduceVectors{{3, 7}, {(1e16 + 1) - 1e16}}));
  }
  const Envelope head = {MessageKind::Reduce, 0, 0, 1, 1, 0};
  ASSERT_TRUE(job.server(0).check(head, payloads[0][0]).ok());
  EXPECT_THAT(
      job.server(0)
          .check({MessageKind::Reduce, 1, 0, 1, 1, 0}, encodeReduce({{1}, {}}))
          .status()
          .message(),
      HasSubstr("gives 1 counts and 0 sums, trainer 0 2 and 1"));
}

TEST(StateServer, JoinsAreCompared) {
  ServerJob<float> job({}, 2, 3, PlacementPolicy::LeastLoaded, 1);
  Handshake trainer = Handshake::of(job.descriptor(), job.map());
  trainer.serverRank = 1;
  trainer.trainers = 3;
  trainer.workers = 2;
  trainer.seed = 5;
  auto join = [&](const Handshake &handshake) {
    return job.server(1).join({MessageKind::Join, 0, 0, 1, 0, 0},
                              encodeHandshake(handshake));
  };
  // The server has a folder of its own.
  EXPECT_THAT(join(trainer).status().message(),
              HasSubstr("nothing would be saved"));
  trainer.checkpoint = testing::TempDir();
  Expected<Message> answer = join(trainer);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  Handshake own = trainer;
  own.checkpoint.clear();
  EXPECT_EQ(*decodeHandshake(*answer), own);
  // The first one has said how many workers there are.
  trainer.workers = 1;
  EXPECT_THAT(join(trainer).status().message(),
              HasSubstr("(--replicas): 1, the server 2"));
  trainer.workers = 2;
  trainer.serverRank = 0;
  EXPECT_THAT(join(trainer).status().message(), HasSubstr("server rank 0"));
  EXPECT_FALSE(
      job.server(1)
          .join({MessageKind::Join, 0, 0, 1, 0, 0}, Message::ofString("hello"))
          .ok());
}

// Who was started for this job with something wrong, and who may have been.
TEST(StateServer, RefusedTrainersAreOfTheJobOrNot) {
  ServerJob<float> job({}, 1, 3, PlacementPolicy::LeastLoaded, 1);
  const auto judge = [&](const std::function<void(Handshake &)> &change) {
    Handshake trainer = Handshake::of(job.descriptor(), job.map());
    change(trainer);
    const Message message = encodeHandshake(trainer);
    return std::pair(job.server(0).isOfJob(message),
                     job.server(0).mayBeOfJob(message));
  };
  const auto ofJob = std::pair(true, true), perhaps = std::pair(false, true),
             stranger = std::pair(false, false);
  EXPECT_EQ(judge([](Handshake &is) { is.seed = 9; }), ofJob);
  EXPECT_EQ(judge([](Handshake &is) {
              is.mode = PDL_MODE_ASYNC;
              is.wireFingerprint = 9;
            }),
            ofJob);
  EXPECT_EQ(judge([](Handshake &is) { is.trainingFingerprint = 9; }), perhaps);
  EXPECT_EQ(judge([](Handshake &is) { is.model = "other"; }), perhaps);
  EXPECT_EQ(judge([](Handshake &is) { is.job = "other"; }), stranger);
  EXPECT_EQ(judge([](Handshake &is) { is.token = "other"; }), stranger);
  EXPECT_TRUE(
      job.server(0).mayBeOfJob(Message::ofString("of another version")));
}

TEST(AsyncServer, OneWorkerIsOneProcess) {
  std::mt19937 random(8);
  for (int32_t servers : {1, 2, 3}) {
    const BlockVariant variant = {PDL_F32, false, PDL_MODE_ASYNC};
    Reference<float> local(variant);
    ServerJob<float> job(variant, servers, 1, PlacementPolicy::LeastLoaded, 2);
    std::vector<Gradients<float>> now = randomGradients<float>(1, random);
    now[0].present = true;
    ASSERT_TRUE(job.asyncStep(0, {}, &now[0]).ok());
    local.insert(now);
    for (int step = 0; step < 15; ++step) {
      std::vector<Gradients<float>> next = randomGradients<float>(1, random);
      next[0].present = true;
      const Status status = job.asyncStep(0, now[0], &next[0]);
      ASSERT_TRUE(status.ok()) << status.message();
      local.step(now);
      local.insert(next);
      expectSame(job, local);
      expectAnswers(job, local, next[0]);
      now = std::move(next);
    }
  }
}

TEST(AsyncServer, EachPushIsAStepOfItsOwn) {
  std::mt19937 random(9);
  const BlockVariant variant = {PDL_F64, false, PDL_MODE_ASYNC};
  Reference<double> local(variant);
  ServerJob<double> job(variant, 2, 3, PlacementPolicy::LeastLoaded, 2);
  std::vector<Gradients<double>> now = randomGradients<double>(3, random);
  for (uint32_t t = 0; t < 3; ++t) {
    now[t].present = true;
    ASSERT_TRUE(job.asyncStep(t, {}, &now[t]).ok());
  }
  local.insert(now);
  for (int step = 0; step < 30; ++step) {
    const uint32_t t = random() % 3;
    std::vector<Gradients<double>> next = randomGradients<double>(1, random);
    next[0].present = true;
    ASSERT_TRUE(job.asyncStep(t, now[t], &next[0]).ok());
    local.step({now[t]});
    local.insert(next);
    expectSame(job, local);
    expectAnswers(job, local, next[0]);
    now[t] = next[0];
  }
}

// Pulls and pushes of one worker by two senders: rows need not be those that
// its last request asked for.
TEST(AsyncServer, PushesWithKeysOfTheirOwnAreSteps) {
  std::mt19937 random(19);
  for (int32_t servers : {1, 3}) {
    const BlockVariant variant = {PDL_F32, false, PDL_MODE_ASYNC};
    Reference<float> local(variant);
    ServerJob<float> job(variant, servers, 2, PlacementPolicy::LeastLoaded, 2);
    for (int step = 0; step < 15; ++step) {
      std::vector<Gradients<float>> next = randomGradients<float>(1, random);
      next[0].present = true;
      ASSERT_TRUE(job.asyncStep(0, {}, &next[0]).ok());
      local.insert(next);
      expectAnswers(job, local, next[0]);
      // Some keys that nobody has asked for.
      std::vector<Gradients<float>> pushed = randomGradients<float>(1, random);
      pushed[0].present = true;
      const Status status = job.asyncPush(1, pushed[0], 1);
      ASSERT_TRUE(status.ok()) << status.message();
      local.step(pushed);
      expectSame(job, local);
    }
  }
}

// What divides the sum of several steps: by hand, as one step of that weight.
TEST(AsyncServer, MergedStepsAreOneStepOfTheirMeanOrTheirSum) {
  std::mt19937 random(20);
  for (const int32_t merge : {PDL_MERGE_MEAN, PDL_MERGE_SUM})
    for (const bool clipped : {false, true}) {
      const BlockVariant variant = {PDL_F32, clipped, PDL_MODE_ASYNC, merge};
      Reference<float> local(variant);
      ServerJob<float> job(variant, 2, 1, PlacementPolicy::LeastLoaded, 1);
      for (uint32_t steps = 1; steps < 9; ++steps) {
        std::vector<Gradients<float>> pushed =
            randomGradients<float>(1, random);
        pushed[0].present = true;
        pushed[0].weight = 6;
        // Far above the limit, so that its value is seen.
        const double norm = 100;
        const Status status = job.asyncPush(0, pushed[0], steps, norm);
        ASSERT_TRUE(status.ok()) << status.message();
        const bool isSum = merge == PDL_MERGE_SUM;
        pushed[0].weight = isSum ? 6.0 / steps : 6.0;
        local.step(pushed, clipped ? norm * (isSum ? steps * steps : 1) : -1);
        expectSame(job, local);
      }
      EXPECT_GT(job.server(0).costs().mergedSteps, 0);
    }
}

//===----------------------------------------------------------------------===//
// Late gradients
//===----------------------------------------------------------------------===//

namespace {

/// What a sender computes on: the state as it is when it is answered.
struct Seen {
  std::vector<float> w, b;
  std::map<int64_t, std::vector<float>> rows;

  Seen() = default;
  Seen(Reference<float> &local, const Gradients<float> &next) {
    const auto *ofW = static_cast<const float *>(local.model.value(BlockW));
    const auto *ofB = static_cast<const float *>(local.model.value(BlockB));
    w.assign(ofW, ofW + 900);
    b.assign(ofB, ofB + 7);
    const std::vector<void *> found = local.rowsOf(0, next.keys[0]);
    for (size_t k = 0; k < found.size(); ++k) {
      const auto *row = static_cast<const float *>(found[k]);
      rows[next.keys[0][k]].assign(row, row + 4);
    }
  }
};

void compensate(float value, float seen, float &gradient) {
  if (value != seen)
    gradient += 0.5F * (gradient * gradient) * (value - seen);
}

/// The gradients that the rule of BlockProgram is to see, of those of a push of
/// weight 1.
std::vector<Gradients<float>> compensated(Reference<float> &local,
                                          const Seen &seen,
                                          Gradients<float> gradients) {
  const auto *w = static_cast<const float *>(local.model.value(BlockW));
  const auto *b = static_cast<const float *>(local.model.value(BlockB));
  for (size_t i = 0; i < gradients.w.size(); ++i)
    compensate(w[i], seen.w[i], gradients.w[i]);
  for (size_t i = 0; i < gradients.b.size(); ++i)
    compensate(b[i], seen.b[i], gradients.b[i]);
  const std::vector<void *> rows = local.rowsOf(0, gradients.keys[0]);
  for (size_t k = 0; k < rows.size(); ++k)
    for (size_t i = 0; i < 4; ++i)
      compensate(static_cast<const float *>(rows[k])[i],
                 seen.rows.at(gradients.keys[0][k])[i],
                 gradients.rows[0][k * 4 + i]);
  return {gradients};
}

Gradients<float> randomGradient(std::mt19937 &random) {
  Gradients<float> result = randomGradients<float>(1, random)[0];
  result.present = true;
  result.weight = 1;
  return result;
}

BlockVariant compensatingVariant(bool clipped = false) {
  BlockVariant variant = {PDL_F32, clipped, PDL_MODE_ASYNC};
  variant.compensates = true;
  return variant;
}

} // namespace

// @b of 0.25, rate 0.05: a push of 1 makes 0.2 of it, and one of 2 that was
// computed on 0.25 is 2 + 0.5 * 4 * (0.2 - 0.25) = 1.9.
TEST(AsyncServer, ALateGradientByHand) {
  std::mt19937 random(30);
  ServerJob<float> job(compensatingVariant(), 1, 2,
                       PlacementPolicy::LeastLoaded, 1);
  auto *b = static_cast<float *>(job.server(0).model().value(BlockB));
  std::fill_n(b, 7, 0.25F);
  Gradients<float> first = randomGradient(random), second = first;
  first.b.assign(7, 1);
  second.b.assign(7, 2);
  ASSERT_TRUE(job.asyncStep(0, {}, &first).ok());
  ASSERT_TRUE(job.asyncStep(1, {}, &second).ok());
  const Gradients<float> none;
  ASSERT_TRUE(job.asyncStep(0, first, &none).ok());
  EXPECT_FLOAT_EQ(b[3], 0.2F);
  ASSERT_TRUE(job.asyncStep(1, second, &none).ok());
  EXPECT_FLOAT_EQ(b[3], 0.2F - 0.05F * 1.9F);
}

TEST(AsyncServer, LateGradientsAreCompensated) {
  std::mt19937 random(31);
  constexpr uint32_t trainers = 3;
  // With a clip rows are updated in the order of shards.
  for (const bool clipped : {false, true}) {
    Reference<float> local(compensatingVariant(clipped));
    ServerJob<float> job(compensatingVariant(clipped), 2, trainers,
                         PlacementPolicy::LeastLoaded, 2);
    Gradients<float> now[trainers];
    Seen seen[trainers];
    for (uint32_t t = 0; t < trainers; ++t) {
      now[t] = randomGradient(random);
      ASSERT_TRUE(job.asyncStep(t, {}, &now[t]).ok());
      local.insert({now[t]});
      seen[t] = Seen(local, now[t]);
    }
    for (int step = 0; step < 20; ++step) {
      const uint32_t t = random() % trainers;
      const Gradients<float> next = randomGradient(random);
      const Status status = job.asyncStep(t, now[t], &next);
      ASSERT_TRUE(status.ok()) << status.message();
      local.step(compensated(local, seen[t], now[t]), clipped ? 0 : -1);
      local.insert({next});
      expectSame(job, local);
      now[t] = next;
      seen[t] = Seen(local, next);
    }
    for (size_t s = 0; s < job.size(); ++s) {
      // One answer of each sender: @w, @b and at most 70 rows.
      EXPECT_GT(job.server(s).costs().seenBytes, 0);
      EXPECT_LE(job.server(s).costs().seenBytes,
                int64_t(trainers) * (907 + 70 * 4) * 4);
    }
  }
}

TEST(AsyncServer, OfOneWorkerNothingIsLate) {
  std::mt19937 random(32);
  Reference<float> local(compensatingVariant());
  ServerJob<float> job(compensatingVariant(), 2, 1,
                       PlacementPolicy::LeastLoaded, 1);
  Gradients<float> now = randomGradient(random);
  ASSERT_TRUE(job.asyncStep(0, {}, &now).ok());
  local.insert({now});
  for (int step = 0; step < 10; ++step) {
    const Gradients<float> next = randomGradient(random);
    ASSERT_TRUE(job.asyncStep(0, now, &next).ok());
    local.step({now});
    local.insert({next});
    expectSame(job, local);
    now = next;
  }
}

// Pulls go ahead of pushes, which bring steps in their order; of a merged push
// each row was seen by the last of its steps that asked for it.
TEST(AsyncServer, PushesBesideStepsAreCompensated) {
  std::mt19937 random(33);
  Reference<float> local(compensatingVariant());
  ServerJob<float> job(compensatingVariant(), 2, 1,
                       PlacementPolicy::LeastLoaded, 2);
  constexpr uint32_t pusher = 3;
  const auto pull = [&](Gradients<float> &step, Seen &seen, bool isFirst) {
    step = randomGradient(random);
    Gradients<float> nothing;
    // Only the first request of a pass asks for all values.
    nothing.present = false;
    const Status status =
        isFirst ? job.asyncStep(0, nothing, &step) : job.asyncPull(0, step);
    EXPECT_TRUE(status.ok()) << status.message();
    local.insert({step});
    seen = Seen(local, step);
  };
  Gradients<float> a, b, c;
  Seen ofA, ofB, ofC;
  pull(a, ofA, true);
  pull(b, ofB, false);
  for (int turn = 0; turn < 3; ++turn) {
    Status status = job.asyncPush(0, a, 1, 0, pusher);
    ASSERT_TRUE(status.ok()) << status.message();
    local.step(compensated(local, ofA, a));
    expectSame(job, local);
    pull(c, ofC, false);
    // Of b and c: gradients of b where c has none.
    Gradients<float> merged = c;
    Seen ofBoth = ofC;
    for (size_t k = 0; k < b.keys[0].size(); ++k)
      if (std::ranges::find(c.keys[0], b.keys[0][k]) == c.keys[0].end()) {
        merged.keys[0].push_back(b.keys[0][k]);
        const auto row = b.rows[0].begin() + ptrdiff_t(k) * 4;
        merged.rows[0].insert(merged.rows[0].end(), row, row + 4);
        ofBoth.rows[b.keys[0][k]] = ofB.rows[b.keys[0][k]];
      }
    pull(a, ofA, false);
    pull(b, ofB, false);
    status = job.asyncPush(0, merged, 2, 0, pusher);
    ASSERT_TRUE(status.ok()) << status.message();
    local.step(compensated(local, ofBoth, merged));
    expectSame(job, local);
  }
  // Two steps are pulled, and not three.
  EXPECT_FALSE(job.asyncPush(0, a, 3, 0, pusher).ok());
}

// Rows that a worker has pulled stay where they are until it has pushed twice.
TEST(AsyncServer, WorkersPassQuiescentPoints) {
  std::mt19937 random(11);
  const BlockVariant variant = {PDL_F32, false, PDL_MODE_ASYNC};
  ServerJob<float> job(variant, 1, 2, PlacementPolicy::LeastLoaded, 1);
  std::vector<Gradients<float>> now = randomGradients<float>(2, random);
  const auto step = [&](uint32_t trainer, bool isFirst) {
    now[trainer].present = true;
    const Gradients<float> pushed = isFirst ? Gradients<float>() : now[trainer];
    ASSERT_TRUE(job.asyncStep(trainer, pushed, &now[trainer]).ok());
  };
  for (uint32_t t : {0, 1})
    step(t, /*isFirst=*/true);
  test::ErasedRow row(*job.server(0).model().table(BlockLazy));
  for (int i = 0; i < 6; ++i)
    step(0, false);
  EXPECT_FALSE(row.isUsedAgain());
  for (int i = 0; i < 4; ++i)
    for (uint32_t t : {0, 1})
      step(t, false);
  EXPECT_TRUE(row.isUsedAgain());
}

TEST(SyncServer, AStepEndsAtAQuiescentPoint) {
  std::mt19937 random(12);
  ServerJob<float> job({}, 1, 1, PlacementPolicy::LeastLoaded, 1);
  std::vector<Gradients<float>> now = randomGradients<float>(1, random);
  now[0].present = true;
  now[0].weight = 1;
  ASSERT_TRUE(job.step({}, now, random).ok());
  test::ErasedRow row(*job.server(0).model().table(BlockLazy));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(row.isUsedAgain());
    ASSERT_TRUE(job.step(now, now, random).ok());
  }
  EXPECT_TRUE(row.isUsedAgain());
}

TEST(AsyncServer, GradientsThatAreNotFiniteAreRefused) {
  std::mt19937 random(10);
  const BlockVariant variant = {PDL_F32, false, PDL_MODE_ASYNC};
  Reference<float> local(variant);
  ServerJob<float> job(variant, 1, 1, PlacementPolicy::LeastLoaded, 1);
  std::vector<Gradients<float>> now = randomGradients<float>(1, random);
  now[0].present = true;
  now[0].weight = 2;
  ASSERT_TRUE(job.asyncStep(0, {}, &now[0]).ok());
  local.insert(now);
  Gradients<float> spoilt = now[0];
  spoilt.rows[0][3] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(job.asyncStep(0, spoilt, nullptr).message(),
              HasSubstr("@lazy, divided by the sum of weights, is not finite"));
  ASSERT_TRUE(job.asyncStep(0, now[0], nullptr).ok());
  local.step(now);
  expectSame(job, local);
}
