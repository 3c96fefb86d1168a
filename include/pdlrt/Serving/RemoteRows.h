//===- RemoteRows.h - Rows that are requested for each call -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source of rows for served models whose tables are on servers. This interface
// does not depend on a transport. So libraries that do not connect to servers
// do not link one (ServerRows.h).
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

/// Keys of one lookup, which are distinct, and memory for their rows. For each
/// key, the part of the row that frozen programs read is written to `rows`, one
/// after the other.
struct WantedRows {
  int32_t symbol = 0;
  int64_t count = 0;
  const int64_t *keys = nullptr;
  std::byte *rows = nullptr;
  /// Output, by key: 1 if the key has no row, otherwise 0.
  uint8_t *isUnknown = nullptr;
};

/// Counts of row requests since the model was connected.
struct RowCounts {
  /// `hits`: rows that were found in the cache. `misses`: rows that were
  /// requested from servers. `requests`: requests to servers.
  int64_t hits = 0, misses = 0, requests = 0;
};

/// Reads rows and parameters of a running job. Several threads may call its
/// functions concurrently, each with its own Scratch.
class RemoteRows {
public:
  /// Scratch memory for the calls of one thread. It grows to the largest call.
  class Scratch {
  public:
    virtual ~Scratch();
  };
  virtual ~RemoteRows();

  virtual std::unique_ptr<Scratch> makeScratch() const = 0;
  /// `storageOf` returns the storage format (`pdl_storage`) of a table's rows,
  /// and `rowBytesOf` the size of a row in bytes.
  virtual int32_t storageOf(int32_t symbol) const = 0;
  virtual size_t rowBytesOf(int32_t symbol) const = 0;

  /// Reads the rows of all entries of `wanted`. For a key without a row, writes
  /// the values that the table defines for unknown keys. After an error, some
  /// rows may have been written. Sets `isUnavailable` to true if the reason is
  /// that servers did not respond. Throws std::bad_alloc.
  virtual Status read(std::span<const WantedRows> wanted, Scratch &scratch,
                      bool &isUnavailable) const = 0;
  /// Reads the part that frozen programs read, of all parameters. Writes it to
  /// `parameters`, which has an address for each symbol, null for tables. Sets
  /// `updates` to the largest number of updates that a server has applied to
  /// any optimizer group. Parameters of different servers may be of different
  /// steps. Returns an error if the servers do not have all parameters.
  /// `isUnavailable` is as in `read`.
  virtual Status readParameters(std::span<void *const> parameters,
                                int64_t &updates,
                                bool &isUnavailable) const = 0;

  /// Returns the seed of initial values and draws.
  virtual uint64_t seed() const = 0;
  virtual RowCounts counts() const = 0;
  /// Returns the size of the cache in bytes.
  virtual size_t memoryBytes() const = 0;
};

/// Options for connecting a model to servers.
struct ConnectOptions {
  std::vector<std::string> servers;
  /// Token in the --reader-token-file of the servers; empty if they have none.
  std::string token;
  /// Maximum memory for cached rows, in bytes.
  size_t cacheBytes = size_t(256) << 20;
  /// Maximum age of a cached row; older rows are requested again. 0: no cache.
  int64_t rowAgeMillis = 1000;
  /// Maximum time for which a call waits for servers.
  int64_t timeoutMillis = 1000;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_REMOTEROWS_H
