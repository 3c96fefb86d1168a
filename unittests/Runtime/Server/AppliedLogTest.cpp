//===- AppliedLogTest.cpp - Logs of applied requests ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServerJob.h"
#include "Support/TestFolder.h"

#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/Server/LoggedApplication.h"
#include "pdlrt/Server/Replay.h"
#include "pdlrt/State/StateDigest.h"

#include "gmock/gmock.h"

#include <cstring>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

constexpr BlockVariant asyncVariant = {PDL_F32, false, PDL_MODE_ASYNC};

/// Servers of mode async with three trainers, which write logs.
class LoggedJob {
public:
  LoggedJob(const TestFolder &folder, const std::string &name, int32_t servers,
            const Checkpoint *from = nullptr,
            const BlockVariant &variant = asyncVariant)
      : job(variant, servers, trainers, PlacementPolicy::LeastLoaded, 2) {
    for (int32_t s = 0; s < servers; ++s) {
      StateServer &server = job.server(s);
      if (from) {
        EXPECT_TRUE(
            restoreModel(server.model(), *from, CheckpointUse::Training).ok());
      }
      logs.push_back(folder.file(name + std::to_string(s)));
      auto writer = AppliedLogWriter::create(
          logs.back(), {server.handshake(), digestOfState(server.model())});
      EXPECT_TRUE(writer.ok()) << writer.status().message();
      writers.push_back(std::move(*writer));
      fronts.push_back(
          std::make_unique<LoggedApplication>(server, *writers.back()));
      job.setFront(s, *fronts.back());
    }
  }

  /// Lets all trainers join, with that many workers each.
  void join(int64_t workers) {
    for (int32_t s = 0; s < int32_t(job.size()); ++s)
      for (uint32_t t = 0; t < trainers; ++t) {
        Handshake handshake = job.server(s).handshake();
        handshake.workers = workers;
        handshake.checkpoint = testing::TempDir();
        Envelope request;
        request.kind = MessageKind::Join;
        request.trainer = t;
        const auto response =
            fronts[s]->join(request, encodeHandshake(handshake));
        EXPECT_TRUE(response.ok()) << response.status().message();
      }
  }
  /// Sends pushes of random trainers; the first of each has only keys.
  void run(int steps, std::mt19937 &random) {
    std::vector<Gradients<float>> now(trainers);
    for (int step = 0; step < steps; ++step) {
      const uint32_t t = random() % trainers;
      std::vector<Gradients<float>> next = randomGradients<float>(1, random);
      next[0].present = true;
      const Status status = job.asyncStep(t, now[t], &next[0]);
      ASSERT_TRUE(status.ok()) << status.message();
      now[t] = std::move(next[0]);
    }
  }
  void finish() {
    for (size_t s = 0; s < writers.size(); ++s) {
      const Status status =
          writers[s]->finish(digestOfState(job.server(s).model()));
      EXPECT_TRUE(status.ok()) << status.message();
    }
  }
  /// Saves a checkpoint of all servers.
  Checkpoint save(const std::string &path) {
    CheckpointWriter writer(path);
    for (size_t s = 0; s < job.size(); ++s)
      EXPECT_TRUE(saveParts(job.server(s).model(),
                            "dense-" + std::to_string(s) + ".safetensors",
                            writer)
                      .ok());
    CheckpointManifest manifest;
    describeModel(job.server(0).model(), manifest);
    EXPECT_TRUE(writer.commit(manifest).ok());
    return *Checkpoint::open(path);
  }

  static constexpr uint32_t trainers = 3;
  ServerJob<float> job;
  std::vector<std::string> logs;

private:
  std::vector<std::unique_ptr<AppliedLogWriter>> writers;
  std::vector<std::unique_ptr<LoggedApplication>> fronts;
};

/// Returns the output of a replay, or its error.
std::string replay(const pdl_descriptor &descriptor,
                   const ReplayOptions &options) {
  std::string text;
  const Status status = replayLogs(
      descriptor, options, [&](const std::string &line) { text += line; });
  return status.ok() ? text : "error: " + status.message();
}

/// Reads a log to its end. Returns the message of the first error.
std::string readAll(const std::string &path) {
  auto reader = AppliedLogReader::open(path);
  if (!reader)
    return reader.status().message();
  while (true) {
    auto request = (*reader)->next();
    if (!request)
      return request.status().message();
    if (!*request)
      return {};
  }
}

void expectSameState(const Checkpoint &a, const std::string &path) {
  const Expected<Checkpoint> b = Checkpoint::open(path);
  ASSERT_TRUE(b.ok()) << b.status().message();
  EXPECT_THAT(compareStates(*stateOf(a), *stateOf(*b), "A", "B", 3).messages,
              testing::IsEmpty());
  EXPECT_EQ(a.manifest().groupSteps, b->manifest().groupSteps);
}

} // namespace

