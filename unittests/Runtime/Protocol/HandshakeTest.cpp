//===- HandshakeTest.cpp - Comparison of handshakes -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/Handshake.h"

#include "pdlrt/Protocol/StartSign.h"

#include <functional>
#include <gmock/gmock.h>
#include <random>

using namespace pdlrt;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

static Handshake example() {
  Handshake handshake;
  handshake.model = "ctr_dnn";
  handshake.elementType = "f32";
  handshake.layoutFingerprint = 0xfedcba9876543210u;
  handshake.trainingFingerprint = 4;
  handshake.wireFingerprint = 2;
  handshake.mode = PDL_MODE_SYNC;
  handshake.servers = 3;
  handshake.placementPolicy = "least-loaded";
  handshake.placementDigest = 0x8000000000000001u;
  handshake.trainers = 2;
  handshake.serverRank = 1;
  handshake.workers = 4;
  handshake.seed = 0xffffffffffffffffu;
  handshake.onFailure = "wait";
  handshake.startStep = 100;
  handshake.checkpoint = "/shared/saved";
  handshake.job = "tuesday";
  handshake.bounds = "--max-table-memory 4096 --table-eviction least-recent";
  handshake.start = "a file";
  return handshake;
}

TEST(Handshake, GoesBothWays) {
  Expected<Handshake> read = decodeHandshake(encodeHandshake(example()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, example());
  Handshake foreign = example();
  foreign.job = "\xff\xfe";
  EXPECT_TRUE(decodeHandshake(encodeHandshake(foreign)).ok());
}

TEST(Handshake, BytesThatAreNoneAreRefused) {
  const std::string whole = encodeHandshake(example()).toString();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(
        decodeHandshake(Message::ofString(whole.substr(0, size))).ok());
  EXPECT_FALSE(
      decodeHandshake(Message::ofString(std::string(1 << 20, '['))).ok());
  EXPECT_FALSE(decodeHandshake(Message::ofString("[1, 2]")).ok());
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    std::string spoilt = whole;
    for (int k = 0; k < 3; ++k)
      spoilt[random() % spoilt.size()] = char(random());
    (void)decodeHandshake(Message::ofString(spoilt));
  }
}

TEST(Handshake, EachDifferenceIsNamedWithBothValues) {
  EXPECT_TRUE(compareHandshakes(example(), example()).ok());
  auto messageOf = [](const std::function<void(Handshake &)> &change) {
    Handshake trainer = example();
    change(trainer);
    return compareHandshakes(trainer, example()).message();
  };
  EXPECT_EQ(messageOf([](Handshake &h) { h.job = "monday"; }),
            "the trainer is of job 'monday', the server 'tuesday'; this "
            "address belongs to another job: check --servers and --job");
  EXPECT_EQ(messageOf([](Handshake &h) { h.resumes = 1; }),
            "the trainer was started with --resume, the server without "
            "--resume; give --checkpoint FOLDER --resume to trainers and "
            "servers alike (pdl-launch: after each of the two --)");
  EXPECT_THAT(messageOf([](Handshake &h) { h.protocol = 77; }),
              HasSubstr("protocol version 77"));
  EXPECT_THAT(messageOf([](Handshake &h) { h.model = "fm"; }),
              AllOf(HasSubstr("model fm"), HasSubstr("server ctr_dnn")));
  EXPECT_THAT(messageOf([](Handshake &h) { h.mode = PDL_MODE_ASYNC; }),
              AllOf(HasSubstr("mode async"), HasSubstr("server sync")));
  EXPECT_THAT(messageOf([](Handshake &h) { h.elementType = "f64"; }),
              AllOf(HasSubstr("f64"), HasSubstr("f32")));
  EXPECT_THAT(messageOf([](Handshake &h) { h.numerics = PDL_NUMERICS_FAST; }),
              AllOf(HasSubstr("fast"), HasSubstr("strict")));
  EXPECT_THAT(messageOf([](Handshake &h) { h.layoutFingerprint = 1; }),
              AllOf(HasSubstr("layout fingerprint 0000000000000001"),
                    HasSubstr("fedcba9876543210")));
  EXPECT_THAT(messageOf([](Handshake &h) { h.trainingFingerprint = 1; }),
              AllOf(HasSubstr("training fingerprint 0000000000000001"),
                    HasSubstr("0000000000000004")));
  EXPECT_THAT(messageOf([](Handshake &h) { h.wireFingerprint = 3; }),
              AllOf(HasSubstr("wire fingerprint 0000000000000003"),
                    HasSubstr("0000000000000002")));
  EXPECT_THAT(messageOf([](Handshake &h) { h.trainers = 5; }),
              HasSubstr("one of (--trainers) 5, the server 2"));
  EXPECT_THAT(messageOf([](Handshake &h) { h.servers = 2; }),
              HasSubstr("(--servers): 2, the server 3"));
  EXPECT_THAT(messageOf([](Handshake &h) { h.serverRank = 0; }),
              HasSubstr("server rank 0, the server 1"));
  EXPECT_THAT(messageOf([](Handshake &h) { h.placementPolicy = "hash-name"; }),
              HasSubstr("hash-name, the server least-loaded"));
  EXPECT_THAT(messageOf([](Handshake &h) { h.placementDigest = 1; }),
              HasSubstr("the map 0000000000000001"));
  EXPECT_THAT(messageOf([](Handshake &h) { h.workers = 1; }),
              HasSubstr("(--replicas): 1, the server 4"));
  EXPECT_EQ(messageOf([](Handshake &h) { h.workers = 0; }), "");
  EXPECT_THAT(messageOf([](Handshake &h) { h.seed = 7; }),
              HasSubstr("--seed 7, the server 18446744073709551615"));
  EXPECT_EQ(messageOf([](Handshake &h) { h.onFailure = "abort"; }),
            "the trainer has --on-failure abort, the server wait; give all "
            "trainers and all servers the same --on-failure (pdl-launch: "
            "after each of the two --)");
  EXPECT_EQ(messageOf([](Handshake &h) { h.keyPacking = "delta"; }), "");
  EXPECT_EQ(
      messageOf([](Handshake &h) { h.keyPacking = "lzma"; }),
      "the trainer packs keys by 'lzma', which this server does not know; "
      "use trainers and servers of one version");
  EXPECT_EQ(messageOf([](Handshake &h) { h.gradientPacking = "int4"; }),
            "the trainer packs gradients by 'int4', which this server does not "
            "know; use trainers and servers of one version");
  EXPECT_EQ(messageOf([](Handshake &h) {
              h.gradientPacking = "bf16";
              h.trainingFingerprint = 5;
            }),
            "the trainer has --pack-gradients bf16, the server none; give all "
            "trainers and all servers the same --pack-gradients (pdl-launch: "
            "after each of the two --)");
  // A trainer goes back to the checkpoint of the servers.
  EXPECT_EQ(messageOf([](Handshake &h) { h.startStep = 150; }), "");
  EXPECT_THAT(messageOf([](Handshake &h) { h.startStep = 0; }),
              HasSubstr("step 0, the server 100"));
  // A trainer that does not take part may not know the run.
  auto announces = [](Handshake &h) {
    h.takesPart = false;
    h.workers = 1;
    h.seed = 7;
    h.onFailure = "abort";
    h.startStep = 0;
    h.checkpoint.clear();
  };
  EXPECT_EQ(messageOf(announces), "");
  EXPECT_THAT(messageOf([&](Handshake &h) {
                announces(h);
                h.job = "monday";
              }),
              HasSubstr("job 'monday'"));
}

