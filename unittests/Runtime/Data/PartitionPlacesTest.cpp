//===- PartitionPlacesTest.cpp - Positions in topics without end ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Data/PartitionPlaces.h"

#include "pdlrt/Data/BatchSource.h"

#include <gtest/gtest.h>

using namespace pdlrt;

TEST(PartitionPlaces, PositionsAreEqualIfTheirPlacesAre) {
  DataPosition first, second;
  first.places = PartitionPlaces({{0, 0, 8, 1}, {2, 50, 3, 1}});
  second.places = PartitionPlaces({{0, 0, 8, 1}, {2, 50, 3, 1}});
  EXPECT_EQ(first, second);
  second.places = PartitionPlaces({{0, 0, 8, 1}, {2, 50, 4, 1}});
  EXPECT_NE(first, second);
  second.places = PartitionPlaces({{0, 0, 8, 1}});
  EXPECT_NE(first, second);
  second.places = {};
  EXPECT_NE(first, second);
  EXPECT_EQ(DataPosition(), second);
}

TEST(PartitionPlaces, CopiesShareThePlaces) {
  const PartitionPlaces places({{0, 0, 8, 1}});
  const PartitionPlaces copy = places;
  EXPECT_EQ(copy.begin(), places.begin());
  EXPECT_EQ(copy.size(), 1U);
}

TEST(PartitionPlaces, EventTimeIsTheHighest) {
  DataPosition early, late;
  EXPECT_EQ(eventTimeOf(early), 0);
  early.places = PartitionPlaces({{0, 70, 8, 1}, {1, 40, 3, 1}});
  late.places = PartitionPlaces({{2, 0, 0, 0}, {3, 90, 1, 1}});
  EXPECT_EQ(eventTimeOf(early), 70);
  EXPECT_EQ(eventTimeOf({late, early}), 90);
}
