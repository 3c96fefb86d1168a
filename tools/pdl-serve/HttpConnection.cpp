//===- HttpConnection.cpp - An HTTP connection ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpConnection.h"
#include "HttpHead.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <utility>

using namespace pdlserve;
namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

/// Time for which a rejected client may continue to send.
static constexpr auto drainTime = std::chrono::seconds(2);
/// If a client has closed its side of a connection and its response is pending
/// for this time, check whether the client is still there.
static constexpr auto probeAfter = std::chrono::seconds(1);
static constexpr std::string_view interim = "HTTP/1.1 100 Continue\r\n\r\n";
/// Number of bytes of memory that a connection needs in addition to the body of
/// a request and its response: unread bytes, and the parsed head.
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
  idleTime =
      next == State::Reading ? since.time_since_epoch().count() : notIdle;
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

void ConnectionList::add(HttpConnection &connection) {
  const pdlrt::MutexLock lock(mutex);
  all.insert(&connection);
}

void ConnectionList::remove(HttpConnection &connection) noexcept {
  const pdlrt::MutexLock lock(mutex);
  all.erase(&connection);
}

std::shared_ptr<HttpConnection> ConnectionList::findIdlest() const {
  const pdlrt::MutexLock lock(mutex);
  const auto idlest = std::ranges::min_element(
      all, {}, [](const auto &connection) { return connection->idleSince(); });
  return idlest != all.end() &&
                 (*idlest)->idleSince() != HttpConnection::notIdle
             ? (*idlest)->shared_from_this()
             : nullptr;
}

void HttpConnection::begin() noexcept {
  guard([&] {
    owner.connections.insert(shared_from_this());
    enter(State::Waiting);
    shared.open.fetch_add(1);
    shared.metrics.connections(Protocol::Http).add(1);
    shared.connections.add(*this);
    admitOrMakeRoom();
  });
}

void HttpConnection::admit() {
  if (base.grow(connectionBytes))
    readHeader();
  else
    refuseAndEnd(503, noBudget().message);
}

/// Serves a new connection. If there are too many connections, first closes the
/// one that has been idle longest, which may belong to another thread.
void HttpConnection::admitOrMakeRoom() {
  since = Clock::now();
  if (shared.open.load() <= shared.options.maxConnections) {
    admit();
    return;
  }
  const std::shared_ptr<HttpConnection> idlest =
      shared.connections.findIdlest();
  if (!idlest) {
    refuseAndEnd(503, fmt::format("{} connections are open, as many as may "
                                  "(--max-connections); connect later, or to "
                                  "another server",
                                  shared.options.maxConnections));
    return;
  }
  // A connection may be accessed only by its own thread.
  net::post(idlest->owner.context, [self = shared_from_this(), idlest] {
    const bool hasRoom = idlest->giveWay();
    net::post(self->owner.context, [self, hasRoom] {
      self->guard([&] {
        if (self->state != State::Waiting)
          return;
        if (hasRoom)
          self->admit();
        else
          self->admitOrMakeRoom();
      });
    });
  });
}

/// Closes the connection and returns true if it is idle. Otherwise returns
/// false. Then `idleSince` returns `notIdle` until the connection waits for its
/// next request, so that `findIdlest` does not choose it again.
bool HttpConnection::giveWay() {
  if (isIdle()) {
    end();
    return true;
  }
  idleTime = notIdle;
  return false;
}

void HttpConnection::end() noexcept {
  if (state == State::Ended)
    return;
  state = State::Ended;
  Error ignored;
  socket.close(ignored);
  const std::shared_ptr<HttpConnection> self = shared_from_this();
  owner.connections.erase(self);
  shared.connections.remove(*this);
  idleTime = notIdle;
  base.release();
  responseMemory.release();
  shared.metrics.connections(Protocol::Http).add(-1);
  shared.open.fetch_sub(1);
}

/// Returns which of `events` a socket has, and whether it has POLLERR or
/// POLLHUP.
static int pollNow(int descriptor, short events) noexcept {
  pollfd entry = {descriptor, events, 0};
  return ::poll(&entry, 1, 0) > 0 ? entry.revents : 0;
}

