//===- ConnectedLibrary.h - State of a simulated library --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_TOOLS_CONNECTEDLIBRARY_H
#define PDL_UNITTESTS_TOOLS_CONNECTEDLIBRARY_H

#include <atomic>

/// Environment variable with the address of a ConnectedState.
inline constexpr char connectedStateVariable[] = "PDL_TEST_CONNECTED_STATE";

/// Settings by a test for ConnectedLibrary.cpp, and observations.
struct ConnectedState {
  /// If true, refreshes do not end.
  std::atomic<bool> isHeld{false};
  std::atomic<int> connects{0}, refreshes{0};
  /// Number of refreshes that have not ended.
  std::atomic<int> running{0};
};

#endif // PDL_UNITTESTS_TOOLS_CONNECTEDLIBRARY_H
