//===- RunningDigest.h - Incremental digest of a file -----------*- C++ -*-===//
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

/// Computes the digest of bytes that are added in pieces. Not thread-safe.
class RunningDigest {
public:
  /// Throws std::bad_alloc.
  RunningDigest();
  ~RunningDigest();

  void add(const void *bytes, size_t count);
  /// Returns the digest of all bytes so far.
  FileDigest digest() const;
  uint64_t size() const { return count; }

private:
  struct State;
  std::unique_ptr<State> state;
  uint64_t count = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_RUNNINGDIGEST_H
