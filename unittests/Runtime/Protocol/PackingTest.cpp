//===- PackingTest.cpp - Compression of keys and gradients ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/Packing.h"

#include "Support/BlockProgram.h"
#include "pdlabi/placement.h"
#include "pdlrt/Engine/GradientPacker.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/PackedTraining.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <limits>
#include <random>
#include <set>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Returns numbers of all magnitudes, including zeros.
std::vector<float> someNumbers(size_t count, std::mt19937 &random) {
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const int exponent = int(i / 200 % 12) * 24 - 149;
    numbers[i] = random() % 10 == 0
                     ? 0
                     : std::ldexp(float(int(random() % 2000001) - 1000000),
                                  exponent + int(random() % 4) - 20);
  }
  return numbers;
}

std::vector<float> packed(GradientPacking packing,
                          const std::vector<float> &numbers, int64_t group,
                          std::vector<int8_t> *exponents = nullptr) {
  std::vector<std::byte> codes(numbers.size() * codeSize(packing));
  std::vector<int8_t> own(numbers.size() + 1);
  packNumbers(packing, numbers.data(), int64_t(numbers.size()), group,
              {codes.data(), own.data()});
  std::vector<float> out(numbers.size());
  unpackNumbers(packing, codes.data(), own.data(), 0, int64_t(numbers.size()),
                group, out.data());
  if (exponents)
    *exponents = own;
  return out;
}

/// Returns the nearest bf16 number, by comparing the two candidates.
float nearestBFloat16(float number) {
  const double low =
      std::bit_cast<float>(std::bit_cast<uint32_t>(number) & 0xffff0000U);
  const uint32_t above =
      (std::bit_cast<uint32_t>(number) & 0xffff0000U) + 0x10000U;
  // If the upper one is infinite, it stands for 2^128.
  double high = std::bit_cast<float>(above);
  if (std::isinf(high))
    high = std::copysign(std::ldexp(1.0, 128), number);
  const double below = std::abs(double(number) - low),
               over = std::abs(high - double(number));
  const bool lowIsEven = (above >> 16) % 2 == 1;
  const bool takesLow = below < over || (below == over && lowIsEven);
  return takesLow ? float(low) : std::bit_cast<float>(above);
}

/// Returns the Int8 value of a number in a group whose largest magnitude is
/// `largest`, as defined in docs/Numerics.md.
float nearestInt8(float number, float largest) {
  int exponent = -126;
  while (std::nearbyint(std::ldexp(double(largest), -exponent)) > 127)
    ++exponent;
  return float(std::ldexp(std::nearbyint(std::ldexp(double(number), -exponent)),
                          exponent));
}

TEST(Packing, BFloat16IsTheNearestNumber) {
  std::mt19937 random(1);
  std::vector<float> numbers = someNumbers(20000, random);
  for (const float more :
       {1.0F, 1.00390625F, 1.01171875F, -1.00390625F, 3.38e38F, 3.4e38F, -0.0F,
        std::numeric_limits<float>::denorm_min(),
        std::numeric_limits<float>::max()})
    numbers.push_back(more);
  const std::vector<float> given =
      packed(GradientPacking::BFloat16, numbers, groupSize);
  for (size_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(given[i]),
              std::bit_cast<uint32_t>(nearestBFloat16(numbers[i])))
        << numbers[i];
  const std::vector<float> odd = packed(
      GradientPacking::BFloat16,
      {nan, -infinity, infinity, std::bit_cast<float>(0x7f800001U)}, groupSize);
  EXPECT_TRUE(std::isnan(odd[0]) && std::isnan(odd[3]));
  EXPECT_EQ(odd[1], -infinity);
  EXPECT_EQ(odd[2], infinity);
}