bool HttpConnection::isGone() const noexcept {
  // Between a request and its response, no other code closes the socket.
  return (pollNow(const_cast<Socket &>(socket).native_handle(), 0) &
          (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

/// Checks whether a client that has closed its side of the connection is still
/// there. With TCP, this shows only when data is sent to it. So an interim
/// response is sent, which every HTTP/1.1 client accepts (RFC 9110, 15.2).
void HttpConnection::probe(Clock::time_point now) {
  const int descriptor = socket.native_handle();
  int family = 0, unsent = 0;
  socklen_t size = sizeof(family);
  if (hasProbed || now - since < probeAfter || parser->get().version() < 11 ||
      !(pollNow(descriptor, POLLRDHUP) & POLLRDHUP) ||
      ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 ||
      family == AF_UNIX ||
      // An empty send buffer ensures that the whole response fits.
      ::ioctl(descriptor, SIOCOUTQ, &unsent) != 0 || unsent > 0)
    return;
  hasProbed = true;
  (void)::send(descriptor, interim.data(), interim.size(),
               MSG_DONTWAIT | MSG_NOSIGNAL);
}

void HttpConnection::checkTime(Clock::time_point now) noexcept {
  guard([&] {
    if (state == State::Busy) {
      if (isAbandoned)
        end();
      else
        probe(now);
      return;
    }
    if (state == State::Waiting) {
      // The first attempt may have failed because memory was exhausted, so it
      // is repeated.
      if (now - since > drainTime)
        admitOrMakeRoom();
      return;
    }
    if (state == State::Reading) {
      if (!begun && hasBegun())
        begun = now;
      // A connection on which bytes of a large request arrive slowly is not
      // idle. The total time of a request is limited separately.
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
  // If the server was stopped while the response was being sent, only reads
  // requests that have already arrived.
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
  skipEmptyLines();
}

/// Skips empty lines before the header (RFC 9112, 2.2), then reads the header.
void HttpConnection::skipEmptyLines() {
  const auto unread = [this] {
    const net::const_buffer bytes = buffer.data();
    return std::string_view(static_cast<const char *>(bytes.data()),
                            bytes.size());
  };
  while (unread().starts_with("\r\n"))
    buffer.consume(2);
  isReading = true;
  if (!unread().empty() && unread() != "\r") {
    http::async_read_header(socket, buffer, *parser,
                            [self = shared_from_this()](Error error, size_t) {
                              self->isReading = false;
                              self->guard([&] { self->onHeader(error); });
                            });
    return;
  }
  socket.async_read_some(
      buffer.prepare(maxHeader),
      [self = shared_from_this()](Error error, size_t count) {
        self->isReading = false;
        self->guard([&] {
          self->buffer.commit(count);
          if (error || self->state != State::Reading)
            self->onRead(error);
          else
            self->skipEmptyLines();
        });
      });
}

/// Copies the required parts of the header, before trailers are added to it.
void HttpConnection::takeHead() {
  const auto &message = parser->get();
  const auto view = [](beast::string_view text) {
    return std::string_view(text.data(), text.size());
  };
  keepAlive = parser->keep_alive();
  jsonSize = view(message["Inference-Header-Content-Length"]);
  encoding.clear();
  const auto lines = message.equal_range(http::field::content_encoding);
  for (auto line = lines.first; line != lines.second; ++line)
    (encoding += encoding.empty() ? "" : ", ") += view(line->value());
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
    refuseAndEnd(fault.status, fault.message);
    return;
  }
  // The parser interprets the list of codings in its own way.
  if (parser->chunked() !=
      (parser->get().count(http::field::transfer_encoding) > 0)) {
    refuseAndEnd(400, "the transfer codings cannot be read");
    return;
  }
  takeHead();
  if (parser->is_done()) {
    onRead(error);
    return;
  }
  if (parser->get().version() < 11 ||
      parser->get()[http::field::expect].empty()) {
    readBody();
    return;
  }
  net::async_write(socket, net::buffer(interim),
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

/// Returns true if the error means that the received bytes are malformed.
/// Returns false for the end of the stream.
static bool isMalformed(const boost::system::error_code &error) {
  const boost::system::error_code end = http::error::end_of_stream;
  return error.category() == end.category() && error != end &&
         error != http::error::partial_message;
}

void HttpConnection::onRead(Error error) {
  // The request has been rejected meanwhile.
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
    refuseAndEnd(503, noBudget().message);
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
  hasProbed = false;
  auto &message = parser->get();
  const auto view = [](beast::string_view text) {
    return std::string_view(text.data(), text.size());
  };
  HttpRequest request;
  isHead = message.method() == http::verb::head;
  request.method = isHead ? "GET" : view(message.method_string());
  request.target = view(message.target());
  request.jsonSize = jsonSize;
  request.encoding = encoding;
  request.body = std::move(message.body().text);
  request.memory = std::move(message.body().memory);
  shared.api.handle(std::move(request), shared_from_this());
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void HttpConnection::refuseAndEnd(unsigned status, std::string_view message) {
  keepAlive = false;
  hasRest = true;
  isHead = parser && parser->is_header_done() &&
           parser->get().method() == http::verb::head;
  write(refusal(status, message));
}

void HttpConnection::respond(HttpResponse response) {
  net::dispatch(owner.context, [self = shared_from_this(),
                                response = std::move(response)]() mutable {
    self->guard([&] {
      if (self->state != State::Ended)
        self->write(std::move(response));
    });
  });
}

/// Returns the current time in the format of HTTP.
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

void HttpConnection::write(HttpResponse response) {
  enter(State::Writing);
  keepAlive = keepAlive && !shared.isStopping;
  const beast::string_view reason =
      http::obsolete_reason(http::int_to_status(response.status));
  body = std::move(response.body);
  responseMemory = std::move(response.memory);
  head.clear();
  const auto to = std::back_inserter(head);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\nDate: {}\r\nContent-Type: {}\r\n",
                 response.status,
                 std::string_view(reason.data(), reason.size()), dateNow(),
                 response.contentType);
  fmt::format_to(to, "Content-Length: {}\r\n", body.size());
  if (response.jsonSize)
    fmt::format_to(to, "Inference-Header-Content-Length: {}\r\n",
                   *response.jsonSize);
  if (response.allow)
    fmt::format_to(to, "Allow: {}\r\n", response.allow);
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
                       self->responseMemory.release();
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

/// Reads and drops what a rejected client still sends. If the connection were
/// closed at once, it would be reset, and the client would not receive the
/// reason.
void HttpConnection::drain() {
  if (state != State::Draining) {
    enter(State::Draining);
    Error ignored;
    socket.shutdown(Socket::shutdown_send, ignored);
  }
  // A read that was pending when the request was rejected continues.
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
