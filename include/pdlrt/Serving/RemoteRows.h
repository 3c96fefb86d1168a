//===- RemoteRows.h - Rows that are asked for call by call ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a model reads that does not hold its tables. How rows travel is not told
// here: a library that was not made for servers has nothing of it
// (ServerRows.h).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_REMOTEROWS_H
#define PDLRT_SERVING_REMOTEROWS_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// Rows of one lookup: distinct keys, and where is written what frozen programs
/// read of each, one behind the other, and whether the key had no row.
struct WantedRows {
  int32_t symbol = 0;
  int64_t count = 0;
  const int64_t *keys = nullptr;
  std::byte *rows = nullptr;
  /// By key, 0 or 1.
  uint8_t *isUnknown = nullptr;
};

/// How rows were found, since the model was connected.
struct RowCounts {
  /// Rows that were in the cache, those that were asked for, and requests.
  int64_t hits = 0, misses = 0, requests = 0;
};

/// Rows of a running job. Any number of threads may call, each with a scratch
/// of its own.
class RemoteRows {
public:
  /// What one thread's calls need beside the rows; it grows to the largest.
  class Scratch {
  public:
    virtual ~Scratch();
  };
  virtual ~RemoteRows();

  virtual std::unique_ptr<Scratch> makeScratch() const = 0;
  /// `pdl_storage` of a table's rows, and the bytes of one.
  virtual int32_t storageOf(int32_t symbol) const = 0;
  virtual size_t rowBytesOf(int32_t symbol) const = 0;

  /// Writes all rows. A key without a row reads what the table says of unknown
  /// ones. On an error, one sentence, some are written; `isUnavailable` says
  /// whether it is one of servers that do not answer. Throws std::bad_alloc.
  virtual Status read(std::span<const WantedRows> wanted, Scratch &scratch,
                      bool &isUnavailable) const = 0;
  /// Writes what frozen programs read of all parameters: by symbol, null for
  /// tables. `updates`: that were applied to them.
  virtual Status readParameters(std::span<void *const> parameters,
                                int64_t &updates,
                                bool &isUnavailable) const = 0;

  /// Of initial values and of draws.
  virtual uint64_t seed() const = 0;
  virtual RowCounts counts() const = 0;
  /// Of the cache.
  virtual size_t memoryBytes() const = 0;
};

/// How a model is connected.
struct ConnectOptions {
  std::vector<std::string> servers;
  /// Of the servers' --reader-token-file; empty: they have none. The transport
  /// knows it.
  std::string token;
  /// What rows in the cache may take.
  size_t cacheBytes = size_t(256) << 20;
  /// How old a row in the cache may be that is read.
  int64_t rowAgeMillis = 1000;
  /// How long a call waits for servers.
  int64_t timeoutMillis = 1000;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_REMOTEROWS_H
