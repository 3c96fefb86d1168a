//===- HttpConnection.cpp - A connection of HTTP --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpConnection.h"
#include "HttpHead.h"

#include <cerrno>
#include <ctime>
#include <fmt/format.h>
#include <sys/socket.h>
#include <utility>

using namespace pdlserve;
namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

/// How long a client that was refused may still send.
static constexpr auto drainTime = std::chrono::seconds(2);
/// What a connection takes besides a request's body and its answer: unread
/// bytes, and the head as the parser keeps it.
static constexpr uint64_t connectionBytes = uint64_t(96) << 10;

template <typename Body> void HttpConnection::guard(Body &&body) noexcept {
  try {
    body();
  } catch (...) {
    end();
  }
}

void HttpConnection::enter(State next) {
  state = next;
  since = Clock::now();
  begun.reset();
  received = 0;
}

size_t HttpConnection::receivedNow() const {
  return buffer.size() + parser->get().body().text.size() + parser->got_some();
}

bool HttpConnection::hasMore() {
  Error error;
  return buffer.size() > 0 || socket.available(error) > 0;
}

bool HttpConnection::hasBegun() {
  return (parser && parser->got_some()) || hasMore();
}

void HttpConnection::begin() noexcept {
  guard([&] {
    owner.connections.insert(shared_from_this());
    state = State::Reading;
    shared.open.fetch_add(1);
    shared.metrics.connections(Protocol::Http).Increment();
    if (!makeRoomForOne()) {
      refuseAndEnd(503, fmt::format("{} connections are open, as many as may "
                                    "(--max-connections); connect later, or to "
                                    "another server",
                                    shared.options.maxConnections));
      return;
    }
    if (!base.grow(connectionBytes)) {
      refuseAndEnd(503, noBudget().sentence);
      return;
    }
    readHeader();
  });
}

/// Closes the connection that has been idle longest if there are more than may
/// be. Returns false if there is none.
bool HttpConnection::makeRoomForOne() {
  if (shared.open.load() <= shared.options.maxConnections)
    return true;
  HttpConnection *idlest = nullptr;
  for (const std::shared_ptr<HttpConnection> &other : owner.connections)
    if (other.get() != this && other->state == State::Reading &&
        !other->parser->got_some() && (!idlest || other->since < idlest->since))
      idlest = other.get();
  if (!idlest || idlest->hasMore())
    return false;
  idlest->end();
  return true;
}

void HttpConnection::end() noexcept {
  if (state == State::Ended)
    return;
  state = State::Ended;
  Error ignored;
  socket.close(ignored);
  const std::shared_ptr<HttpConnection> self = shared_from_this();
  owner.connections.erase(self);
  base.release();
  answerMemory.release();
  shared.metrics.connections(Protocol::Http).Decrement();
  shared.open.fetch_sub(1);
}

