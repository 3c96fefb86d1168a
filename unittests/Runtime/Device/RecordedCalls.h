//===- RecordedCalls.h - Recorded calls of a library ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Used by functions that replace those of a library and record their calls.
// Only one thread may use them.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_DEVICE_RECORDEDCALLS_H
#define PDL_UNITTESTS_RUNTIME_DEVICE_RECORDEDCALLS_H

#include <string>
#include <utility>
#include <vector>

namespace pdltest {

/// Calls since the last `forgetCalls`.
inline std::vector<std::string> calls;
/// Result of the next call; later calls succeed.
inline int nextError = 0;

inline void forgetCalls() {
  calls.clear();
  nextError = 0;
}

inline int respond(const std::string &call) {
  calls.push_back(call);
  return std::exchange(nextError, 0);
}

} // namespace pdltest

#endif // PDL_UNITTESTS_RUNTIME_DEVICE_RECORDEDCALLS_H