TEST(Packing, Int8IsWhatItsDefinitionSays) {
  std::mt19937 random(2);
  for (const int64_t group : {int64_t(1), int64_t(10), groupSize}) {
    std::vector<float> numbers = someNumbers(20003, random);
    // Covers numbers near the limit of an exponent.
    for (const float more : {127.0F, 127.49F, 127.5F, 127.51F, 128.0F, 0.5F})
      numbers.insert(numbers.end(), size_t(group), more);
    // Rounding twice equals rounding once.
    const std::vector<float> once =
        packed(GradientPacking::Int8, numbers, group);
    EXPECT_EQ(packed(GradientPacking::Int8, once, group), once);
    // This number rounds to 2^128.
    numbers.insert(numbers.end(), size_t(group), 3.4e38F);
    const std::vector<float> given =
        packed(GradientPacking::Int8, numbers, group);
    for (size_t begin = 0; begin < numbers.size(); begin += size_t(group)) {
      const size_t end = std::min(numbers.size(), begin + size_t(group));
      float largest = 0;
      for (size_t i = begin; i < end; ++i)
        largest = std::max(largest, std::abs(numbers[i]));
      for (size_t i = begin; i < end; ++i)
        ASSERT_EQ(given[i], nearestInt8(numbers[i], largest))
            << numbers[i] << " beside " << largest;
    }
  }
  for (const float bad : {nan, infinity, -infinity}) {
    const std::vector<float> given =
        packed(GradientPacking::Int8, {1, bad, 2, 3, 4, 5}, 3);
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(std::isnan(given[i]));
    EXPECT_EQ(given[4], 4);
  }
}

TEST(Packing, KeysGoBothWays) {
  std::mt19937_64 random(3);
  constexpr int64_t least = std::numeric_limits<int64_t>::min(),
                    most = std::numeric_limits<int64_t>::max();
  std::set<int64_t> many = {least, least + 1, -1, 0, 1, most - 1, most};
  while (many.size() < 5000)
    many.insert(random() % 2 ? int64_t(random()) : int64_t(random() % 100000));
  for (const std::set<int64_t> &keys :
       {std::set<int64_t>(), std::set<int64_t>{least}, std::set<int64_t>{most},
        std::set<int64_t>{7}, many}) {
    const std::vector<int64_t> ascending(keys.begin(), keys.end());
    std::vector<int64_t> shuffled = ascending;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const std::string bytes = packKeys(shuffled);
    const std::span<const std::byte> whole =
        std::as_bytes(std::span(bytes.data(), bytes.size()));
    auto read = unpackKeys(whole);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, ascending);
    for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 100)
      EXPECT_FALSE(unpackKeys(whole.first(size)).ok());
    EXPECT_FALSE(unpackKeys(std::as_bytes(std::span((bytes + '\0').data(),
                                                    bytes.size() + 1)))
                     .ok());
    std::vector<int64_t> sorted(keys.size());
    sortByShard(ascending, sorted.data());
    std::ranges::sort(shuffled, {}, [](int64_t key) {
      return std::pair(pdlabi::shardOfKey(key), key);
    });
    EXPECT_EQ(sorted, shuffled);
  }
  // Consecutive keys need 6 bits each.
  std::vector<int64_t> neighbors(1000);
  std::iota(neighbors.begin(), neighbors.end(), int64_t(1) << 40);
  EXPECT_LT(packKeys(neighbors).size(), 800U);
  std::vector<int64_t> apart(200);
  for (int64_t &key : apart)
    key = int64_t(random());
  EXPECT_LT(packKeys(apart).size(), 200U * 8);
}

TEST(Packing, RandomBytesAreNoKeysOrSafe) {
  std::mt19937 random(4);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char &byte : bytes)
      byte = char(random() % 3 ? random() : random() % 4);
    const auto keys =
        unpackKeys(std::as_bytes(std::span(bytes.data(), bytes.size())));
    if (keys.ok())
      EXPECT_TRUE(std::ranges::adjacent_find(
                      *keys, std::greater_equal<int64_t>()) == keys->end());
  }
}

TEST(Packing, NamesAndFingerprints) {
  for (const auto packing : {GradientPacking::None, GradientPacking::BFloat16,
                             GradientPacking::Int8}) {
    EXPECT_EQ(gradientPackingOf(nameOf(packing)), packing);
    EXPECT_EQ(fingerprintWith(fingerprintWith(17, packing), packing), 17U);
  }
  EXPECT_EQ(keyPackingOf("delta"), KeyPacking::Delta);
  EXPECT_FALSE(keyPackingOf("bf16") || gradientPackingOf("int4"));
  EXPECT_NE(fingerprintWith(17, GradientPacking::Int8),
            fingerprintWith(17, GradientPacking::BFloat16));
  const BlockProgram program{BlockVariant()};
  const pdl_descriptor &plain = program.descriptor();
  const PackedTraining same(plain, GradientPacking::None),
      other(plain, GradientPacking::Int8);
  EXPECT_EQ(same.descriptor().training_fingerprint, plain.training_fingerprint);
  EXPECT_EQ(same.descriptor().part_count, plain.part_count);
  EXPECT_NE(other.descriptor().training_fingerprint,
            plain.training_fingerprint);
  ASSERT_EQ(other.descriptor().part_count, plain.part_count + 1);
  EXPECT_STREQ(other.descriptor().parts[plain.part_count].value, "int8");
  EXPECT_TRUE(checkPacking(plain, GradientPacking::Int8, false).ok());
  EXPECT_THAT(checkPacking(plain, GradientPacking::Int8, true).message(),
              HasSubstr("--on-failure=abort"));
}

