//===- ServerRows.h - Rows of the servers of a running job ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The client of Visit and Read requests (docs/Protocol.md). A reader does not
// join the job. It first asks all servers what they hold. Then it requests
// rows, from all servers concurrently.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVING_SERVERROWS_H
#define LIB_RUNTIME_SERVING_SERVERROWS_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Protocol/ReadCodec.h"
#include "pdlrt/Serving/RemoteRows.h"
#include "pdlrt/Serving/RowCache.h"
#include "pdlrt/Table/TableOptions.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Transport.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// The contents of a job's servers from the view of a program. Immutable.
struct ServerMap {
  /// Indexed by server, in the order of the addresses.
  std::vector<ServerContents> servers;
  /// Id of its job that each server has drawn, by server.
  std::vector<uint64_t> jobs;
  struct Table {
    TableOptions options;
    bool isUnknownZero = false;
    /// Index of the server of each shard in the list of addresses.
    std::array<uint16_t, pdlabi::logicalShardCount> serverOf = {};
    /// Index of the table on each server, by server.
    std::vector<uint64_t> symbolAt;
    /// Index of the cache for the rows of the table.
    size_t cache = 0;
  };
  /// Indexed by symbol of the descriptor; null for parameters.
  std::vector<std::unique_ptr<Table>> tables;

  /// Creates the map from the reports of all servers, after comparing them with
  /// the program. `starts`: the newest incarnation of a trainer that each
  /// server knows, or 0 if no trainer has joined. An error names the server by
  /// its address. Throws std::bad_alloc.
  static Expected<std::shared_ptr<ServerMap>>
  of(const pdl_descriptor &descriptor,
     const std::vector<std::string> &addresses,
     std::vector<ServerContents> servers, std::vector<uint64_t> jobs,
     const std::vector<uint64_t> &starts);
};

class ServerRows final : public RemoteRows {
public:
  /// Connects to the servers, and requests from each a list of its rows and
  /// parameters. Takes ownership of `clock` and `transport`; `transport` must
  /// use `clock`. On failure, sets `isUnavailable` to true if servers did not
  /// respond. Throws std::bad_alloc.
  static Expected<std::shared_ptr<const ServerRows>>
  connect(const pdl_descriptor &descriptor, const ConnectOptions &options,
          std::unique_ptr<Clock> clock, std::unique_ptr<Transport> transport,
          bool &isUnavailable);
  ~ServerRows() override;

  std::unique_ptr<RemoteRows::Scratch> makeScratch() const override;
  int32_t storageOf(int32_t symbol) const override;
  size_t rowBytesOf(int32_t symbol) const override;
  Status read(std::span<const WantedRows> wanted, RemoteRows::Scratch &scratch,
              bool &isUnavailable) const override;
  Status readParameters(std::span<void *const> parameters, int64_t &updates,
                        bool &isUnavailable) const override;
  uint64_t seed() const override;
  RowCounts counts() const override;
  size_t memoryBytes() const override;

private:
  class Scratch;
  /// Request to one server, and its response.
  struct Call {
    size_t server = 0;
    MessageKind kind = MessageKind::Read;
    Message payload;
    /// Response, after it has arrived.
    Frame response = {};
    /// Number of failed connections.
    int failures = 0;
    bool isRespondedTo = false;
  };
  /// Result of calls.
  enum class Ending {
    Responded,
    /// A server does not respond, or cannot respond now.
    Unavailable,
    /// A server was restarted, and this reader has not registered with it
    /// since.
    Stranger,
  };

  ServerRows(const pdl_descriptor &descriptor, const ConnectOptions &options)
      : descriptor(descriptor), options(options) {}
  ClockTime deadline() const {
    return clock->now() + std::chrono::milliseconds(options.timeoutMillis);
  }
  std::shared_ptr<const ServerMap> currentMap() const {
    const MutexLock lock(mapMutex);
    return map;
  }
  void makeCaches();
  void sendOnce(std::span<Call *const> calls, const std::vector<uint64_t> &jobs,
                ClockTime until, std::vector<CallResult> &results) const;
  Status describeTimeout(const Call &call) const;
  Status judge(Call &call, const CallResult &result, int maxFailures,
               Ending &ending) const;
  Status callAll(std::vector<Call> &calls, const std::vector<uint64_t> &jobs,
                 ClockTime until, int maxFailures, Ending &ending) const;
  Status visitAll(ClockTime until, int maxFailures, bool &isUnavailable) const;
  /// Calls `ask`. If a server was restarted, visits all servers again and
  /// repeats the call.
  template <typename Ask> Status asking(bool &isUnavailable, Ask ask) const;
  Status fetch(const ServerMap &with, std::span<const WantedRows> wanted,
               Scratch &scratch, ClockTime until, Ending &ending) const;
  Status takeRows(const ServerMap &with, std::span<const WantedRows> wanted,
                  Scratch &scratch) const;

  const pdl_descriptor &descriptor;
  const ConnectOptions options;
  std::unique_ptr<Clock> clock;
  std::unique_ptr<Transport> transport;
  std::vector<std::unique_ptr<Connection>> connections;
  struct RowForm {
    int32_t storage = 0;
    size_t bytes = 0;
  };
  /// Indexed by symbol, for tables.
  std::vector<RowForm> rowForms;
  /// Indexed by size of rows.
  std::vector<std::unique_ptr<RowCache>> caches;

  mutable Mutex mapMutex;
  mutable std::shared_ptr<const ServerMap> map PDLRT_GUARDED_BY(mapMutex);
  /// Locked by the thread that registers with restarted servers. Other threads
  /// wait.
  mutable Mutex visitMutex;
  /// Time at which the oldest valid rows in the cache were requested. Older
  /// rows may come from servers that were restarted since.
  mutable std::atomic<int64_t> validSince = 0;
  mutable std::atomic<int64_t> hits = 0, misses = 0, requests = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVING_SERVERROWS_H
