//===- PartBoxTest.cpp - Reassembly of requests sent in parts -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/PartBox.h"

#include <gmock/gmock.h>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

constexpr uint64_t most = 100;

Envelope headOf(uint64_t sequence, uint64_t incarnation = 1) {
  return {MessageKind::Exchange, 3, 0, incarnation, sequence, 0};
}

Status add(PartBox &box, uint64_t sequence, uint64_t number,
           const std::string &bytes) {
  // The boundaries of slices have no meaning.
  Message message;
  for (const char &byte : bytes)
    message.append(Message::ofString(std::string(1, byte)).slices().front());
  return box.add(headOf(sequence), encodePart(number, message));
}

Frame request(const std::string &own, std::vector<PartPlace> places,
              uint64_t sequence = 1) {
  return {headOf(sequence), Message::ofString(own), {}, std::move(places)};
}

TEST(PartBox, PutsTogetherInTheOrderOfPlaces) {
  PartBox box(most);
  ASSERT_TRUE(add(box, 1, 1, "defgh").ok());
  ASSERT_TRUE(add(box, 1, 0, "ab").ok());
  // Two ranges of the second part in reverse order, and two ranges at the same
  // position.
  Frame whole = request("-+!", {{0, 0, 0, 2}, {1, 1, 3, 2}, {1, 1, 0, 3}});
  const Expected<bool> done = box.putTogether(whole);
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_TRUE(*done);
  EXPECT_EQ(whole.payload.toString(), "ab-ghdef+!");
  EXPECT_TRUE(whole.parts.empty());
}

TEST(PartBox, WaitsForWhatIsMissing) {
  PartBox box(most);
  ASSERT_TRUE(add(box, 1, 1, "cd").ok());
  Frame whole = request(".", {{0, 0, 0, 2}, {1, 1, 0, 2}});
  Expected<bool> done = box.putTogether(whole);
  ASSERT_TRUE(done.ok());
  EXPECT_FALSE(*done);
  EXPECT_EQ(whole.payload.toString(), ".");
  EXPECT_FALSE(box.takeWaiting(headOf(1)));
  box.wait(whole);
  ASSERT_TRUE(add(box, 1, 0, "ab").ok());
  std::optional<Frame> waiting = box.takeWaiting(headOf(1));
  ASSERT_TRUE(waiting);
  done = box.putTogether(*waiting);
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(*done);
  EXPECT_EQ(waiting->payload.toString(), "ab.cd");
  EXPECT_FALSE(box.takeWaiting(headOf(1)));
}

TEST(PartBox, CopiesDoNoHarm) {
  PartBox box(4);
  for (int copy = 0; copy < 3; ++copy)
    ASSERT_TRUE(add(box, 1, 0, "abcd").ok());
  EXPECT_THAT(add(box, 1, 0, "abc").message(),
              HasSubstr("comes once more, with 3 bytes instead of 4"));
}

TEST(PartBox, AnotherRequestBeginsAnew) {
  PartBox box(4);
  ASSERT_TRUE(add(box, 1, 0, "abcd").ok());
  ASSERT_TRUE(add(box, 2, 0, "efgh").ok());
  Frame whole = request("", {{0, 0, 0, 4}}, 2);
  ASSERT_TRUE(*box.putTogether(whole));
  EXPECT_EQ(whole.payload.toString(), "efgh");
  // Parts that a previous incarnation sent for this request are not used
  // either.
  ASSERT_TRUE(
      box.add(headOf(3, 1), encodePart(0, Message::ofString("a"))).ok());
  whole = {headOf(3, 2), {}, {}, {{0, 0, 0, 1}}};
  EXPECT_FALSE(*box.putTogether(whole));
  ASSERT_TRUE(add(box, 4, 0, "b").ok());
  box.forgetTrainer(3);
  whole = request("", {{0, 0, 0, 1}}, 4);
  EXPECT_FALSE(*box.putTogether(whole));
}

TEST(PartBox, RefusesBadParts) {
  PartBox box(4);
  EXPECT_THAT(add(box, 1, 0, "").message(), HasSubstr("brings no bytes"));
  EXPECT_THAT(box.add(headOf(1), Message::ofString("ab")).message(),
              HasSubstr("brings no bytes"));
  EXPECT_THAT(add(box, 1, 1 << 16, "a").message(),
              HasSubstr("has number 65536, of at most 65536"));
  ASSERT_TRUE(add(box, 1, 0, "abc").ok());
  EXPECT_THAT(add(box, 1, 1, "de").message(),
              HasSubstr("brings it to more than the 4 bytes"));
  // A refused part leaves no data.
  EXPECT_TRUE(add(box, 1, 1, "defg").ok());
  EXPECT_EQ(box.sizeFault(envelopeSize + partHeadSize + 4), "");
  EXPECT_THAT(box.sizeFault(envelopeSize + partHeadSize + 5),
              HasSubstr("more than the 52 that all dense gradients"));
  EXPECT_THAT(PartBox(0).sizeFault(1), HasSubstr("takes no parts"));
}

TEST(PartBox, RefusesPlacesThatDoNotFit) {
  const auto fault = [](std::vector<PartPlace> places) {
    PartBox box(most);
    EXPECT_TRUE(add(box, 1, 0, "abcd").ok());
    EXPECT_TRUE(add(box, 1, 1, "ef").ok());
    Frame whole = request("..", std::move(places));
    const Expected<bool> done = box.putTogether(whole);
    return done ? std::string() : done.status().message();
  };
  EXPECT_EQ(fault({{0, 0, 0, 4}, {1, 1, 0, 2}}), "");
  const char *beyond = "names bytes that part 0 does not have";
  EXPECT_THAT(fault({{0, 0, 0, 5}, {1, 1, 0, 2}}), HasSubstr(beyond));
  EXPECT_THAT(fault({{0, 0, 5, 0}, {1, 1, 0, 2}}), HasSubstr(beyond));
  EXPECT_THAT(fault({{0, 0, 2, ~uint64_t(0)}, {1, 1, 0, 2}}),
              HasSubstr(beyond));
  // Using the same bytes twice could produce much data from little, or hide
  // missing data.
  const char *twice = "names bytes of part 0 twice";
  EXPECT_THAT(fault({{0, 0, 0, 4}, {0, 0, 0, 4}, {1, 1, 0, 2}}),
              HasSubstr(twice));
  EXPECT_THAT(fault({{0, 0, 0, 2}, {0, 0, 0, 2}, {1, 1, 0, 2}}),
              HasSubstr(twice));
  EXPECT_THAT(fault({{0, 0, 1, 3}, {0, 0, 0, 2}, {1, 1, 0, 2}}),
              HasSubstr(twice));
  EXPECT_EQ(fault({{0, 0, 2, 2}, {0, 0, 0, 2}, {1, 1, 0, 2}}), "");
  EXPECT_THAT(fault({{0, 0, 0, 1}, {0, 0, 2, 2}, {1, 1, 0, 2}}),
              HasSubstr("no place for all bytes of part 0"));
  EXPECT_THAT(fault({{0, 0, 0, 3}, {1, 1, 0, 2}}),
              HasSubstr("no place for all bytes of part 0"));
  EXPECT_THAT(fault({{0, 0, 0, 4}}),
              HasSubstr("no place for all bytes of part 1"));
  EXPECT_THAT(fault({{0, 70000, 0, 4}}), HasSubstr("names part 70000"));
}

} // namespace