// Counts of a row stay exact, whatever its numbers are.
TEST(Packing, CountsOfRowsAreNotRounded) {
  for (const auto packing :
       {GradientPacking::BFloat16, GradientPacking::Int8}) {
    const BlockProgram program{BlockVariant()};
    pdl_symbol symbols[BlockSymbols];
    std::copy_n(program.descriptor().symbols, int(BlockSymbols), symbols);
    symbols[BlockLazy].gradient_width = 6;
    pdl_descriptor descriptor = program.descriptor();
    descriptor.symbols = symbols;
    const auto map =
        Placement::compute(descriptor, 1, 1, PlacementPolicy::RoundRobin);
    const auto layout = ExchangeLayout::create(descriptor, BlockTrain, *map);
    ASSERT_TRUE(layout.ok());
    const int32_t channel = layout->find(PDL_CHANNEL_ROW_GRADIENT, BlockLazy);
    const float rows[2][6] = {{1e-9F, 2e-9F, -3e-9F, 0, 123457, 1},
                              {1e9F, 2e9F, 0, 0, 2, 16777215}};
    const void *pointers[] = {rows[0], rows[1]};
    const int32_t places[] = {1, 0};
    GradientPacker packer(packing);
    ExchangeWriter writer(*layout, {.contributes = true, .gradients = packing});
    packer.addRows(symbols[BlockLazy], channel, places, pointers, writer);
    auto message =
        ExchangeMessage::decode(writer.finish(), layout->channelCount());
    ASSERT_TRUE(message.ok() && layout->unpack(0, *message).ok());
    const auto taken = message->sectionOf<float>(channel);
    ASSERT_EQ(taken.size(), 12U);
    EXPECT_EQ(taken[4], 2);
    EXPECT_EQ(taken[5], 16777215);
    EXPECT_EQ(taken[10], 123457);
    EXPECT_NEAR(taken[8], -3e-9F, 3e-11F);
  }
}

/// Requests of one step, packed for any number of servers.
class PackedRequests : public testing::TestWithParam<GradientPacking> {
protected:
  /// Merged output of all servers: the gradient of @w, and rows of @lazy by
  /// key.
  struct Taken {
    std::vector<float> w;
    std::map<int64_t, std::vector<float>> rows;
  };
  Taken send(int32_t servers, GradientPacker &packer,
             const std::vector<float> &w, std::span<const int64_t> keys,
             const std::vector<float> &rows) {
    Taken taken;
    taken.w.resize(w.size());
    const auto map = Placement::compute(program.descriptor(), servers, 1,
                                        PlacementPolicy::RoundRobin);
    const auto layout =
        ExchangeLayout::create(program.descriptor(), BlockTrain, *map);
    EXPECT_TRUE(layout.ok());
    const int32_t ofKeys = layout->find(PDL_CHANNEL_KEYS, BlockLazy),
                  ofW = layout->find(PDL_CHANNEL_GRADIENT, BlockW),
                  ofRows = layout->find(PDL_CHANNEL_ROW_GRADIENT, BlockLazy);
    KeyRouter router;
    router.assign(*map, BlockLazy, int64_t(keys.size()), keys.data());
    std::vector<const void *> pointers;
    for (size_t i = 0; i < keys.size(); ++i)
      pointers.push_back(rows.data() + i * 4);
    const pdl_symbol &symbol = program.descriptor().symbols[BlockLazy];
    EXPECT_EQ(symbol.gradient_width, 4);
    packer.pack(BlockW, w.data(), int64_t(w.size()));
    for (int32_t server = 0; server < servers; ++server) {
      ExchangeHead head{.contributes = true,
                        .keys = KeyPacking::Delta,
                        .gradients = packer.packing()};
      ExchangeWriter writer(*layout, head);
      for (int32_t c = 0; c < layout->channelCount(); ++c) {
        if (c == ofKeys) {
          const std::string bytes = packKeys(router.keysOf(server));
          writer.addCopy(c, bytes.data(), bytes.size());
        }
        if (c == ofW)
          packer.addBlocks(*layout, server, c, writer);
        if (c == ofRows)
          packer.addRows(symbol, c, router.placesOf(server), pointers.data(),
                         writer);
      }
      // Cut into slices, as a network would do.
      const std::string bytes = writer.finish().toString();
      Message payload;
      for (size_t at = 0; at < bytes.size(); at += 37) {
        const Message part = Message::ofString(bytes.substr(at, 37));
        payload.append(part.slices().front());
      }
      auto message = ExchangeMessage::decode(payload, layout->channelCount(),
                                             layout->scattered());
      EXPECT_TRUE(message.ok());
      EXPECT_EQ(message->head(), head);
      const Status status = layout->unpack(server, *message);
      EXPECT_TRUE(status.ok()) << status.message();
      const auto own = message->sectionOf<int64_t>(ofKeys);
      EXPECT_TRUE(std::ranges::equal(own, router.keysOf(server)));
      const auto values = message->sectionOf<float>(ofRows);
      EXPECT_EQ(values.size(), own.size() * 4);
      for (size_t i = 0; i < own.size(); ++i)
        taken.rows[own[i]].assign(&values[i * 4], &values[i * 4] + 4);
      const auto pieces = message->piecesOf(ofW);
      size_t at = 0;
      for (const RowBlock &block : map->rowsOf(BlockW, server)) {
        const size_t bytesOf = size_t(block.rowCount) * 3 * sizeof(float);
        EXPECT_EQ(pieces.size(), 1U);
        std::memcpy(&taken.w[size_t(block.firstRow) * 3], pieces[0].data() + at,
                    bytesOf);
        at += bytesOf;
      }
      // Damage is detected, or gives another number.
      for (size_t size = 0; size + 8 < bytes.size(); size += 8) {
        auto cut = ExchangeMessage::decode(
            Message::ofString(bytes.substr(0, size)), layout->channelCount());
        EXPECT_FALSE(cut.ok());
      }
    }
    return taken;
  }

