//===- ServerRows.cpp - Rows of the servers of a running job --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serving/ServerRows.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Protocol/Heartbeat.h"
#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/FailureCode.h"
#include "pdlrt/Transport/SealedTransport.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <thread>
#include <utility>

using namespace pdlrt;

static constexpr std::chrono::milliseconds pauseBetweenTries{20};
/// Maximum number of failed connections of a call. One failure is allowed: that
/// a connection was lost, for example because the server was restarted, is
/// detected only by the next call.
static constexpr int maxFailuresOfCall = 2;
/// Maximum number of times that a call registers with restarted servers again.
static constexpr int maxVisits = 3;

/// Grows to the largest call.
class ServerRows::Scratch final : public RemoteRows::Scratch {
public:
  /// Keys of a lookup that are not cached, ordered by server.
  struct Missing {
    /// `places`: indices of the keys. `byServer`: the same indices, sorted by
    /// server. `splits`: start of each server's keys in `byServer`. `keys`: the
    /// keys in the order of `byServer`.
    std::vector<int32_t> places, byServer, splits;
    std::vector<int64_t> keys;
  };
  /// Some of a lookup's keys in a call.
  struct Piece {
    size_t wanted;
    int32_t begin, end; ///< Range in `byServer`.
  };
  struct Ask {
    ReadRequest request;
    std::vector<Piece> pieces;
  };

  std::vector<Missing> missing;
  /// Indexed by call.
  std::vector<Ask> asks;
  std::vector<Call> calls;
  RowCache::Scratch cache;
};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Collects the results of concurrent calls.
namespace {
struct Gate {
  explicit Gate(size_t calls) : open(calls), results(calls) {}

  Mutex mutex;
  ConditionVariable changed;
  size_t open PDLRT_GUARDED_BY(mutex);
  std::vector<CallResult> results PDLRT_GUARDED_BY(mutex);
};
} // namespace

/// Sends all calls concurrently and waits until each has ended.
void ServerRows::sendOnce(std::span<Call *const> calls,
                          const std::vector<uint64_t> &jobs, ClockTime until,
                          std::vector<CallResult> &results) const {
  auto gate = std::make_shared<Gate>(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const Call &call = *calls[i];
    Envelope head;
    head.kind = call.kind;
    head.incarnation = call.kind == MessageKind::Read ? jobs[call.server] : 0;
    connections[call.server]->call(joinFrame(head, call.payload), until,
                                   [gate, i](CallResult result) {
                                     const MutexLock lock(gate->mutex);
                                     gate->results[i] = std::move(result);
                                     if (--gate->open == 0)
                                       gate->changed.notify_all();
                                   });
  }
  requests.fetch_add(int64_t(calls.size()), std::memory_order_relaxed);
  MutexLock lock(gate->mutex);
  gate->changed.wait(
      lock, [&]() PDLRT_REQUIRES(gate->mutex) { return gate->open == 0; });
  results = std::move(gate->results);
}

/// Returns the error of a call that has got no response in time. Both the
/// transport and the caller may notice this first; the message is the same.
Status ServerRows::describeTimeout(const Call &call) const {
  const std::string reason = call.response.payload.toString();
  return Status::deadlineExceeded(fmt::format(
      "server {} did not respond within {} ms{}{}; check the address and "
      "whether the server runs, or allow more time",
      options.servers[call.server], options.timeoutMillis,
      reason.empty() ? "" : ": ", reason));
}