TEST(Handshake, ServersBeginWithTheSame) {
  const auto messageOf = [](const std::function<void(Handshake &)> &change) {
    Handshake second = example();
    second.serverRank = 2;
    change(second);
    return compareServers({encodeHandshake(example()), encodeHandshake(second)})
        .message();
  };
  EXPECT_EQ(messageOf([](Handshake &) {}), "");
  EXPECT_EQ(messageOf([](Handshake &h) { h.start = "initial values"; }),
            "servers were started with different values: server 0 has a file, "
            "server 1 initial values; give all servers the same --init-from, "
            "or the same --checkpoint and --resume, with the same files on "
            "each host");
  EXPECT_EQ(messageOf([](Handshake &h) { h.bounds.clear(); }),
            "servers were started with different flags: server 0 has "
            "--max-table-memory 4096 --table-eviction least-recent, server 1 "
            "none of these; give all servers the same");
  EXPECT_THAT(messageOf([](Handshake &h) { h.seed = 7; }),
              HasSubstr("18446744073709551615, server 1 --seed 7"));
  EXPECT_FALSE(compareServers({Message::ofString("{}")}).ok());
}

TEST(StartSign, ComesAsItWasSent) {
  StartSign sign = StartSign::ofThisProcess();
  EXPECT_EQ(sign.claim, StartSign::Claim::Judged);
  EXPECT_NE(sign.id, StartSign::ofThisProcess().id);
  sign.claim = StartSign::Claim::OnlyIfFirst;
  const std::string bytes = encodeStartSign(sign).toString();
  const auto read = decodeStartSign(Message::ofString(bytes));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->id, sign.id);
  EXPECT_EQ(read->claim, sign.claim);
  EXPECT_EQ(read->process, sign.process);
  EXPECT_TRUE(decodeStartSign({}).ok());
  for (size_t size = 1; size < bytes.size(); ++size)
    EXPECT_FALSE(
        decodeStartSign(Message::ofString(bytes.substr(0, size))).ok());
  EXPECT_FALSE(decodeStartSign(Message::ofString(bytes + "x")).ok());
  std::string unknown = bytes;
  unknown[8] = 3;
  EXPECT_FALSE(decodeStartSign(Message::ofString(unknown)).ok());
}
