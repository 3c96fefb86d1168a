//===- ServerContactTest.cpp - Tests for signs of life of a server --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Protocol/ServerContact.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>

using namespace pdlrt;
using std::chrono::seconds;
using testing::HasSubstr;

TEST(ServerContact, SilenceStartsAtTheFirstHeartbeatWithoutResponse) {
  ServerContact contact;
  contact.beat(seconds(5), seconds(6));
  EXPECT_EQ(contact.silence(seconds(9)), seconds(0)) << "has not begun";
  contact.begin(seconds(10));
  contact.hear(seconds(10));
  EXPECT_EQ(contact.silence(seconds(12)), seconds(0));
  contact.beat(seconds(12), seconds(13));
  contact.beat(seconds(13), seconds(14));
  EXPECT_EQ(contact.silence(seconds(15)), seconds(3));
  EXPECT_EQ(contact.describeSilence(seconds(15)), "not heard of for 3 s");
  contact.hear(seconds(15));
  EXPECT_EQ(contact.silence(seconds(20)), seconds(0));
}

TEST(ServerContact, TimeOfASuspensionIsNotSilence) {
  ServerContact contact;
  contact.begin(seconds(1));
  contact.beat(seconds(1), seconds(2));
  contact.wake(seconds(2), seconds(3), seconds(1));
  EXPECT_EQ(contact.silence(seconds(3)), seconds(2)) << "late by the interval";
  EXPECT_EQ(contact.describeSuspension(seconds(3)), "");
  contact.beat(seconds(3), seconds(4));
  contact.wake(seconds(4), seconds(104), seconds(1));
  EXPECT_EQ(contact.silence(seconds(104)), seconds(3));
  EXPECT_THAT(contact.describeSuspension(seconds(104)), HasSubstr("for 100 s"));
  // It stays known, because the job may end later for this reason.
  contact.beat(seconds(104), seconds(105));
  EXPECT_THAT(contact.describeSuspension(seconds(105)), HasSubstr("for 100 s"));
}

TEST(ServerContact, ASuspensionIsNoticedBeforeTheHeartbeatThatIsLate) {
  ServerContact contact;
  contact.begin(seconds(10));
  EXPECT_EQ(contact.describeSuspension(seconds(13)), "");
  EXPECT_THAT(contact.describeSuspension(seconds(17)), HasSubstr("for 7 s"));
}

TEST(ServerContact, RefusalsCountFromTheFirstUntilTheServerIsReached) {
  ServerContact contact;
  EXPECT_EQ(contact.refuse(seconds(1), seconds(5)), seconds(0));
  EXPECT_EQ(contact.refuse(seconds(3), seconds(5)), seconds(0))
      << "has not begun";
  contact.begin(seconds(4));
  EXPECT_EQ(contact.refuse(seconds(4), seconds(5)), seconds(0));
  EXPECT_EQ(contact.refuse(seconds(7), seconds(5)), seconds(3));
  // After more than the limit, the server may have run in between.
  EXPECT_EQ(contact.refuse(seconds(13), seconds(5)), seconds(0));
  EXPECT_EQ(contact.refuse(seconds(16), seconds(5)), seconds(3));
  contact.reach();
  EXPECT_EQ(contact.refuse(seconds(17), seconds(5)), seconds(0));
  // A suspension moves the times of refusals too.
  contact.wake(seconds(18), seconds(118), seconds(1));
  EXPECT_EQ(contact.refuse(seconds(120), seconds(5)), seconds(3));
}

TEST(ServerContact, TheEndOfTheProcessIsNoticed) {
  ServerContact contact;
  ProcessIdentity elsewhere = ProcessIdentity::ofThisProcess();
  elsewhere.host = 0;
  contact.learnProcess(elsewhere);
  EXPECT_FALSE(contact.hasEnded());
  EXPECT_FALSE(contact.knowsState());
  contact.learnProcess(ProcessIdentity::ofThisProcess());
  EXPECT_FALSE(contact.hasEnded());
  EXPECT_TRUE(contact.knowsState());
  // The PID belongs to another process now.
  ProcessIdentity earlier = ProcessIdentity::ofThisProcess();
  --earlier.started;
  contact.learnProcess(earlier);
  EXPECT_TRUE(contact.hasEnded());
  EXPECT_FALSE(contact.knowsState());
}
