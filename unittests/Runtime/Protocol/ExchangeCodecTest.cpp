//===- ExchangeCodecTest.cpp - Payloads of steps, valid and damaged -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ExchangeCodec.h"

#include "Support/BlockProgram.h"
#include "pdlrt/Abi/Descriptor.h"

#include <gmock/gmock.h>
#include <numeric>
#include <random>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

constexpr int32_t servers = 2;

/// Placement of a job and layouts of its programs.
class ExchangeCodecTest : public testing::Test {
protected:
  void use(const BlockVariant &variant) {
    program = std::make_unique<BlockProgram>(variant);
    const Status status = checkDescriptor(&program->descriptor());
    ASSERT_TRUE(status.ok()) << status.message();
    auto map = Placement::compute(program->descriptor(), servers, 1,
                                  PlacementPolicy::LeastLoaded);
    ASSERT_TRUE(map.ok());
    placement = std::make_unique<Placement>(std::move(*map));
    for (int32_t p = 0; p < BlockPrograms; ++p) {
      auto created =
          ExchangeLayout::create(program->descriptor(), p, *placement);
      ASSERT_TRUE(created.ok()) << created.status().message();
      layouts[p] = std::make_unique<ExchangeLayout>(*created);
    }
    w.resize(900);
    std::iota(w.begin(), w.end(), 0.5f);
    keys.resize(500);
    std::iota(keys.begin(), keys.end(), -250);
    router.assign(*placement, BlockLazy, int64_t(keys.size()), keys.data());
  }

  /// Returns a complete Exchange request to `server`, which refers to this
  /// fixture.
  Message exchange(int32_t server) {
    const ExchangeLayout &layout = *layouts[BlockTrain];
    ExchangeWriter writer(layout, {.contributes = true, .hasNextBatch = true});
    const auto routed = router.keysOf(server);
    writer.add(layout.find(PDL_CHANNEL_KEYS, BlockLazy), routed.data(),
               routed.size_bytes());
    writer.addBlocks(server, layout.find(PDL_CHANNEL_GRADIENT, BlockW),
                     w.data());
    writer.addBlocks(server, layout.find(PDL_CHANNEL_GRADIENT, BlockB),
                     w.data() + 11);
    const double loss[] = {3.5, 7};
    writer.add(layout.find(PDL_CHANNEL_ROW_GRADIENT, BlockLazy), w.data(),
               pushed * 16);
    writer.addCopy(layout.find(PDL_CHANNEL_LOSS, -1), loss, sizeof(loss));
    return writer.finish();
  }
  std::vector<int64_t> rowCounts() {
    std::vector<int64_t> counts(layouts[BlockTrain]->channelCount());
    counts[layouts[BlockTrain]->find(PDL_CHANNEL_ROW_GRADIENT, BlockLazy)] =
        pushed;
    return counts;
  }
  Status decodeAndCheck(const Message &payload, int32_t server) {
    const ExchangeLayout &layout = *layouts[BlockTrain];
    auto message = ExchangeMessage::decode(payload, layout.channelCount());
    if (!message)
      return message.status();
    // These bits of the head say how sections are packed.
    PDLRT_RETURN_IF_ERROR(layout.unpack(server, *message));
    touched = 0;
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      for (std::byte byte : message->section(c))
        touched += uint64_t(byte);
    return layout.check(ExchangeForm::Exchange, server, *message, rowCounts());
  }

  static constexpr int64_t pushed = 9;
  std::unique_ptr<BlockProgram> program;
  std::unique_ptr<Placement> placement;
  std::unique_ptr<ExchangeLayout> layouts[BlockPrograms];
  std::vector<float> w;
  std::vector<int64_t> keys;
  KeyRouter router;
  /// Set from every decoded byte, so that a sanitizer checks each read.
  volatile uint64_t touched = 0;
};

/// Returns the same bytes in slices of other lengths and alignments.
Message recut(const Message &message, std::mt19937 &random) {
  const std::string bytes = message.toString();
  Message result;
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = std::min<size_t>(bytes.size() - at, random() % 97);
    result.append(Message::ofString(bytes.substr(at, size)).slices()[0]);
    at += size;
  }
  return result;
}

