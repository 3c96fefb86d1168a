//===- BlockedSignalsTest.cpp - Threads with blocked signals --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/BlockedSignals.h"

#include "gtest/gtest.h"

#include <new>
#include <thread>

using namespace pdlrt;

static bool isBlocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(BlockedSignals, ThreadsThatStartMeanwhileTakeNone) {
  ASSERT_FALSE(isBlocked(SIGINT));
  bool inThread = false;
  std::thread thread;
  {
    const BlockedSignals blocked;
    EXPECT_TRUE(isBlocked(SIGINT));
    thread = std::thread([&] { inThread = isBlocked(SIGINT); });
  }
  EXPECT_FALSE(isBlocked(SIGINT));
  thread.join();
  EXPECT_TRUE(inThread);
}

TEST(BlockedSignals, WhateverEndsTheStart) {
  try {
    const BlockedSignals blocked;
    throw std::bad_alloc();
  } catch (const std::bad_alloc &) {
  }
  EXPECT_FALSE(isBlocked(SIGINT));
}