/// Evaluates the result of a call. Returns ok if the call has its response or
/// must be repeated, otherwise an error that ends the call. Sets `ending`.
Status ServerRows::judge(Call &call, const CallResult &result, int maxFailures,
                         Ending &ending) const {
  const std::string &address = options.servers[call.server];
  ending = Ending::Unavailable;
  if (result.outcome == CallOutcome::DeadlineExceeded)
    return describeTimeout(call);
  if (result.outcome == CallOutcome::Unavailable) {
    if (++call.failures < maxFailures)
      return {};
    return result.fault == CallFault::TooManyFiles
               ? Status::resourceExhausted(
                     fmt::format("server {} cannot be reached: {}", address,
                                 describeFileLimit()))
               : Status::unavailable(fmt::format(
                     "server {} does not respond: no process listens there, or "
                     "the connection was lost; check the address, and "
                     "whether the job still runs",
                     address));
  }
  Expected<Frame> frame = splitFrame(result.response);
  if (!frame)
    return std::move(frame).status().withContext("server " + address);
  switch (frame->head.kind) {
  case MessageKind::Response:
    call.response = *std::move(frame);
    call.isRespondedTo = true;
    ending = Ending::Responded;
    return {};
  case MessageKind::Wait: {
    // The call is repeated until its deadline.
    const Expected<Heartbeat> sign = decodeHeartbeat(frame->payload);
    call.response.payload = Message::ofString(sign ? sign->message : "busy");
    return {};
  }
  default:
    if (frame->head.sequence == sequenceOfStranger)
      ending = Ending::Stranger;
    return failureOf(*frame, "server " + address + ": ");
  }
}

/// Sends calls, and repeats those without a response, until all have one, a
/// call fails, or the time `until` has come.
Status ServerRows::callAll(std::vector<Call> &calls,
                           const std::vector<uint64_t> &jobs, ClockTime until,
                           int maxFailures, Ending &ending) const {
  std::vector<Call *> open;
  std::vector<CallResult> results;
  for (;;) {
    open.clear();
    for (Call &call : calls)
      if (!call.isRespondedTo)
        open.push_back(&call);
    if (open.empty()) {
      ending = Ending::Responded;
      return {};
    }
    sendOnce(open, jobs, until, results);
    Status fault;
    Ending faultEnding = Ending::Unavailable;
    for (size_t i = 0; i < open.size(); ++i) {
      Ending one = Ending::Responded;
      Status status = judge(*open[i], results[i], maxFailures, one);
      // If several calls fail, the error that a server was restarted takes
      // precedence, because the server is then visited again.
      if (!status.ok() && (fault.ok() || one == Ending::Stranger)) {
        fault = std::move(status);
        faultEnding = one;
      }
    }
    if (!fault.ok()) {
      ending = faultEnding;
      return fault;
    }
    const auto waits = std::ranges::find(calls, false, &Call::isRespondedTo);
    if (waits == calls.end())
      continue;
    if (clock->now() + pauseBetweenTries >= until) {
      ending = Ending::Unavailable;
      return describeTimeout(*waits);
    }
    std::this_thread::sleep_for(pauseBetweenTries);
  }
}

//===----------------------------------------------------------------------===//
// Visits
//===----------------------------------------------------------------------===//

Status ServerRows::visitAll(ClockTime until, int maxFailures,
                            bool &isUnavailable) const {
  std::vector<Call> calls(connections.size());
  for (size_t s = 0; s < calls.size(); ++s) {
    calls[s].server = s;
    calls[s].kind = MessageKind::Visit;
    calls[s].payload = encodeVisit({descriptor.model_name});
  }
  Ending ending = Ending::Responded;
  const Status called = callAll(calls, {}, until, maxFailures, ending);
  isUnavailable = !called.ok() && ending == Ending::Unavailable;
  PDLRT_RETURN_IF_ERROR(called);
  std::vector<ServerContents> servers;
  std::vector<uint64_t> jobs, starts;
  for (const Call &call : calls) {
    Expected<ServerContents> contents = decodeContents(call.response.payload);
    if (!contents)
      return {contents.status().code(),
              fmt::format("server {} {}", options.servers[call.server],
                          contents.status().message())};
    servers.push_back(*std::move(contents));
    jobs.push_back(call.response.head.incarnation);
    starts.push_back(call.response.head.sequence);
  }
  Expected<std::shared_ptr<ServerMap>> made = ServerMap::of(
      descriptor, options.servers, std::move(servers), std::move(jobs), starts);
  if (!made)
    return std::move(made).status();
  for (const std::unique_ptr<ServerMap::Table> &table : (*made)->tables)
    while (table && table->cache < caches.size() &&
           caches[table->cache]->rowBytes() != table->options.frozenBytes())
      ++table->cache;
  // Cached rows of previous incarnations of the servers are no longer valid.
  validSince.store(clock->now().count(), std::memory_order_relaxed);
  const MutexLock lock(mapMutex);
  map = *std::move(made);
  return {};
}