  const BlockProgram program{BlockVariant()};
};

TEST_P(PackedRequests, AreTheSameForAnyNumberOfServers) {
  std::mt19937 random(5);
  const std::vector<float> w = someNumbers(900, random);
  std::vector<int64_t> keys(300);
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] = int64_t(i * 7919) - 500000;
  const std::vector<float> rows = someNumbers(keys.size() * 4, random);
  const std::vector<float> expected = packed(GetParam(), w, groupSize);
  const std::vector<float> expectedRows = packed(GetParam(), rows, 4);
  for (const int32_t servers : {1, 2, 3, 5}) {
    SCOPED_TRACE(servers);
    GradientPacker packer(GetParam());
    const Taken taken = send(servers, packer, w, keys, rows);
    EXPECT_EQ(taken.w, expected);
    for (size_t i = 0; i < keys.size(); ++i)
      EXPECT_EQ(
          taken.rows.at(keys[i]),
          std::vector<float>(&expectedRows[i * 4], &expectedRows[i * 4] + 4));
  }
}

// Rounding errors are added to the next step, until the remainders are dropped.
TEST_P(PackedRequests, ParametersKeepWhatRoundingLeavesOver) {
  std::mt19937 random(6);
  std::normal_distribution<float> normal(0.001F, 0.01F);
  GradientPacker packer(GetParam());
  std::vector<float> remainder(900);
  std::vector<double> wanted(900), given(900);
  for (int step = 0; step < 200; ++step) {
    std::vector<float> w(900), sum(900);
    for (size_t i = 0; i < w.size(); ++i) {
      w[i] = normal(random);
      sum[i] = w[i] + remainder[i];
    }
    const std::vector<float> sent = send(1 + step % 3, packer, w, {}, {}).w;
    ASSERT_EQ(sent, packed(GetParam(), sum, groupSize)) << step;
    for (size_t i = 0; i < w.size(); ++i) {
      remainder[i] = sum[i] - sent[i];
      wanted[i] += w[i];
      given[i] += sent[i];
    }
    if (step == 100) {
      packer.forget();
      remainder.assign(900, 0);
      given = wanted;
    }
  }
  // After a hundred steps, the total error is at most one rounding.
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(given[i], wanted[i], 0.001);
}

INSTANTIATE_TEST_SUITE_P(All, PackedRequests,
                         testing::Values(GradientPacking::BFloat16,
                                         GradientPacking::Int8),
                         [](const auto &info) {
                           return std::string(nameOf(info.param));
                         });

} // namespace