bool HttpConnection::isGone() const noexcept {
  // While a request is being answered nobody else reads from the socket, or
  // closes it.
  char next = 0;
  const ssize_t got = ::recv(const_cast<Socket &>(socket).native_handle(),
                             &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 ||
         (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void HttpConnection::checkTime(Clock::time_point now) noexcept {
  guard([&] {
    if (state == State::Busy) {
      if (isAbandoned)
        end();
      return;
    }
    if (state == State::Reading) {
      if (!begun && hasBegun())
        begun = now;
      // Whoever sends a large request slowly is not idle, but has to come to an
      // end.
      const size_t before = std::exchange(received, receivedNow());
      if (received != before)
        since = now;
      if (begun && now - *begun > shared.options.request) {
        refuseAndEnd(408, "the request took longer than it may "
                          "(--request-timeout)");
        return;
      }
    }
    if (now - since >
        (state == State::Draining ? drainTime : shared.options.idle))
      end();
  });
}

void HttpConnection::stopIfIdle() noexcept {
  guard([&] {
    if (isIdle())
      end();
  });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

void HttpConnection::readNext() {
  // The end may have been asked for while the answer was on its way.
  if (shared.isStopping && !hasMore())
    end();
  else
    readHeader();
}

void HttpConnection::readHeader() {
  parser.emplace();
  parser->header_limit(maxHeader);
  parser->body_limit(shared.options.maxBody);
  parser->get().body().memory = Reservation(shared.budget);
  enter(State::Reading);
  isReading = true;
  http::async_read_header(socket, buffer, *parser,
                          [self = shared_from_this()](Error error, size_t) {
                            self->isReading = false;
                            self->guard([&] { self->onHeader(error); });
                          });
}

void HttpConnection::onHeader(Error error) {
  if (state != State::Reading) {
    onRead(error);
    return;
  }
  if (error) {
    onRead(error);
    return;
  }
  if (const HeadFault fault = checkHead(parser->get()); fault.status) {
    refuseAndEnd(fault.status, fault.sentence);
    return;
  }
  // The parser reads the list of codings by itself.
  if (parser->chunked() !=
      (parser->get().count(http::field::transfer_encoding) > 0)) {
    refuseAndEnd(400, "the transfer codings cannot be read");
    return;
  }
  if (parser->is_done()) {
    onRead(error);
    return;
  }
  if (parser->get().version() < 11 ||
      parser->get()[http::field::expect].empty()) {
    readBody();
    return;
  }
  static constexpr std::string_view go = "HTTP/1.1 100 Continue\r\n\r\n";
  net::async_write(socket, net::buffer(go),
                   [self = shared_from_this()](Error error, size_t) {
                     self->guard([&] {
                       if (self->state != State::Reading)
                         return;
                       if (error)
                         self->end();
                       else
                         self->readBody();
                     });
                   });
}

void HttpConnection::readBody() {
  isReading = true;
  http::async_read(socket, buffer, *parser,
                   [self = shared_from_this()](Error error, size_t) {
                     self->isReading = false;
                     self->guard([&] { self->onRead(error); });
                   });
}

/// Whether bytes are no request; an end is none.
static bool isMalformed(const boost::system::error_code &error) {
  const boost::system::error_code end = http::error::end_of_stream;
  return error.category() == end.category() && error != end &&
         error != http::error::partial_message;
}

void HttpConnection::onRead(Error error) {
  // The request was refused meanwhile.
  if (state == State::Draining)
    drain();
  if (state != State::Reading)
    return;
  if (error == http::error::body_limit) {
    refuseAndEnd(413, fmt::format("the body has more than {} bytes; send "
                                  "smaller batches",
                                  shared.options.maxBody));
    return;
  }
  if (error == http::error::header_limit ||
      error == http::error::buffer_overflow) {
    refuseAndEnd(431, fmt::format("the header, a trailer or the extensions of "
                                  "a chunk have more than {} bytes",
                                  maxHeader));
    return;
  }
  if (error == boost::system::errc::not_enough_memory) {
    refuseAndEnd(503, noBudget().sentence);
    return;
  }
  if (isMalformed(error)) {
    refuseAndEnd(400, "this is no request of HTTP/1.1: " + error.message());
    return;
  }
  if (error) {
    end();
    return;
  }
  enter(State::Busy);
  keepAlive = parser->keep_alive();
  auto &message = parser->get();
  const auto view = [](beast::string_view text) {
    return std::string_view(text.data(), text.size());
  };
  HttpRequest request;
  isHead = message.method() == http::verb::head;
  request.method = isHead ? "GET" : view(message.method_string());
  request.target = view(message.target());
  request.jsonSize = view(message["Inference-Header-Content-Length"]);
  request.encoding = view(message[http::field::content_encoding]);
  request.body = std::move(message.body().text);
  request.memory = std::move(message.body().memory);
  shared.api.handle(std::move(request), shared_from_this());
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void HttpConnection::refuseAndEnd(unsigned status, std::string_view sentence) {
  keepAlive = false;
  hasRest = true;
  isHead = false;
  write(refusal(status, sentence));
}

void HttpConnection::answer(HttpAnswer answer) {
  net::dispatch(owner.context, [self = shared_from_this(),
                                answer = std::move(answer)]() mutable {
    self->guard([&] {
      if (self->state != State::Ended)
        self->write(std::move(answer));
    });
  });
}

/// Returns the time as HTTP writes it.
static const std::string &dateNow() {
  thread_local std::time_t last = -1;
  thread_local std::string text;
  if (const std::time_t now = std::time(nullptr); now != last) {
    static constexpr const char *days[] = {"Sun", "Mon", "Tue", "Wed",
                                           "Thu", "Fri", "Sat"};
    static constexpr const char *months[] = {"Jan", "Feb", "Mar", "Apr",
                                             "May", "Jun", "Jul", "Aug",
                                             "Sep", "Oct", "Nov", "Dec"};
    std::tm parts = {};
    ::gmtime_r(&now, &parts);
    text = fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                       days[parts.tm_wday], parts.tm_mday, months[parts.tm_mon],
                       1900 + parts.tm_year, parts.tm_hour, parts.tm_min,
                       parts.tm_sec);
    last = now;
  }
  return text;
}

void HttpConnection::write(HttpAnswer answer) {
  enter(State::Writing);
  keepAlive = keepAlive && !shared.isStopping;
  const beast::string_view reason =
      http::obsolete_reason(http::int_to_status(answer.status));
  body = std::move(answer.body);
  answerMemory = std::move(answer.memory);
  head.clear();
  const auto to = std::back_inserter(head);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\nDate: {}\r\nContent-Type: {}\r\n",
                 answer.status, std::string_view(reason.data(), reason.size()),
                 dateNow(), answer.contentType);
  fmt::format_to(to, "Content-Length: {}\r\n", body.size());
  if (answer.jsonSize)
    fmt::format_to(to, "Inference-Header-Content-Length: {}\r\n",
                   *answer.jsonSize);
  if (answer.allow)
    fmt::format_to(to, "Allow: {}\r\n", answer.allow);
  if (!keepAlive)
    head += "Connection: close\r\n";
  else if (parser->get().version() < 11)
    head += "Connection: keep-alive\r\n";
  head += "\r\n";
  const std::array<net::const_buffer, 2> buffers = {
      net::buffer(head), net::buffer(body.data(), isHead ? 0 : body.size())};
  net::async_write(socket, buffers,
                   [self = shared_from_this()](Error error, size_t) {
                     self->guard([&] {
                       if (self->state != State::Writing)
                         return;
                       if (self->body.capacity() > maxBuffer)
                         self->body = {};
                       self->answerMemory.release();
                       if (error)
                         self->end();
                       else if (self->keepAlive)
                         self->readNext();
                       else if (self->hasRest)
                         self->drain();
                       else
                         self->end();
                     });
                   });
}

/// Reads what a client that was refused still sends: closed at once, the
/// connection would be reset, and the client would not see why.
void HttpConnection::drain() {
  if (state != State::Draining) {
    enter(State::Draining);
    Error ignored;
    socket.shutdown(Socket::shutdown_send, ignored);
  }
  // A read that was under way when the request was refused goes on.
  if (isReading)
    return;
  buffer.clear();
  socket.async_read_some(buffer.prepare(maxHeader),
                         [self = shared_from_this()](Error error, size_t) {
                           self->guard([&] {
                             if (self->state != State::Draining)
                               return;
                             if (error)
                               self->end();
                             else
                               self->drain();
                           });
                         });
}
