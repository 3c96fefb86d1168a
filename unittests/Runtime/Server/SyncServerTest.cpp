//===- SyncServerTest.cpp - Rounds against one process --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneProcess.h"
#include "Support/ErasedRow.h"
#include "Support/TestFolder.h"

#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"

#include <gmock/gmock.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;

namespace {

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
        expectResponses(job, local, next[0]);
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
  // Many servers own no parameters.
  runSync<float>(true, 12, 2, PlacementPolicy::RoundRobin, seed);
}

// One process and three servers resume from files that two servers wrote, and
// vice versa.
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
  EXPECT_THAT(compareStates(*stateOfTwo, *stateOfOne, "A", "B", 3).messages,
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
  // Do the same by requests.
  {
    CheckpointWriter writer(folder.file("step-100"));
    const Message payload = Message::ofString(*writer.folder());
    const Envelope head = {MessageKind::Save, 0, 0, 1, 1, 0};
    std::vector<Message> responses;
    for (size_t s = 0; s < 2; ++s) {
      ASSERT_TRUE(two.server(s).check(head, payload).ok());
      Expected<Message> response = two.server(s).handle(head, payload);
      ASSERT_TRUE(response.ok()) << response.status().message();
      responses.push_back(*std::move(response));
    }
    CheckpointManifest manifest;
    ASSERT_TRUE(joinSaved(responses, StepCounts::Equal, writer, manifest).ok());
    ASSERT_TRUE(writer.commit(manifest).ok());
    const Expected<Checkpoint> asked =
        Checkpoint::open(folder.file("step-100"));
    ASSERT_TRUE(asked.ok()) << asked.status().message();
    EXPECT_THAT(
        compareStates(*stateOf(*asked), *stateOfOne, "A", "B", 3).messages,
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
    // Neither the probe nor the server's test file remains.
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
  // One half, and one half twice.
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

// The save starts between two steps and is written during the next ones.
TEST(SyncServer, PartsAreOfTheSnapshotOfTheirSave) {
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
    Expected<Message> response = two.server(s).handle(head, payload);
    EXPECT_TRUE(response.ok()) << response.status().message();
    return response ? *std::move(response) : Message();
  };
  const auto commit = [&](CheckpointWriter &writer,
                          const std::vector<Message> &responses) {
    CheckpointManifest manifest;
    EXPECT_TRUE(joinSaved(responses, StepCounts::Equal, writer, manifest).ok());
    EXPECT_TRUE(writer.commit(manifest).ok());
  };
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(two.step(now, now, random).ok());
    const std::string stoppingPath =
                          CheckpointFolder::nameIn(folder.file(""), 2 * round),
                      backgroundPath = CheckpointFolder::nameIn(folder.file(""),
                                                                2 * round + 1);
    CheckpointWriter stopping(stoppingPath), background(backgroundPath);
    std::vector<Message> expected, responses(2);
    for (size_t s = 0; s < 2; ++s)
      expected.push_back(ask(s, SaveKind::Stopping, *stopping.folder()));
    const std::string into = *background.folder();
    for (size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(ask(s, SaveKind::Begin, into).toString(),
                savingResponse().toString());
      EXPECT_THAT(decodeSaved(ask(s, SaveKind::Poll, into + "/other"))
                      .status()
                      .message(),
                  HasSubstr("has begun no save into"));
    }
    for (int step = 0; step < 3; ++step)
      ASSERT_TRUE(two.step(now, now, random).ok());
    for (size_t s = 0; s < 2; ++s)
      while ((responses[s] = ask(s, SaveKind::Poll, into)).toString() ==
             savingResponse().toString())
        std::this_thread::yield();
    commit(stopping, expected);
    commit(background, responses);
    const Expected<Checkpoint> a = Checkpoint::open(stoppingPath),
                               b = Checkpoint::open(backgroundPath);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_THAT(compareStates(*stateOf(*a), *stateOf(*b), "A", "B", 3).messages,
                testing::IsEmpty());
  }
  // Start a save that will not be finished, and request one into a folder that
  // does not exist.
  CheckpointWriter left(folder.file("step-100"));
  ask(0, SaveKind::Begin, *left.folder());
  EXPECT_THAT(
      decodeSaved(ask(0, SaveKind::Begin, folder.file("step-7.tmp.nowhere")))
          .status()
          .message(),
      HasSubstr("server 0 does not see the folder"));
  ask(1, SaveKind::Begin, *left.folder());
  ASSERT_TRUE(two.step(now, now, random).ok());
  // Neither trainers nor servers may have files of others overwritten.
  for (const std::string &other :
       {std::string("/somewhere/step-7.tmp.1"), folder.file("step-1"),
        folder.file("step-1.tmp.2/.."), folder.file("")}) {
    for (const SaveKind kind : {SaveKind::Begin, SaveKind::Stopping})
      EXPECT_FALSE(
          two.server(0).check(head, encodeSaveRequest({kind, other})).ok())
          << other;
    EXPECT_THAT(
        decodeSaved(two.server(0).saves().savePart(other)).status().message(),
        HasSubstr("server 0: a request to save names"));
  }
  CheckpointWriter own(folder.file("step-8"));
  EXPECT_TRUE(decodeSaved(two.server(0).saves().savePart(*own.folder())).ok());
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
  auto messageOf = [&](MessageKind kind, const Message &payload,
                       uint32_t trainer = 0) {
    return job.server(0)
        .check({kind, trainer, 0, 1, 1, 0}, payload)
        .status()
        .message();
  };
  // Gradients before any key was sent.
  EXPECT_THAT(
      messageOf(MessageKind::Exchange, job.exchange(now[0], nullptr, false)[0]),
      HasSubstr("a step it is not in"));
  ASSERT_TRUE(job.step({}, now, random).ok());
  // The payload of another server, rows of other keys, and norms where none are
  // allowed.
  EXPECT_THAT(
      messageOf(MessageKind::Exchange, job.exchange(now[0], nullptr, false)[1]),
      HasSubstr("damaged"));
  EXPECT_THAT(
      messageOf(MessageKind::Exchange, job.exchange(now[1], nullptr, false)[0]),
      HasSubstr("damaged"));
  EXPECT_THAT(
      messageOf(MessageKind::Norm, ExchangeWriter(job.layout(0), {}).finish()),
      HasSubstr("without a clip"));
  EXPECT_THAT(messageOf(MessageKind::Exchange, Message::ofString("x")),
              HasSubstr("damaged"));
  EXPECT_THAT(
      messageOf(MessageKind::Pull, ExchangeWriter(job.layout(0), {}).finish()),
      HasSubstr("trains"));
  EXPECT_THAT(messageOf(MessageKind::Exchange,
                        ExchangeWriter(job.layout(1), {}).finish()),
              HasSubstr("frozen"));
  // Nothing has changed.
  local.insert(now);
  ASSERT_TRUE(job.step(now, {}, random).ok());
  local.step(now);
  expectSame(job, local);
}

// Trainers take note of a request to save only after a step, and save once.
TEST(SyncServer, TheFirstStepThatEndsCarriesARequestToSave) {
  std::mt19937 random(6);
  for (const bool clipped : {false, true}) {
    ServerJob<float> job({PDL_F32, clipped}, 1, 2, PlacementPolicy::LeastLoaded,
                         1);
    std::vector<Gradients<float>> now = randomGradients<float>(2, random);
    now[0].present = now[1].present = true;
    EXPECT_TRUE(job.server(0).requestSave());
    ASSERT_TRUE(job.step({}, now, random).ok());
    EXPECT_FALSE(job.wantsSave);
    ASSERT_TRUE(job.step(now, now, random).ok());
    EXPECT_TRUE(job.wantsSave);
    ASSERT_TRUE(job.step(now, {}, random).ok());
    EXPECT_FALSE(job.wantsSave);
  }
}

TEST(SyncServer, AllTrainersMustSendTheSameNorm) {
  std::mt19937 random(5);
  ServerJob<float> job({PDL_F32, true}, 1, 2, PlacementPolicy::LeastLoaded, 1);
  std::vector<Gradients<float>> now = randomGradients<float>(2, random);
  now[0].present = now[1].present = true;
  ASSERT_TRUE(job.step({}, now, random).ok());
  std::vector<std::vector<Message>> responses;
  ASSERT_TRUE(job.round(MessageKind::Exchange,
                        {job.exchange(now[0], nullptr, false),
                         job.exchange(now[1], nullptr, false)},
                        responses, random)
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
  EXPECT_THAT(check(0, 0, false), HasSubstr("although they are expected"));
  EXPECT_EQ(check(0, 2.5), "");
  EXPECT_THAT(check(1, std::nextafter(2.5, 3.0)), HasSubstr("different norms"));
  EXPECT_EQ(check(1, 2.5), "");
  // Gradients are not expected now.
  EXPECT_THAT(job.server(0)
                  .check({MessageKind::Exchange, 0, 0, 1, 1, 0},
                         job.exchange(now[0], nullptr, false)[0])
                  .status()
                  .message(),
              HasSubstr("while norms are due"));
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