TEST_F(ExchangeCodecTest, WhatWasWrittenIsRead) {
  use({});
  const ExchangeLayout &layout = *layouts[BlockTrain];
  std::vector<float> read(900);
  std::vector<int64_t> readKeys;
  for (int32_t server = 0; server < servers; ++server) {
    const Message payload = exchange(server);
    auto message = ExchangeMessage::decode(payload, layout.channelCount());
    ASSERT_TRUE(message.ok()) << message.status().message();
    const Status status =
        layout.check(ExchangeForm::Exchange, server, *message, rowCounts());
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(message->head(),
              (ExchangeHead{.contributes = true, .hasNextBatch = true}));
    const auto loss =
        message->sectionOf<double>(layout.find(PDL_CHANNEL_LOSS, -1));
    EXPECT_THAT(loss, testing::ElementsAre(3.5, 7));
    layout.copyBlocks(server, layout.find(PDL_CHANNEL_GRADIENT, BlockW),
                      *message, read.data());
    for (int64_t key :
         message->sectionOf<int64_t>(layout.find(PDL_CHANNEL_KEYS, BlockLazy)))
      readKeys.push_back(key);
  }
  EXPECT_EQ(read, w);
  std::sort(readKeys.begin(), readKeys.end());
  EXPECT_EQ(readKeys, keys);
}

// The rows of a concurrent push are counted by its own keys.
TEST_F(ExchangeCodecTest, KeysOfAPushAreItsOwn) {
  use({PDL_F32, false, PDL_MODE_ASYNC});
  const ExchangeLayout &layout = *layouts[BlockTrain];
  const auto pushOf = [&](ExchangeHead head) {
    ExchangeWriter writer(layout, head);
    const auto routed = router.keysOf(0);
    writer.add(layout.find(PDL_CHANNEL_KEYS, BlockLazy), routed.data(),
               routed.size_bytes());
    writer.addBlocks(0, layout.find(PDL_CHANNEL_GRADIENT, BlockW), w.data());
    writer.addBlocks(0, layout.find(PDL_CHANNEL_GRADIENT, BlockB),
                     w.data() + 11);
    const double loss[] = {3.5, 7};
    const std::vector<float> rows(4 * routed.size(), 1);
    writer.addCopy(layout.find(PDL_CHANNEL_ROW_GRADIENT, BlockLazy),
                   rows.data(), rows.size() * sizeof(float));
    writer.addCopy(layout.find(PDL_CHANNEL_LOSS, -1), loss, sizeof(loss));
    return ExchangeMessage::decode(writer.finish(), layout.channelCount());
  };
  const ExchangeHead head = {.contributes = true, .ownKeys = true, .steps = 3};
  std::vector<int64_t> counts(layout.channelCount());
  counts[layout.find(PDL_CHANNEL_ROW_GRADIENT, BlockLazy)] =
      int64_t(router.keysOf(0).size());
  const auto checked = [&](const ExchangeHead &wanted, ExchangeForm form) {
    auto message = pushOf(wanted);
    EXPECT_TRUE(message.ok());
    EXPECT_EQ(message->head(), wanted);
    return layout.check(form, 0, *message, counts);
  };
  const Status status = checked(head, ExchangeForm::Exchange);
  EXPECT_TRUE(status.ok()) << status.message();
  const auto refused = [&](ExchangeHead wrong) {
    EXPECT_THAT(checked(wrong, ExchangeForm::Exchange).message(),
                HasSubstr("brings keys of its own where it must not"));
  };
  refused({.contributes = true, .ownKeys = true, .steps = 0});
  refused({.contributes = true, .hasNextBatch = true, .ownKeys = true});
  refused({.contributes = true, .allValues = true, .ownKeys = true});
  refused({.contributes = false, .ownKeys = true});
  EXPECT_THAT(checked(head, ExchangeForm::State).message(),
              HasSubstr("brings keys of its own where it must not"));
  // There must be as many rows as keys.
  counts[layout.find(PDL_CHANNEL_ROW_GRADIENT, BlockLazy)] -= 1;
  EXPECT_THAT(checked(head, ExchangeForm::Exchange).message(),
              HasSubstr("bytes instead of"));
}

TEST_F(ExchangeCodecTest, LargeSectionsAreNotCopied) {
  use({});
  const ExchangeLayout &layout = *layouts[BlockTrain];
  const int32_t keysChannel = layout.find(PDL_CHANNEL_KEYS, BlockLazy);
  auto message = ExchangeMessage::decode(exchange(0), layout.channelCount());
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->sectionOf<int64_t>(keysChannel).data(),
            router.keysOf(0).data());
  // A move does not change the address.
  const ExchangeMessage moved = std::move(*message);
  EXPECT_EQ(moved.sectionOf<int64_t>(keysChannel).data(),
            router.keysOf(0).data());
}

