//===- DeltaPayloadsTest.cpp - Payloads of mode geo, valid and damaged ----===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/PackedTraining.h"

#include <gmock/gmock.h>
#include <numeric>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

/// A job of two servers, with changes of 40 keys.
class DeltaPayloads : public testing::Test {
protected:
  DeltaPayloads() {
    ProgramVariant variant;
    variant.mode = PDL_MODE_GEO;
    variant.role = PDL_ROLE_TRAINER;
    descriptor = handWrittenProgram(variant);
    EXPECT_TRUE(checkDescriptor(descriptor).ok());
    placement = std::make_unique<Placement>(
        *Placement::compute(*descriptor, 2, 2, PlacementPolicy::LeastLoaded));
    layout = std::make_unique<ExchangeLayout>(
        *ExchangeLayout::create(*descriptor, 0, *placement));
    std::iota(keys.begin(), keys.end(), -20);
    router.assign(*placement, SymbolTable, int64_t(keys.size()), keys.data());
  }

  int32_t find(pdl_channel_kind kind, int32_t symbol) const {
    return layout->find(kind, symbol);
  }
  /// Returns a request with the changes of a server's blocks and rows.
  Message request(int32_t server, size_t lessRows = 0,
                  KeyPacking packing = {}) {
    ExchangeHead head;
    head.contributes = true;
    head.keys = packing;
    ExchangeWriter writer(*layout, head);
    for (int32_t c = 0; c < layout->channelCount(); ++c) {
      if (layout->channel(c).kind == PDL_CHANNEL_DELTA)
        writer.addBlocks(server, c, numbers.data());
      const auto own = router.keysOf(server);
      if (layout->channel(c).kind == PDL_CHANNEL_KEYS) {
        const std::string packed = packKeys(own);
        if (packing == KeyPacking::Delta)
          writer.addCopy(c, packed.data(), packed.size());
        else
          writer.add(c, own.data(), own.size_bytes());
      }
      if (layout->channel(c).kind == PDL_CHANNEL_ROW_DELTA)
        writer.add(c, numbers.data(),
                   (own.size() - lessRows) * layout->sectionBytes(server, c));
    }
    return writer.finish();
  }
  /// Returns the changes of other trainers, with keys in that order.
  Message respond(std::span<const int64_t> changed, size_t rows) {
    ExchangeWriter writer(*layout, {});
    const int32_t c = find(PDL_CHANNEL_CHANGED_KEYS, SymbolTable);
    writer.add(c, changed.data(), changed.size_bytes());
    const int32_t r = find(PDL_CHANNEL_ROWS, SymbolTable);
    writer.add(r, numbers.data(), rows * layout->sectionBytes(0, r));
    return writer.finish();
  }
  Status check(ExchangeForm form, int32_t server, const Message &payload) {
    auto message = ExchangeMessage::decode(payload, layout->channelCount());
    if (!message)
      return message.status();
    PDLRT_RETURN_IF_ERROR(layout->unpack(server, *message));
    return layout->check(form, server, *message, {});
  }

  const pdl_descriptor *descriptor;
  std::unique_ptr<Placement> placement;
  std::unique_ptr<ExchangeLayout> layout;
  std::vector<int64_t> keys = std::vector<int64_t>(40);
  std::vector<float> numbers = std::vector<float>(400);
  KeyRouter router;
};

} // namespace

TEST_F(DeltaPayloads, BringChangesWithTheirKeys) {
  EXPECT_TRUE(layout->carriesDeltas());
  for (int32_t server = 0; server < 2; ++server)
    for (const KeyPacking packing : {KeyPacking::None, KeyPacking::Delta}) {
      const Message payload = request(server, 0, packing);
      const Status status = check(ExchangeForm::Exchange, server, payload);
      EXPECT_TRUE(status.ok()) << status.message();
      // They do not belong to the other server.
      EXPECT_FALSE(check(ExchangeForm::Exchange, 1 - server, payload).ok());
    }
}

TEST_F(DeltaPayloads, MayRequestAlone) {
  ExchangeWriter writer(*layout, {});
  const Message payload = writer.finish();
  EXPECT_TRUE(check(ExchangeForm::Exchange, 0, payload).ok());
  // A response without changes is valid, too.
  EXPECT_TRUE(check(ExchangeForm::State, 0, payload).ok());
}

TEST_F(DeltaPayloads, RefuseRowsThatAreNotThoseOfTheirKeys) {
  const Status fewer = check(ExchangeForm::Exchange, 0, request(0, 1));
  EXPECT_THAT(fewer.message(), HasSubstr("bytes instead of"));
  const auto own = router.keysOf(0);
  EXPECT_TRUE(check(ExchangeForm::State, 0, respond(own, own.size())).ok());
  EXPECT_THAT(
      check(ExchangeForm::State, 0, respond(own, own.size() - 1)).message(),
      HasSubstr("bytes instead of"));
  std::vector<int64_t> turned(own.rbegin(), own.rend());
  EXPECT_THAT(
      check(ExchangeForm::State, 0, respond(turned, turned.size())).message(),
      HasSubstr("not in its place"));
  EXPECT_THAT(check(ExchangeForm::State, 1, respond(own, own.size())).message(),
              HasSubstr("belongs to server 0"));
}

TEST_F(DeltaPayloads, AreNoResponsesToOthers) {
  EXPECT_FALSE(check(ExchangeForm::Norm, 0, request(0)).ok());
  EXPECT_FALSE(check(ExchangeForm::State, 0, request(0)).ok());
}

// A server knows only programs with channels.
TEST_F(DeltaPayloads, NameTheProgramByItsPlaceAmongThoseThatTravel) {
  pdl_descriptor other = *descriptor;
  std::vector<pdl_program> programs = {descriptor->programs[1],
                                       descriptor->programs[0]};
  other.programs = programs.data();
  other.program_count = 2;
  const auto second = ExchangeLayout::create(other, 1, *placement);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->programIndex(), 1);
  EXPECT_EQ(second->wireNumber(), 0u);
}

TEST_F(DeltaPayloads, HaveNoGradientsToPack) {
  EXPECT_TRUE(checkPacking(*descriptor, GradientPacking::None, false).ok());
  EXPECT_THAT(checkPacking(*descriptor, GradientPacking::Int8, false).message(),
              HasSubstr("in mode geo trainers keep them"));
}
