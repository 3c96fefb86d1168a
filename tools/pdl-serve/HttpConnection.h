//===- HttpConnection.h - A connection of HTTP ---------------- -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_HTTPCONNECTION_H
#define PDLSERVE_HTTPCONNECTION_H

#include "HttpApi.h"
#include "HttpServer.h"
#include "LimitedBody.h"

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
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

/// A thread with the connections that it serves.
struct IoThread {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<Executor> work{context.get_executor()};
  /// Those that have not ended; of the thread itself.
  std::unordered_set<std::shared_ptr<HttpConnection>> connections;
  boost::asio::steady_timer timer{context};
  /// Whether the timer is waited for.
  bool isTimed = false;
  std::jthread thread;
};

/// What connections share.
struct HttpShared {
  HttpApi &api;
  MemoryBudget &budget;
  Metrics &metrics;
  HttpOptions options;
  std::atomic<bool> isStopping{false};
  std::atomic<int64_t> open{0};
};

/// One connection. Its thread calls all functions but those of HttpClient.
/// Nothing is thrown out of a handler: where memory runs out, the connection
/// ends.
class HttpConnection final
    : public HttpClient,
      public std::enable_shared_from_this<HttpConnection> {
public:
  HttpConnection(HttpShared &shared, IoThread &owner)
      : socket(owner.context), shared(shared), owner(owner), buffer(maxBuffer),
        base(shared.budget) {}

  void begin() noexcept;
  void answer(HttpAnswer answer) override;
  void abandon() noexcept override { isAbandoned = true; }
  bool isGone() const noexcept override;
  /// Ends the connection, or refuses its request, if it has waited too long.
  void checkTime(Clock::time_point now) noexcept;
  /// Ends the connection if no request is on its way.
  void stopIfIdle() noexcept;
  void end() noexcept;

  Socket socket;

private:
  enum class State { Reading, Busy, Writing, Draining, Ended };
  using Error = boost::system::error_code;
  using Parser = boost::beast::http::request_parser<LimitedBody>;

  static constexpr size_t maxHeader = size_t(32) << 10;
  /// Unread bytes: the trailers of a chunked body are in them as a whole.
  static constexpr size_t maxBuffer = size_t(64) << 10;

  template <typename Body> void guard(Body &&body) noexcept;
  void enter(State next);
  /// Changes when more of the request has come.
  size_t receivedNow() const;
  /// Whether bytes of a request are there.
  bool hasMore();
  bool isIdle() { return state == State::Reading && !hasBegun(); }
  bool hasBegun();
  bool makeRoomForOne();
  void readNext();
  void readHeader();
  void onHeader(Error error);
  void readBody();
  void onRead(Error error);
  void refuseAndEnd(unsigned status, std::string_view sentence);
  void write(HttpAnswer answer);
  void drain();

  HttpShared &shared;
  IoThread &owner;
  State state = State::Ended;
  Clock::time_point since;
  /// When the first byte of the request was seen.
  std::optional<Clock::time_point> begun;
  /// receivedNow(), when the connection was looked at last.
  size_t received = 0;
  boost::beast::flat_buffer buffer;
  std::optional<Parser> parser;
  bool keepAlive = false, hasRest = false, isHead = false;
  /// Whether a read has not come to its handler.
  bool isReading = false;
  std::string head, body;
  /// The bytes that each connection may take, and those of the answer.
  Reservation base, answerMemory;
  std::atomic<bool> isAbandoned{false};
};

} // namespace pdlserve

#endif // PDLSERVE_HTTPCONNECTION_H
