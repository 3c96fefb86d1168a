//===- HttpConnection.h - An HTTP connection --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_HTTPCONNECTION_H
#define PDL_TOOLS_PDL_SERVE_HTTPCONNECTION_H

#include "HttpApi.h"
#include "HttpServer.h"
#include "LimitedBody.h"
#include "pdlrt/Core/Mutex.h"

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>

namespace pdlserve {

using Executor = boost::asio::io_context::executor_type;
using Socket =
    boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol,
                                     Executor>;

class HttpConnection;

/// Thread with its connections.
struct IoThread {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<Executor> work{context.get_executor()};
  /// Open connections. Only for the thread itself.
  std::unordered_set<std::shared_ptr<HttpConnection>> connections;
  boost::asio::steady_timer timer{context};
  /// True if the timer is running.
  bool isTimed = false;
  std::jthread thread;
};

/// The open connections of all threads. Thread-safe.
class ConnectionList {
public:
  void add(HttpConnection &connection);
  /// Call before the connection is destroyed.
  void remove(HttpConnection &connection) noexcept;
  /// Returns the connection that has been idle longest, or null if no
  /// connection is idle.
  std::shared_ptr<HttpConnection> findIdlest() const;

private:
  mutable pdlrt::Mutex mutex;
  std::unordered_set<HttpConnection *> all PDLRT_GUARDED_BY(mutex);
};

/// Data that all connections share.
struct HttpShared {
  HttpApi &api;
  MemoryBudget &budget;
  ServingMetrics &metrics;
  HttpOptions options;
  ConnectionList connections;
  std::atomic<bool> isStopping{false};
  std::atomic<int64_t> open{0};
};

/// One HTTP connection. All functions run on the thread of the connection,
/// except those of HttpClient. No handler throws: if memory is exhausted, the
/// connection is closed.
class HttpConnection final
    : public HttpClient,
      public std::enable_shared_from_this<HttpConnection> {
public:
  HttpConnection(HttpShared &shared, IoThread &owner)
      : socket(owner.context), shared(shared), owner(owner), buffer(maxBuffer),
        base(shared.budget) {}

  void begin() noexcept;
  void respond(HttpResponse response) override;
  void abandon() noexcept override { isAbandoned = true; }
  /// Returns true if the client has closed the connection. Returns false if it
  /// has closed only its own side (half-close), because it then still waits for
  /// the response.
  bool isGone() const noexcept override;
  /// Returns the time since when the connection is idle, or `notIdle`.
  /// Thread-safe.
  Clock::rep idleSince() const {
    return idleTime.load(std::memory_order_relaxed);
  }
  static constexpr Clock::rep notIdle = std::numeric_limits<Clock::rep>::max();
  /// If a time limit is exceeded, closes the connection or rejects its request.
  void checkTime(Clock::time_point now) noexcept;
  /// Closes the connection if it has no request.
  void stopIfIdle() noexcept;
  void end() noexcept;

  Socket socket;

private:
  /// `Waiting` means: until another connection has been closed.
  enum class State { Waiting, Reading, Busy, Writing, Draining, Ended };
  using Error = boost::system::error_code;
  using Parser = boost::beast::http::request_parser<LimitedBody>;

  static constexpr size_t maxHeader = size_t(32) << 10;
  /// Maximum bytes of unread data; the trailers of a chunked body must fit.
  static constexpr size_t maxBuffer = size_t(64) << 10;

  template <typename Body> void guard(Body &&body) noexcept;
  void enter(State next);
  /// Returns a number that changes when a further part of the request has
  /// arrived.
  size_t receivedNow() const;
  /// Returns true if there are unread bytes of a request.
  bool hasMore();
  bool isIdle() { return state == State::Reading && !hasBegun(); }
  bool hasBegun();
  void admit();
  void admitOrMakeRoom();
  bool giveWay();
  void probe(Clock::time_point now);
  void readNext();
  void readHeader();
  void skipEmptyLines();
  void takeHead();
  void onHeader(Error error);
  void readBody();
  void onRead(Error error);
  void refuseAndEnd(unsigned status, std::string_view message);
  void write(HttpResponse response);
  void drain();

  HttpShared &shared;
  IoThread &owner;
  State state = State::Ended;
  Clock::time_point since;
  /// Time at which the first byte of the request was seen.
  std::optional<Clock::time_point> begun;
  /// Value of receivedNow() at the last time check.
  size_t received = 0;
  boost::beast::flat_buffer buffer;
  std::optional<Parser> parser;
  bool keepAlive = false, hasRest = false, isHead = false, hasProbed = false;
  /// True if a read operation is pending.
  bool isReading = false;
  std::string head, body;
  /// Values of headers of the request.
  std::string jsonSize, encoding;
  /// `base`: memory that each connection uses. `responseMemory`: memory of the
  /// response.
  Reservation base, responseMemory;
  std::atomic<bool> isAbandoned{false};
  std::atomic<Clock::rep> idleTime{notIdle};
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_HTTPCONNECTION_H