TEST_F(ExchangeCodecTest, WhereSlicesEndSaysNothing) {
  use({});
  std::mt19937 random(7);
  const ExchangeLayout &layout = *layouts[BlockTrain];
  for (int i = 0; i < 50; ++i) {
    const Message whole = exchange(i % servers);
    auto a = ExchangeMessage::decode(whole, layout.channelCount());
    auto b =
        ExchangeMessage::decode(recut(whole, random), layout.channelCount());
    ASSERT_TRUE(a.ok() && b.ok());
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      EXPECT_TRUE(std::equal(a->section(c).begin(), a->section(c).end(),
                             b->section(c).begin(), b->section(c).end()));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(b->section(c).data()) % 8, 0u);
    }
  }
}

TEST_F(ExchangeCodecTest, ScatteredSectionsAreCopiedToTheirPlaces) {
  use({});
  std::mt19937 random(8);
  const ExchangeLayout &layout = *layouts[BlockTrain];
  const int32_t blocks = layout.find(PDL_CHANNEL_GRADIENT, BlockW);
  const int32_t rows = layout.find(PDL_CHANNEL_ROW_GRADIENT, BlockLazy);
  for (int32_t server = 0; server < servers; ++server) {
    const Message whole = exchange(server);
    const auto joined = ExchangeMessage::decode(whole, layout.channelCount());
    const auto scattered =
        ExchangeMessage::decode(recut(whole, random), layout.channelCount(),
                                std::vector<bool>(layout.channelCount(), true));
    ASSERT_TRUE(joined.ok() && scattered.ok());
    EXPECT_TRUE(scattered->section(rows).empty());
    std::vector<float> expected(900), found(900);
    layout.copyBlocks(server, blocks, *joined, expected.data());
    layout.copyBlocks(server, blocks, *scattered, found.data());
    EXPECT_EQ(found, expected);

    const size_t width = layout.sectionBytes(server, rows) / sizeof(float);
    const auto values = joined->sectionOf<float>(rows);
    EXPECT_EQ(scattered->sectionSize(rows), values.size_bytes());
    std::vector<std::byte> pieces;
    for (const auto piece : scattered->piecesOf(rows)) {
      EXPECT_FALSE(piece.empty());
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    EXPECT_TRUE(std::ranges::equal(pieces, joined->section(rows)));
    EXPECT_TRUE(joined->piecesOf(rows).empty());
    std::vector<int32_t> places(values.size() / width);
    std::iota(places.rbegin(), places.rend(), 0);
    std::vector<float> copied(values.size());
    layout.copyRows(server, rows, *scattered, places, copied.data());
    for (size_t i = 0; i < places.size(); ++i)
      EXPECT_TRUE(
          std::equal(copied.begin() + ptrdiff_t(places[i] * width),
                     copied.begin() + ptrdiff_t((places[i] + 1) * width),
                     values.begin() + ptrdiff_t(i * width)));
  }
}

// No bytes outside the message may be read, and a message that passes both
// checks has valid sections.
TEST_F(ExchangeCodecTest, DamageIsRefusedOrHarmless) {
  use({});
  const std::string whole = exchange(1).toString();
  ASSERT_TRUE(decodeAndCheck(Message::ofString(whole), 1).ok());
  // Covers every truncation, and a longer message.
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(
        decodeAndCheck(Message::ofString(whole.substr(0, size)), 1).ok())
        << size;
  EXPECT_FALSE(decodeAndCheck(Message::ofString(whole + "........"), 1).ok());
  // Covers every bit of the head and of the sizes.
  const size_t head = 16 + 8 * layouts[BlockTrain]->channelCount();
  const auto isRefused = [&](const std::string &bytes) {
    return !decodeAndCheck(Message::ofString(bytes), 1).ok();
  };
  for (size_t bit = 0; bit < head * 8; ++bit) {
    std::string spoilt = whole;
    spoilt[bit / 8] = char(spoilt[bit / 8] ^ (1 << bit % 8));
    // Flags for a stop, for all values and for a save, and the contributors,
    // are checked only in responses.
    const bool isHarmless =
        bit == 2 || bit == 3 || bit == 9 || (bit >= 64 && bit < 96);
    EXPECT_EQ(isRefused(spoilt), !isHarmless) << "bit " << bit;
  }
  // Covers random bytes.
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    std::string spoilt = whole.substr(0, 16 + random() % whole.size());
    for (int k = 0; k < 4; ++k)
      spoilt[random() % std::min<size_t>(spoilt.size(), 200)] = char(random());
    (void)decodeAndCheck(Message::ofString(spoilt), 1);
  }
}

