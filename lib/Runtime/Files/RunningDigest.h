//===- RunningDigest.h - The digest of a file while it is made --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_RUNNINGDIGEST_H
#define LIB_RUNTIME_FILES_RUNNINGDIGEST_H

#include "pdlrt/Files/Safetensors.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pdlrt {

/// Of bytes that come one after the other. Not thread-safe.
class RunningDigest {
public:
  /// Throws std::bad_alloc.
  RunningDigest();
  ~RunningDigest();

  void add(const void *bytes, size_t count);
  /// Of all bytes so far.
  FileDigest digest() const;
  uint64_t size() const { return count; }

private:
  struct State;
  std::unique_ptr<State> state;
  uint64_t count = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_RUNNINGDIGEST_H
