//===- SaveRequestsTest.cpp - When server 0 asks trainers to save ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/SaveRequests.h"

#include <gtest/gtest.h>

using namespace pdlrt;

static SaveRequests::Time at(int seconds) {
  return SaveRequests::Time(std::chrono::seconds(seconds));
}

TEST(SaveRequestsTest, ARequestIsRepeatedAfterPauses) {
  SaveRequests requests;
  EXPECT_TRUE(requests.isDue(at(1)));
  requests.noteAsked(at(1));
  EXPECT_FALSE(requests.isDue(at(10)));
  EXPECT_TRUE(requests.isDue(at(11)));
  requests.noteAsked(at(11));
  EXPECT_FALSE(requests.isDue(at(30)));
  EXPECT_TRUE(requests.isDue(at(31)));
  requests.clear();
  EXPECT_TRUE(requests.isDue(at(12)));
}

TEST(SaveRequestsTest, TrainersSaveWithoutBeingAsked) {
  SaveRequests requests;
  EXPECT_TRUE(requests.noteOfTrainers(1, at(1)));
  EXPECT_FALSE(requests.noteOfTrainers(1, at(2)));
  EXPECT_FALSE(requests.isDue(at(10)));
  // The trainer that made the request is lost.
  EXPECT_TRUE(requests.isDue(at(11)));
}

TEST(SaveRequestsTest, APublishedSaveDoesNotServeALaterRequest) {
  SaveRequests requests;
  requests.noteOfTrainers(1, at(1));
  // The save that trainers requested second has not begun when the server sees
  // that the first one is published.
  requests.noteOfTrainers(2, at(2));
  requests.notePublished(1);
  EXPECT_FALSE(requests.isDue(at(3)));
  EXPECT_TRUE(requests.isDue(at(12)));
  requests.notePublished(2);
  EXPECT_TRUE(requests.isDue(at(3)));
}
