//===- RequestMetrics.h - Counts requests to object stores ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_REQUESTMETRICS_H
#define LIB_RUNTIME_FILES_REQUESTMETRICS_H

#include <cstdint>

namespace pdlrt {

/// Kind of a request to an object store.
enum class StoreRequest { Read, List, Find, Write, Remove };

/// Outcome of one attempt of a request.
enum class StoreOutcome { Ok, Retried, Failed };

/// Counts one attempt, which took `seconds`. `readBytes` and `writtenBytes` are
/// the bytes of content in the response and in the request. Thread-safe.
void countStoreRequest(StoreRequest kind, StoreOutcome outcome, double seconds,
                       int64_t readBytes, int64_t writtenBytes);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_REQUESTMETRICS_H
