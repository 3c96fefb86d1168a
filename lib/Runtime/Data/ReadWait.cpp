//===- ReadWait.cpp - Limits the time a reader waits for bytes ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ReadWait.h"

#include <algorithm>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace pdlrt;
using std::chrono::milliseconds;

ReadWait::ReadWait(std::optional<int64_t> limit)
    : patience(limit ? std::optional(milliseconds(*limit)) : std::nullopt),
      event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ReadWait::~ReadWait() {
  if (event >= 0)
    ::close(event);
}

void ReadWait::handOut() {
  hasRow = late = false;
  deadline.reset();
}

int ReadWait::timeout() {
  if (!hasRow || !patience)
    return -1;
  const Clock::time_point now = Clock::now();
  if (!deadline)
    deadline = now + *patience;
  const auto left = std::chrono::ceil<milliseconds>(*deadline - now).count();
  return int(std::clamp<int64_t>(left, 0, INT32_MAX));
}

void ReadWait::end() {
  const uint64_t one = 1;
  // The call has no effect if the descriptor is full or missing.
  (void)!::write(event, &one, sizeof(one));
}