TEST(AppliedLog, AReplayGivesTheState) {
  TestFolder folder;
  std::mt19937 random(1);
  LoggedJob first(folder, "first", 2);
  first.run(30, random);
  first.finish();
  const Checkpoint saved = first.save(folder.file("saved"));
  EXPECT_GT(saved.manifest().groupSteps[0].second, 10);
  // Logs in another order, with another number of threads.
  ReplayOptions options;
  options.logs = {first.logs[1], first.logs[0]};
  options.output = folder.file("again");
  options.threads = 1;
  EXPECT_THAT(replay(first.job.descriptor(), options),
              AllOf(HasSubstr("30 requests"), HasSubstr("wrote ")));
  expectSameState(saved, options.output);
  EXPECT_THAT(folder.read("first0"), testing::Not(HasSubstr("secret")));

  // A job that resumes from there with other servers.
  LoggedJob second(folder, "second", 3, &saved);
  second.run(12, random);
  second.finish();
  ReplayOptions more;
  more.logs = second.logs;
  EXPECT_THAT(replay(first.job.descriptor(), more),
              HasSubstr("began with another state; give the --init-from"));
  more.checkpoint = folder.file("saved");
  more.output = folder.file("more");
  EXPECT_THAT(replay(first.job.descriptor(), more), HasSubstr("12 requests"));
  expectSameState(second.save(folder.file("saved2")), more.output);
}

// Learning rates may be divided by the number of workers, which servers learn
// from the first join.
TEST(AppliedLog, AReplayKnowsTheNumberOfSenders) {
  TestFolder folder;
  std::mt19937 random(8);
  LoggedJob joined(folder, "joined", 2), alone(folder, "alone", 2);
  joined.join(4);
  EXPECT_EQ(joined.job.server(0).model().senders(), 12);
  EXPECT_EQ(alone.job.server(0).model().senders(), 1);
  std::mt19937 same = random;
  joined.run(20, random);
  alone.run(20, same);
  joined.finish();
  alone.finish();
  EXPECT_NE(digestOfState(joined.job.server(0).model()),
            digestOfState(alone.job.server(0).model()));
  ReplayOptions options;
  options.logs = joined.logs;
  options.output = folder.file("again");
  EXPECT_THAT(replay(joined.job.descriptor(), options),
              HasSubstr("20 requests"));
  expectSameState(joined.save(folder.file("saved")), options.output);
}

// The responses determine the values that a sender has read.
TEST(AppliedLog, AReplayCompensatesDelays) {
  TestFolder folder;
  std::mt19937 random(9);
  BlockVariant variant = asyncVariant;
  variant.compensates = true;
  LoggedJob job(folder, "late", 2, nullptr, variant), other(folder, "plain", 2);
  std::mt19937 same = random;
  job.run(30, random);
  other.run(30, same);
  job.finish();
  other.finish();
  EXPECT_NE(digestOfState(job.job.server(0).model()),
            digestOfState(other.job.server(0).model()));
  ReplayOptions options;
  options.logs = job.logs;
  options.output = folder.file("again");
  EXPECT_THAT(replay(job.job.descriptor(), options), HasSubstr("30 requests"));
  expectSameState(job.save(folder.file("saved")), options.output);
}

TEST(AppliedLog, DamageIsNoticedWhereverItIs) {
  TestFolder folder;
  std::mt19937 random(2);
  LoggedJob job(folder, "log", 1);
  job.run(4, random);
  job.finish();
  const std::string whole = folder.read("log0");
  ASSERT_EQ(readAll(job.logs[0]), "");
  ASSERT_GT(whole.size(), 5000u);
  // Covers each byte of the heads, and some of the rest.
  for (size_t at = 0; at < whole.size(); at += at < 700 ? 1 : 61) {
    std::string changed = whole;
    changed[at] = char(changed[at] ^ (1 << (at % 8)));
    EXPECT_NE(readAll(folder.write("changed", changed)), "") << at;
    EXPECT_NE(readAll(folder.write("cut", whole.substr(0, at))), "") << at;
  }
  EXPECT_THAT(readAll(folder.write("longer", whole + "x")),
              HasSubstr("bytes after its end"));
  EXPECT_THAT(readAll(folder.write("empty", "")), HasSubstr("is no log"));
  EXPECT_THAT(readAll(folder.write("text", std::string(5000, 'x'))),
              HasSubstr("is no log"));
  EXPECT_THAT(readAll(folder.file("absent")), HasSubstr("cannot be read"));
}

