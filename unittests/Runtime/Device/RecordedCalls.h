//===- RecordedCalls.h - What a library was asked for -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For functions that stand in for those of a library, and write down what they
// are asked for. Of one thread.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_DEVICE_RECORDEDCALLS_H
#define UNITTESTS_RUNTIME_DEVICE_RECORDEDCALLS_H

#include <string>
#include <utility>
#include <vector>

namespace pdltest {

/// Since the last `forgetCalls`.
inline std::vector<std::string> calls;
/// What the next call answers; those after it succeed.
inline int nextError = 0;

inline void forgetCalls() {
  calls.clear();
  nextError = 0;
}

inline int answer(const std::string &call) {
  calls.push_back(call);
  return std::exchange(nextError, 0);
}

} // namespace pdltest

#endif // UNITTESTS_RUNTIME_DEVICE_RECORDEDCALLS_H
