//===- StatusTest.cpp - Results that may be an error
//-----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Status.h"

#include "gtest/gtest.h"

#include <memory>

using namespace pdlrt;

static Expected<std::unique_ptr<int>> positive(int number) {
  if (number <= 0)
    return Status::invalid("the number must be positive");
  return std::make_unique<int>(number);
}

static Status addTwice(int number, int &sum) {
  auto value = positive(number);
  PDLRT_RETURN_IF_ERROR(value.status());
  sum += 2 * **value;
  return {};
}

TEST(StatusTest, ErrorLeavesTheFunctionAndKeepsItsSentence) {
  int sum = 0;
  EXPECT_TRUE(addTwice(3, sum).ok());
  EXPECT_EQ(sum, 6);
  Status status = addTwice(-1, sum);
  EXPECT_EQ(status.code(), PDL_INVALID_ARGUMENT);
  EXPECT_EQ(status.message(), "the number must be positive");
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(std::move(status).withContext("flag --x").message(),
            "flag --x: the number must be positive");
}

TEST(StatusTest, CrossesTheABIByTheThreadsLastError) {
  EXPECT_EQ(Status().report(), PDL_OK);
  EXPECT_EQ(Status::outOfMemory("no room for 3 rows").report(),
            PDL_OUT_OF_MEMORY);
  Status back = Status::fromLastError(PDL_OUT_OF_MEMORY);
  EXPECT_EQ(back.code(), PDL_OUT_OF_MEMORY);
  EXPECT_EQ(back.message(), "no room for 3 rows");
  EXPECT_TRUE(Status::fromLastError(PDL_OK).ok());
}