TEST(AppliedLog, RecordsThatAreLostDoubledOrMovedAreNoticed) {
  TestFolder folder;
  std::mt19937 random(3);
  LoggedJob job(folder, "log", 1);
  job.run(3, random);
  job.finish();
  const std::string whole = folder.read("log0");
  // For each request, there is a record when it is taken and one when its
  // response is sent. The file has a magic number, then records of 24 bytes and
  // a body.
  std::vector<std::string> pieces = {whole.substr(0, 16)};
  for (size_t at = 16; at < whole.size(); at += pieces.back().size()) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, whole.data() + at + 8, sizeof(bytes));
    pieces.push_back(whole.substr(at, 24 + bytes));
  }
  ASSERT_EQ(pieces.size(), 9u);
  auto withRecords = [&](const std::vector<size_t> &order) {
    std::string text = pieces[0];
    for (size_t record : order)
      text += pieces[record];
    return readAll(folder.write("changed", text));
  };
  EXPECT_EQ(withRecords({1, 2, 3, 4, 5, 6, 7, 8}), "");
  EXPECT_THAT(withRecords({1, 2, 3, 5, 6, 7, 8}),
              HasSubstr("another checksum"));
  EXPECT_THAT(withRecords({1, 3, 2, 4, 5, 6, 7, 8}),
              HasSubstr("another checksum"));
  EXPECT_THAT(withRecords({1, 2, 2, 3, 4, 5, 6, 7, 8}),
              HasSubstr("another checksum"));
  EXPECT_THAT(withRecords({1, 2, 8}), HasSubstr("another checksum"));
  EXPECT_THAT(withRecords({2, 3, 4, 5, 6, 7, 8}),
              HasSubstr("another checksum"));
}

TEST(AppliedLog, WhatIsWholeOfACutLogCanBeReplayed) {
  TestFolder folder;
  std::mt19937 random(4);
  auto job = std::make_unique<LoggedJob>(folder, "log", 1);
  job->run(6, random);
  const Checkpoint saved = job->save(folder.file("saved"));
  ReplayOptions options;
  options.logs = job->logs;
  options.output = folder.file("again");
  // The server is destroyed before the end.
  job.reset();
  const BlockProgram program(asyncVariant);
  EXPECT_THAT(replay(program.descriptor(), options),
              AllOf(HasSubstr("log0: it ends without its end mark"),
                    HasSubstr("its first 6 requests are whole: --requests 6")));
  EXPECT_FALSE(std::filesystem::exists(options.output));
  options.requests = 6;
  EXPECT_THAT(replay(program.descriptor(), options),
              HasSubstr("the first 6 requests"));
  expectSameState(saved, options.output);
}

TEST(AppliedLog, LogsOfOthersAreRefused) {
  TestFolder folder;
  std::mt19937 random(5);
  LoggedJob two(folder, "two", 2), three(folder, "three", 3);
  two.run(5, random);
  two.finish();
  three.run(5, random);
  three.finish();
  const pdl_descriptor &descriptor = two.job.descriptor();
  EXPECT_THAT(replay(descriptor, {}), HasSubstr("no log to replay"));
  auto messageOf = [&](std::vector<std::string> logs) {
    ReplayOptions options;
    options.logs = std::move(logs);
    options.output = folder.file("out");
    return replay(descriptor, options);
  };
  EXPECT_THAT(messageOf({two.logs[0], two.logs[0]}),
              HasSubstr("are both of server 0"));
  EXPECT_THAT(messageOf({two.logs[0], three.logs[1]}),
              AllOf(HasSubstr("are not of one job"), HasSubstr("3 servers")));
  EXPECT_THAT(messageOf({two.logs[1]}),
              HasSubstr("had 2 servers, but there are 1 logs"));
  const BlockProgram other({PDL_F64, false, PDL_MODE_ASYNC});
  ReplayOptions options;
  options.logs = two.logs;
  EXPECT_THAT(replay(other.descriptor(), options),
              AllOf(HasSubstr("is of another program"), HasSubstr("f64"),
                    HasSubstr("use the pserver that wrote it")));
}

TEST(AppliedLog, ADiskErrorIsAMessage) {
  TestFolder folder;
  EXPECT_THAT(
      AppliedLogWriter::create(folder.file("no/such"), {}).status().message(),
      HasSubstr("cannot be created: No such file or directory"));
  const std::string there = folder.write("there", "evidence");
  EXPECT_THAT(AppliedLogWriter::create(there, {}).status().message(),
              HasSubstr("is there already"));
  EXPECT_EQ(folder.read("there"), "evidence");

  auto full = AppliedLogWriter::create("/dev/full", {});
  ASSERT_TRUE(full.ok()) << full.status().message();
  while ((*full)->status().ok())
    std::this_thread::yield();
  // A failed log does not delay the server.
  const size_t bytes = size_t(300) << 20;
  const std::shared_ptr<std::byte[]> room(new std::byte[bytes]);
  Message large;
  large.append({room.get(), bytes, room});
  for (int i = 0; i < 3; ++i)
    (*full)->append({MessageKind::Exchange, 0, 1, 1, 1, 0}, large, Turn::Alone);
  EXPECT_THAT((*full)->status().message(),
              HasSubstr("/dev/full: cannot be written: No space left"));
  EXPECT_FALSE((*full)->finish(0).ok());
}