TEST_F(ExchangeCodecTest, KeysOutOfPlaceAreNamed) {
  use({});
  // The message looks as if the trainer had another placement.
  EXPECT_THAT(decodeAndCheck(exchange(0), 1).message(),
              HasSubstr("belongs to server 0, not 1"));
  const ExchangeLayout &layout = *layouts[BlockTrain];
  auto messageOf = [&](std::vector<int64_t> list) {
    ExchangeWriter writer(layout, {.hasNextBatch = true});
    writer.add(layout.find(PDL_CHANNEL_KEYS, BlockLazy), list.data(),
               list.size() * sizeof(int64_t));
    return decodeAndCheck(writer.finish(), 1).message();
  };
  const auto own = router.keysOf(1);
  std::vector<int64_t> list(own.begin(), own.end());
  EXPECT_EQ(messageOf(list), "");
  EXPECT_THAT(messageOf({router.keysOf(0)[0]}),
              HasSubstr("belongs to server 0, not 1"));
  list[1] = list[0];
  EXPECT_THAT(messageOf(list), HasSubstr("not in its place"));
  list.assign(own.begin(), own.end());
  std::swap(list[3], list[4]);
  EXPECT_THAT(messageOf(list), HasSubstr("not in its place"));
}

TEST_F(ExchangeCodecTest, EachFormHasItsChannels) {
  use({PDL_F64, true});
  const ExchangeLayout &layout = *layouts[BlockTrain];
  ASSERT_TRUE(layout.hasNormRequest());
  const int32_t norm = layout.find(PDL_CHANNEL_NORM, 0);
  const int32_t keysChannel = layout.find(PDL_CHANNEL_KEYS, BlockLazy);
  ASSERT_GE(norm, 0);
  // All servers together have 5 blocks of 64 rows, and one unit for the vector.
  size_t partials = 0;
  for (int32_t server = 0; server < servers; ++server)
    partials += layout.sectionBytes(
        server, layout.find(PDL_CHANNEL_PARTIAL_NORM, BlockW));
  EXPECT_EQ(partials, 5 * sizeof(double));
  auto check = [&](ExchangeForm form, ExchangeHead head, int32_t channel) {
    ExchangeWriter writer(layout, head);
    const int64_t word = router.keysOf(0)[0];
    if (channel >= 0)
      writer.add(channel, &word, sizeof(word));
    auto message =
        ExchangeMessage::decode(writer.finish(), layout.channelCount());
    EXPECT_TRUE(message.ok());
    return layout.check(form, 0, *message, {}).message();
  };
  using Form = ExchangeForm;
  EXPECT_EQ(check(Form::Norm, {.contributes = true}, norm), "");
  EXPECT_EQ(check(Form::Norm, {.hasNextBatch = true}, keysChannel), "");
  EXPECT_THAT(check(Form::Norm, {}, norm), HasSubstr("not of this message"));
  EXPECT_THAT(check(Form::Norm, {.contributes = true}, -1),
              HasSubstr("0 bytes instead of 8"));
  EXPECT_THAT(check(Form::Exchange, {.hasNextBatch = true}, keysChannel),
              HasSubstr("not of this message"));
  EXPECT_THAT(check(Form::Exchange, {}, norm),
              HasSubstr("not of this message"));
  EXPECT_EQ(check(Form::Exchange, {}, -1), "");
  EXPECT_THAT(check(Form::Pull, {}, keysChannel),
              HasSubstr("program that trains"));
  // In mode async, norms are sent with the gradients.
  use({PDL_F64, true, PDL_MODE_ASYNC});
  EXPECT_FALSE(layouts[BlockTrain]->hasNormRequest());
}