/// Records the size and storage of the rows of each table. Creates one cache
/// for all tables with rows of the same size, so that frequently used tables
/// can use the space of others.
void ServerRows::makeCaches() {
  rowForms.resize(size_t(descriptor.symbol_count));
  std::map<size_t, size_t> tablesBySize;
  size_t bytesOfOneEach = 0;
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    if (descriptor.symbols[i].kind == PDL_SYMBOL_TABLE) {
      const auto table = TableOptions::of(descriptor.symbols[i], 0);
      const size_t bytes = table.frozenBytes();
      rowForms[size_t(i)] = {table.frozenStorage(), bytes};
      ++tablesBySize[bytes];
      bytesOfOneEach += bytes;
    }
  for (const auto &[bytes, tables] : tablesBySize)
    caches.push_back(std::make_unique<RowCache>(
        bytes, options.rowAgeMillis == 0
                   ? 0
                   : size_t(double(options.cacheBytes) *
                            double(bytes * tables) / double(bytesOfOneEach))));
}

Expected<std::shared_ptr<const ServerRows>>
ServerRows::connect(const pdl_descriptor &descriptor,
                    const ConnectOptions &options, std::unique_ptr<Clock> clock,
                    std::unique_ptr<Transport> transport, bool &isUnavailable) {
  isUnavailable = false;
  std::shared_ptr<ServerRows> rows(new ServerRows(descriptor, options));
  rows->clock = std::move(clock);
  rows->transport = std::move(transport);
  for (const std::string &address : options.servers) {
    Expected<std::unique_ptr<Connection>> connection =
        rows->transport->connect(address);
    if (!connection)
      return std::move(connection).status();
    rows->connections.push_back(*std::move(connection));
  }
  rows->makeCaches();
  // Servers may still be starting.
  PDLRT_RETURN_IF_ERROR(
      rows->visitAll(rows->deadline(), INT32_MAX, isUnavailable));
  return std::shared_ptr<const ServerRows>(std::move(rows));
}

ServerRows::~ServerRows() = default;

