//===- RemoteRows.h - Rows that are requested for each call -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row source for models whose tables are remote. This interface does not depend
// on the transport, so libraries that are not made for servers need none
// (ServerRows.h).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_REMOTEROWS_H
#define PDLRT_SERVING_REMOTEROWS_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// Rows of one lookup. The keys are distinct. For each key, the part of the row
/// that frozen programs read is written to `rows`, consecutively.
struct WantedRows {
  int32_t symbol = 0;
  int64_t count = 0;
  const int64_t *keys = nullptr;
  std::byte *rows = nullptr;
  /// Indexed by key: 1 if the key had no row, otherwise 0.
  uint8_t *isUnknown = nullptr;
};

/// Counts of row requests since the model was connected.
struct RowCounts {
  /// Rows found in the cache, rows requested from servers, and requests.
  int64_t hits = 0, misses = 0, requests = 0;
};

/// Rows of a running job. Any number of threads may call, each with its own
/// scratch.
class RemoteRows {
public:
  /// Memory that the calls of one thread need in addition to the rows. It grows
  /// to the largest call.
  class Scratch {
  public:
    virtual ~Scratch();
  };
  virtual ~RemoteRows();

  virtual std::unique_ptr<Scratch> makeScratch() const = 0;
  /// Return the `pdl_storage` of a table's rows, and the size of one row.
  virtual int32_t storageOf(int32_t symbol) const = 0;
  virtual size_t rowBytesOf(int32_t symbol) const = 0;

  /// Reads all rows. For a key without a row, writes the values that the table
  /// defines for unknown keys. After an error, some rows may have been written;
  /// `isUnavailable` is true if servers did not respond. Throws std::bad_alloc.
  virtual Status read(std::span<const WantedRows> wanted, Scratch &scratch,
                      bool &isUnavailable) const = 0;
  /// Reads what frozen programs read of all parameters. `parameters`: by
  /// symbol, null for tables. `updates`: set to the number of updates applied
  /// to them.
  virtual Status readParameters(std::span<void *const> parameters,
                                int64_t &updates,
                                bool &isUnavailable) const = 0;

  /// Returns the seed of initial values and draws.
  virtual uint64_t seed() const = 0;
  virtual RowCounts counts() const = 0;
  /// Returns the memory of the cache.
  virtual size_t memoryBytes() const = 0;
};

/// Options for connecting a model to servers.
struct ConnectOptions {
  std::vector<std::string> servers;
  /// Token of the servers' --reader-token-file; empty if they have none. The
  /// transport uses it.
  std::string token;
  /// Maximum memory for cached rows.
  size_t cacheBytes = size_t(256) << 20;
  /// Maximum age of a cached row that may be read.
  int64_t rowAgeMillis = 1000;
  /// Maximum time for which a call waits for servers.
  int64_t timeoutMillis = 1000;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_REMOTEROWS_H