TEST_F(ExchangeCodecTest, TrainersMayHaveTheParametersThatTheyOwn) {
  int32_t owner = 0;
  const auto check = [&](ExchangeForm form, ExchangeHead head,
                         pdl_channel_kind kind) {
    const ExchangeLayout &layout = *layouts[BlockTrain];
    ExchangeWriter writer(layout, head);
    const int32_t loss = layout.find(PDL_CHANNEL_LOSS, -1);
    const double sums[] = {3.5, 7};
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      if (c == loss)
        writer.addCopy(c, sums, sizeof(sums));
      else if (layout.channel(c).kind == kind)
        writer.addBlocks(owner, c, w.data());
    }
    auto message =
        ExchangeMessage::decode(writer.finish(), layout.channelCount());
    EXPECT_TRUE(message.ok());
    EXPECT_EQ(message->head(), head);
    return layout.check(form, owner, *message, {}).message();
  };
  const ExchangeHead request = {.contributes = true, .withoutParameters = true};
  const ExchangeHead response = {
      .contributes = true, .allValues = true, .withoutParameters = true};
  use({PDL_F32, false, PDL_MODE_HYBRID});
  owner = placement->ownerOfTrainer(0);
  EXPECT_EQ(check(ExchangeForm::Exchange, request, PDL_CHANNEL_KEYS), "");
  EXPECT_THAT(check(ExchangeForm::Exchange, request, PDL_CHANNEL_GRADIENT),
              HasSubstr("not of this message"));
  EXPECT_EQ(check(ExchangeForm::State, response, PDL_CHANNEL_KEYS), "");
  EXPECT_THAT(check(ExchangeForm::State, response, PDL_CHANNEL_VALUE),
              HasSubstr("not of this message"));
  // Servers apply the rules of the parameters that they own.
  owner = 0;
  use({PDL_F32, false, PDL_MODE_SYNC});
  EXPECT_THAT(check(ExchangeForm::Exchange, request, PDL_CHANNEL_KEYS),
              HasSubstr("leaves out parameters"));
}

// A message that contributes must have sums of losses.
TEST_F(ExchangeCodecTest, NoMessageContributesWithoutLosses) {
  use({});
  const ExchangeLayout &layout = *layouts[BlockEvaluate];
  ASSERT_EQ(layout.objectiveOf(layout.channelCount()), 0);
  for (ExchangeForm form :
       {ExchangeForm::Exchange, ExchangeForm::Norm, ExchangeForm::Pull,
        ExchangeForm::Sums, ExchangeForm::State})
    for (bool contributes : {false, true}) {
      ExchangeWriter writer(layout, {.contributes = contributes});
      const auto message =
          ExchangeMessage::decode(writer.finish(), layout.channelCount());
      ASSERT_TRUE(message.ok());
      const std::string said = layout.check(form, 0, *message, {}).message();
      EXPECT_EQ(said.find("contributes to a program without losses") !=
                    std::string::npos,
                contributes)
          << said;
    }
}

TEST_F(ExchangeCodecTest, KeysGoToTheirServers) {
  use({});
  std::mt19937_64 random(3);
  std::vector<int64_t> list(3000);
  for (int64_t &key : list)
    key = int64_t(random());
  router.assign(*placement, BlockAll, int64_t(list.size()), list.data());
  size_t total = 0;
  for (int32_t server = 0; server < servers; ++server) {
    const auto routed = router.keysOf(server);
    total += routed.size();
    for (size_t i = 0; i < routed.size(); ++i) {
      EXPECT_EQ(list[router.placesOf(server)[i]], routed[i]);
      EXPECT_EQ(placement->ownerOfKey(BlockAll, routed[i]), server);
    }
  }
  EXPECT_EQ(total, list.size());
  router.assign(*placement, BlockAll, 0, nullptr);
  EXPECT_TRUE(router.keysOf(0).empty() && router.keysOf(1).empty());
}

TEST(ReduceCodec, GoesBothWaysAndRefusesDamage) {
  const ReduceVectors vectors = {{1, -2, 3}, {0.25, -0.0}};
  const std::string bytes = encodeReduce(vectors).toString();
  auto read = decodeReduce(Message::ofString(bytes));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, vectors);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decodeReduce(Message::ofString(bytes.substr(0, size))).ok());
  for (size_t bit = 0; bit < 128; ++bit) {
    std::string spoilt = bytes;
    spoilt[bit / 8] = char(spoilt[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decodeReduce(Message::ofString(spoilt)).ok()) << bit;
  }
  EXPECT_TRUE(decodeReduce(encodeReduce({})).ok());
}

} // namespace