template <typename Ask>
Status ServerRows::asking(bool &isUnavailable, Ask ask) const {
  isUnavailable = false;
  const ClockTime until = deadline();
  for (int visits = 0;; ++visits) {
    const std::shared_ptr<const ServerMap> with = currentMap();
    Ending ending = Ending::Responded;
    Status status = ask(*with, until, ending);
    isUnavailable = !status.ok() && ending != Ending::Responded;
    if (status.ok() || ending != Ending::Stranger || visits == maxVisits)
      return status;
    const MutexLock lock(visitMutex);
    // Another thread may already have visited them.
    if (currentMap() == with)
      PDLRT_RETURN_IF_ERROR(visitAll(until, maxFailuresOfCall, isUnavailable));
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

std::unique_ptr<RemoteRows::Scratch> ServerRows::makeScratch() const {
  return std::make_unique<Scratch>();
}

int32_t ServerRows::storageOf(int32_t symbol) const {
  return rowForms[size_t(symbol)].storage;
}

size_t ServerRows::rowBytesOf(int32_t symbol) const {
  return rowForms[size_t(symbol)].bytes;
}

uint64_t ServerRows::seed() const { return currentMap()->servers[0].seed; }

RowCounts ServerRows::counts() const {
  return {hits.load(std::memory_order_relaxed),
          misses.load(std::memory_order_relaxed),
          requests.load(std::memory_order_relaxed)};
}

size_t ServerRows::memoryBytes() const {
  size_t sum = 0;
  for (const std::unique_ptr<RowCache> &cache : caches)
    sum += cache->memoryBytes();
  return sum;
}

Status ServerRows::read(std::span<const WantedRows> wanted,
                        RemoteRows::Scratch &given, bool &isUnavailable) const {
  auto &scratch = static_cast<Scratch &>(given);
  if (scratch.missing.size() < wanted.size())
    scratch.missing.resize(wanted.size());
  return asking(
      isUnavailable,
      [&](const ServerMap &with, ClockTime until, Ending &ending) -> Status {
        const int64_t now = clock->now().count();
        const int64_t since =
            std::max(now - options.rowAgeMillis * 1000000,
                     validSince.load(std::memory_order_relaxed));
        int64_t all = 0, missing = 0;
        for (size_t w = 0; w < wanted.size(); ++w) {
          const WantedRows &each = wanted[w];
          std::vector<int32_t> &places = scratch.missing[w].places;
          caches[with.tables[size_t(each.symbol)]->cache]->find(
              uint32_t(each.symbol), each.count, each.keys, since, each.rows,
              each.isUnknown, places, scratch.cache);
          all += each.count;
          missing += int64_t(places.size());
        }
        hits.fetch_add(all - missing, std::memory_order_relaxed);
        misses.fetch_add(missing, std::memory_order_relaxed);
        if (missing == 0)
          return {};
        PDLRT_RETURN_IF_ERROR(fetch(with, wanted, scratch, until, ending));
        // `now` was read before the request, so the rows are at least as new as
        // the time that the cache stores.
        for (size_t w = 0; w < wanted.size(); ++w)
          caches[with.tables[size_t(wanted[w].symbol)]->cache]->add(
              uint32_t(wanted[w].symbol), scratch.missing[w].places,
              wanted[w].keys, wanted[w].rows, wanted[w].isUnknown, now,
              scratch.cache);
        return {};
      });
}

/// Requests the missing rows from servers and writes them.
Status ServerRows::fetch(const ServerMap &with,
                         std::span<const WantedRows> wanted, Scratch &scratch,
                         ClockTime until, Ending &ending) const {
  const size_t servers = connections.size();
  for (size_t w = 0; w < wanted.size(); ++w) {
    const ServerMap::Table &table = *with.tables[size_t(wanted[w].symbol)];
    Scratch::Missing &missing = scratch.missing[w];
    const auto serverOf = [&](int32_t place) -> size_t {
      return table.serverOf[size_t(pdlabi::shardOfKey(wanted[w].keys[place]))];
    };
    missing.splits.assign(servers + 1, 0);
    missing.byServer.resize(missing.places.size());
    missing.keys.resize(missing.places.size());
    for (const int32_t place : missing.places)
      ++missing.splits[serverOf(place)];
    int32_t sum = 0;
    for (int32_t &split : missing.splits)
      split = sum += split;
    for (size_t i = missing.places.size(); i-- > 0;) {
      const int32_t place = missing.places[i];
      const auto at = size_t(--missing.splits[serverOf(place)]);
      missing.byServer[at] = place;
      missing.keys[at] = wanted[w].keys[place];
    }
  }
  // One request per server, unless it would be too large.
  scratch.asks.clear();
  scratch.calls.clear();
  for (size_t s = 0; s < servers; ++s) {
    bool isOpen = false;
    uint64_t keys = 0, bytes = 0;
    for (size_t w = 0; w < wanted.size(); ++w) {
      const ServerMap::Table &table = *with.tables[size_t(wanted[w].symbol)];
      const Scratch::Missing &missing = scratch.missing[w];
      const uint64_t rowBytes =
          std::max<uint64_t>(1, table.options.frozenBytes());
      int32_t begin = missing.splits[s];
      const int32_t end = missing.splits[s + 1];
      while (begin < end) {
        if (!isOpen) {
          scratch.asks.emplace_back();
          scratch.calls.emplace_back().server = s;
          keys = bytes = 0;
        }
        Scratch::Ask &ask = scratch.asks.back();
        const uint64_t fixed = bytesOfRead(ask.pieces.size() + 1, keys);
        const uint64_t room = std::min(
            fixed >= largestRead ? 0 : (largestRead - fixed) / sizeof(int64_t),
            bytes >= maxBytesOfRows ? 0 : (maxBytesOfRows - bytes) / rowBytes);
        // A single row always fits into a request.
        const auto count = int32_t(std::min<uint64_t>(
            uint64_t(end - begin),
            ask.pieces.empty() ? std::max<uint64_t>(1, room) : room));
        isOpen = count > 0;
        if (!isOpen)
          continue;
        ask.pieces.push_back({w, begin, begin + count});
        ask.request.tables.push_back(
            {table.symbolAt[s], {missing.keys.data() + begin, size_t(count)}});
        keys += uint64_t(count);
        bytes += uint64_t(count) * rowBytes;
        begin += count;
      }
    }
  }
  for (size_t i = 0; i < scratch.calls.size(); ++i)
    scratch.calls[i].payload = encodeRead(scratch.asks[i].request);
  PDLRT_RETURN_IF_ERROR(
      callAll(scratch.calls, with.jobs, until, maxFailuresOfCall, ending));
  return takeRows(with, wanted, scratch);
}

Status ServerRows::takeRows(const ServerMap &with,
                            std::span<const WantedRows> wanted,
                            Scratch &scratch) const {
  for (size_t c = 0; c < scratch.calls.size(); ++c) {
    const Call &call = scratch.calls[c];
    const Scratch::Ask &ask = scratch.asks[c];
    const Expected<Decoded<ReadResponse>> answer = decodeReadResponse(
        call.response.payload, ask.request, with.servers[call.server]);
    if (!answer)
      return Status(answer.status())
          .withContext("server " + options.servers[call.server]);
    for (size_t p = 0; p < ask.pieces.size(); ++p) {
      const Scratch::Piece &piece = ask.pieces[p];
      const RowsOfTable &rows = answer->content.tables[p];
      const WantedRows &to = wanted[piece.wanted];
      const ServerMap::Table &table = *with.tables[size_t(to.symbol)];
      const size_t bytes = table.options.frozenBytes();
      const std::byte *next = rows.rows.data();
      for (int32_t at = piece.begin; at < piece.end; ++at) {
        const int32_t place =
            scratch.missing[piece.wanted].byServer[size_t(at)];
        std::byte *out = to.rows + size_t(place) * bytes;
        const bool isKnown = rows.isKnown(size_t(at - piece.begin));
        to.isUnknown[place] = !isKnown;
        if (isKnown) {
          std::memcpy(out, next, bytes);
          next += bytes;
        } else if (table.isUnknownZero) {
          std::memset(out, 0, bytes);
        } else {
          table.options.initialFrozen(to.keys[place], out);
        }
      }
    }
    // Frees the response, which is large.
    scratch.calls[c].response = {};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
/// Writes the parameters that servers send, and counts their rows.
struct ParameterWriter {
  const pdl_descriptor &descriptor;
  std::span<void *const> parameters;
  /// Indexed by symbol.
  std::vector<int64_t> rowsWritten;

  Status write(const ServerContents &contents, const ReadResponse &answer);
};
} // namespace

Status ParameterWriter::write(const ServerContents &contents,
                              const ReadResponse &answer) {
  size_t next = 0;
  for (const HeldSymbol &held : contents.symbols) {
    if (held.isTable)
      continue;
    const std::byte *from = answer.parameters[next++].data();
    int32_t index = 0;
    while (index < descriptor.symbol_count &&
           held.name != descriptor.symbols[index].name)
      ++index;
    // The library may use fewer parameters than are trained.
    if (index == descriptor.symbol_count || !parameters[size_t(index)])
      continue;
    const pdl_symbol &symbol = descriptor.symbols[index];
    const std::string part =
        symbol.frozen_part ? symbol.slot_names[symbol.frozen_part - 1] : "";
    const size_t bytes = size_t(symbol.row_width) * elementSize(symbol);
    if (held.part != part || held.rowBytes != bytes)
      return Status::failedPrecondition(
          fmt::format("gives another part of @{} than the library reads; "
                      "translate both from one model",
                      symbol.name));
    auto *to = static_cast<std::byte *>(parameters[size_t(index)]);
    for (const RowBlock &run : held.rows) {
      if (run.firstRow > symbol.row_count - run.rowCount)
        return Status::dataLoss(fmt::format(
            "says that it has row {} of @{}, which has {} rows",
            run.firstRow + run.rowCount - 1, symbol.name, symbol.row_count));
      const size_t size = size_t(run.rowCount) * bytes;
      if (size > 0)
        std::memcpy(to + size_t(run.firstRow) * bytes, from, size);
      from += size;
      rowsWritten[size_t(index)] += run.rowCount;
    }
  }
  return {};
}

Status ServerRows::readParameters(std::span<void *const> parameters,
                                  int64_t &updates, bool &isUnavailable) const {
  // Repeats the requests a few times if servers have reported different numbers
  // of updates, so that parameters belong to one step if possible.
  constexpr int maxTries = 3;
  return asking(
      isUnavailable,
      [&](const ServerMap &with, ClockTime until, Ending &ending) -> Status {
        const ReadRequest request = {{}, /*withParameters=*/true};
        for (int tries = 1;; ++tries) {
          std::vector<Call> calls(connections.size());
          for (size_t s = 0; s < calls.size(); ++s) {
            calls[s].server = s;
            calls[s].payload = encodeRead(request);
          }
          PDLRT_RETURN_IF_ERROR(
              callAll(calls, with.jobs, until, maxFailuresOfCall, ending));
          ParameterWriter writer{
              descriptor, parameters,
              std::vector<int64_t>(size_t(descriptor.symbol_count))};
          int64_t least = INT64_MAX;
          updates = 0;
          for (const Call &call : calls) {
            const ServerContents &contents = with.servers[call.server];
            const Expected<Decoded<ReadResponse>> answer =
                decodeReadResponse(call.response.payload, request, contents);
            const Status status = answer
                                      ? writer.write(contents, answer->content)
                                      : answer.status();
            if (!status.ok())
              return Status(status).withContext("server " +
                                                options.servers[call.server]);
            least = std::min(least, answer->content.updates);
            updates = std::max(updates, answer->content.updates);
          }
          for (int32_t i = 0; i < descriptor.symbol_count; ++i)
            if (const pdl_symbol &symbol = descriptor.symbols[i];
                parameters[size_t(i)] &&
                writer.rowsWritten[size_t(i)] != symbol.row_count)
              return Status::failedPrecondition(fmt::format(
                  "the servers have {} of the {} rows of parameter @{}; where "
                  "trainers own parameters (mode hybrid), they are read "
                  "from a checkpoint: give it where the library connects, and "
                  "reload it instead of asking the servers",
                  writer.rowsWritten[size_t(i)], symbol.row_count,
                  symbol.name));
          if (least == updates || tries == maxTries)
            return {};
        }
      });
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

static Status connectRows(const pdl_descriptor &descriptor,
                          const ConnectOptions &options,
                          std::shared_ptr<const RemoteRows> &rows,
                          bool &isUnavailable) {
  PDLRT_RETURN_IF_ERROR(checkAddresses("servers", options.servers));
  auto clock = std::make_unique<RealClock>();
  Expected<std::unique_ptr<Transport>> transport =
      createReaderTransport(*clock, options.servers.size());
  if (!transport)
    return std::move(transport).status();
  auto connected = ServerRows::connect(
      descriptor, options, std::move(clock),
      createSealedTransport(*std::move(transport),
                            {PeerRole::Reader, options.token, std::nullopt}),
      isUnavailable);
  if (!connected)
    return std::move(connected).status();
  rows = *std::move(connected);
  return {};
}

/// See Api.cpp.
extern "C" void pdlrt_connect_rows(const pdl_descriptor *descriptor,
                                   const ConnectOptions *options,
                                   std::shared_ptr<const RemoteRows> *rows,
                                   bool *isUnavailable, Status *status) {
  *status = connectRows(*descriptor, *options, *rows, *isUnavailable);
}
