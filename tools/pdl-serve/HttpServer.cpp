//===- HttpServer.cpp - Connections of HTTP -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpServer.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/BindCheck.h"

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <latch>
#include <optional>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <unordered_set>
#include <utility>
#include <vector>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Status;
namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Executor = net::io_context::executor_type;
using Socket =
    net::basic_stream_socket<net::generic::stream_protocol, Executor>;
using TcpAcceptor = net::basic_socket_acceptor<net::ip::tcp, Executor>;
using UnixAcceptor =
    net::basic_socket_acceptor<net::local::stream_protocol, Executor>;
using Error = boost::system::error_code;

static constexpr size_t mostHeader = size_t(64) << 10;
/// How long a client that was refused may still send.
static constexpr auto drainTime = std::chrono::seconds(2);

//===----------------------------------------------------------------------===//
// A connection
//===----------------------------------------------------------------------===//

namespace {

class Connection;

/// A thread with the connections that it serves.
struct IoThread {
  net::io_context context{1};
  net::executor_work_guard<Executor> work{context.get_executor()};
  /// Of the thread itself.
  std::unordered_set<Connection *> connections;
  net::steady_timer timer{context};
  std::jthread thread;
};

/// What connections share.
struct Shared {
  HttpApi &api;
  Metrics &metrics;
  HttpOptions options;
  std::atomic<bool> isStopping{false};
  std::atomic<int64_t> open{0};
};

/// All is called by the thread of the connection but `answer`.
class Connection final : public HttpClient,
                         public std::enable_shared_from_this<Connection> {
public:
  Connection(Shared &shared, IoThread &owner)
      : socket(owner.context), shared(shared), owner(owner) {}

  void begin();
  void answer(HttpAnswer answer) override;
  /// Closes it where it has waited for too long.
  void checkTime(Clock::time_point now);
  /// Closes it where no request is on its way.
  void stopIfIdle();
  void end();

  Socket socket;

private:
  enum class State { Reading, Busy, Writing, Draining, Ended };

  void enter(State next) {
    state = next;
    since = Clock::now();
    received = 0;
  }
  /// Changes where more of the request came.
  size_t receivedNow() const {
    return buffer.size() + parser->get().body().size() + parser->got_some();
  }
  /// Bytes of a request are there.
  bool hasMore();
  void readNext();
  void readHeader();
  void onHeader(Error error);
  void readBody();
  void onRead(Error error);
  void refuseAndEnd(unsigned status, std::string_view sentence);
  void write(HttpAnswer answer);
  void drain();

  Shared &shared;
  IoThread &owner;
  State state = State::Reading;
  Clock::time_point since;
  /// That, when it was looked at last.
  size_t received = 0;
  beast::flat_buffer buffer;
  std::optional<http::request_parser<http::string_body>> parser;
  bool keepAlive = false, hasRest = false, isHead = false;
  std::string head, body;
};

} // namespace

void Connection::begin() {
  owner.connections.insert(this);
  shared.open.fetch_add(1);
  shared.metrics.connections(Protocol::Http).Increment();
  readHeader();
}

void Connection::end() {
  if (state == State::Ended)
    return;
  state = State::Ended;
  Error ignored;
  socket.close(ignored);
  owner.connections.erase(this);
  shared.metrics.connections(Protocol::Http).Decrement();
  shared.open.fetch_sub(1);
}

void Connection::checkTime(Clock::time_point now) {
  if (state == State::Busy)
    return;
  if (state == State::Reading) {
    // Who sends a large request slowly is not idle.
    const size_t before = std::exchange(received, receivedNow());
    if (received != before)
      since = now;
  }
  if (now - since >
      (state == State::Draining ? drainTime : shared.options.idle))
    end();
}

void Connection::stopIfIdle() {
  if (state == State::Reading && !parser->got_some() && !hasMore())
    end();
}

bool Connection::hasMore() {
  Error error;
  return buffer.size() > 0 || socket.available(error) > 0;
}

void Connection::readNext() {
  // The end may have been asked for while the answer was on its way.
  if (shared.isStopping && !hasMore())
    end();
  else
    readHeader();
}

void Connection::readHeader() {
  parser.emplace();
  parser->header_limit(mostHeader);
  parser->body_limit(shared.options.mostBody);
  enter(State::Reading);
  http::async_read_header(socket, buffer, *parser,
                          [self = shared_from_this()](Error error, size_t) {
                            self->onHeader(error);
                          });
}

void Connection::onHeader(Error error) {
  if (state == State::Ended)
    return;
  if (error || parser->is_done()) {
    onRead(error);
    return;
  }
  if (!beast::iequals(parser->get()[http::field::expect], "100-continue")) {
    readBody();
    return;
  }
  static constexpr std::string_view go = "HTTP/1.1 100 Continue\r\n\r\n";
  net::async_write(socket, net::buffer(go),
                   [self = shared_from_this()](Error error, size_t) {
                     if (error)
                       self->end();
                     else if (self->state != State::Ended)
                       self->readBody();
                   });
}

void Connection::readBody() {
  http::async_read(socket, buffer, *parser,
                   [self = shared_from_this()](Error error, size_t) {
                     self->onRead(error);
                   });
}

/// What the parser says of bytes that are no request; an end is none.
static bool isMalformed(const Error &error) {
  const Error end = http::error::end_of_stream;
  return error.category() == end.category() && error != end &&
         error != http::error::partial_message;
}

void Connection::onRead(Error error) {
  if (state == State::Ended)
    return;
  if (error == http::error::body_limit) {
    refuseAndEnd(413, fmt::format("the body has more than {} bytes; send "
                                  "smaller batches",
                                  shared.options.mostBody));
    return;
  }
  if (error == http::error::header_limit) {
    refuseAndEnd(431,
                 fmt::format("the header has more than {} bytes", mostHeader));
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
  request.body = std::move(message.body());
  shared.api.handle(std::move(request), shared_from_this());
}

void Connection::refuseAndEnd(unsigned status, std::string_view sentence) {
  keepAlive = false;
  hasRest = true;
  isHead = false;
  write(refusal(status, sentence));
}

void Connection::answer(HttpAnswer answer) {
  net::dispatch(owner.context, [self = shared_from_this(),
                                answer = std::move(answer)]() mutable {
    if (self->state != State::Ended)
      self->write(std::move(answer));
  });
}

void Connection::write(HttpAnswer answer) {
  enter(State::Writing);
  keepAlive = keepAlive && !shared.isStopping;
  const beast::string_view reason =
      http::obsolete_reason(http::int_to_status(answer.status));
  body = std::move(answer.body);
  head.clear();
  fmt::format_to(std::back_inserter(head),
                 "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
                 answer.status, std::string_view(reason.data(), reason.size()),
                 answer.contentType, body.size());
  if (answer.jsonSize)
    fmt::format_to(std::back_inserter(head),
                   "Inference-Header-Content-Length: {}\r\n", *answer.jsonSize);
  if (!keepAlive)
    head += "Connection: close\r\n";
  else if (parser->get().version() < 11)
    head += "Connection: keep-alive\r\n";
  head += "\r\n";
  const std::array<net::const_buffer, 2> buffers = {
      net::buffer(head), net::buffer(body.data(), isHead ? 0 : body.size())};
  net::async_write(socket, buffers,
                   [self = shared_from_this()](Error error, size_t) {
                     if (self->state == State::Ended)
                       return;
                     if (error)
                       self->end();
                     else if (self->keepAlive)
                       self->readNext();
                     else if (self->hasRest)
                       self->drain();
                     else
                       self->end();
                   });
}

/// Reads what a client that was refused still sends: closed at once, the
/// connection would be reset, and the client would not see why.
void Connection::drain() {
  if (state != State::Draining) {
    enter(State::Draining);
    Error ignored;
    socket.shutdown(Socket::shutdown_send, ignored);
  }
  buffer.clear();
  socket.async_read_some(buffer.prepare(mostHeader),
                         [self = shared_from_this()](Error error, size_t) {
                           if (self->state == State::Ended)
                             return;
                           if (error)
                             self->end();
                           else
                             self->drain();
                         });
}

//===----------------------------------------------------------------------===//
// Listening
//===----------------------------------------------------------------------===//

class HttpServer::Threads {
public:
  Threads(HttpApi &api, Metrics &metrics, HttpOptions options)
      : shared{api, metrics, options} {
    for (unsigned i = 0; i < options.threads; ++i)
      all.push_back(std::make_unique<IoThread>());
  }
  ~Threads() { removeSockets(); }

  Expected<std::string> listenTcp(const pdlrt::Address &address);
  Expected<std::string> listenUnix(const pdlrt::Address &address);
  void start();
  void stop();
  void join();

  Shared shared;

private:
  IoThread &nextThread() { return *all[next++ % all.size()]; }
  template <typename Acceptor> void accept(Acceptor &acceptor);
  template <typename Acceptor> void stopAccepting(Acceptor &acceptor);
  void removeSockets();
  void begin(std::shared_ptr<Connection> connection, IoThread &thread);
  void sweep(IoThread &thread);

  std::vector<std::unique_ptr<IoThread>> all;
  /// Of the first thread.
  size_t next = 0;
  std::vector<std::unique_ptr<TcpAcceptor>> tcpAcceptors;
  std::vector<std::unique_ptr<UnixAcceptor>> unixAcceptors;
  std::vector<std::string> socketPaths;
  std::vector<pdlrt::LockFile> claims;
};

static Status cannotListen(const std::string &place, const Error &error) {
  return Status::invalid(place + ": " + error.message() +
                         "; give another address");
}

Expected<std::string>
HttpServer::Threads::listenTcp(const pdlrt::Address &address) {
  Error error;
  net::ip::tcp::resolver resolver(all.front()->context);
  const auto places =
      resolver.resolve(address.host, std::to_string(address.port), error);
  if (error)
    return cannotListen(address.host, error);
  auto acceptor = std::make_unique<TcpAcceptor>(all.front()->context);
  const net::ip::tcp::endpoint place = places.begin()->endpoint();
  acceptor->open(place.protocol(), error);
  if (!error)
    acceptor->set_option(net::socket_base::reuse_address(true), error);
  if (!error)
    acceptor->bind(place, error);
  if (!error)
    acceptor->listen(net::socket_base::max_listen_connections, error);
  if (error)
    return cannotListen(address.toString(), error);
  pdlrt::Address taken = address;
  taken.port = acceptor->local_endpoint().port();
  tcpAcceptors.push_back(std::move(acceptor));
  return taken.toString();
}

Expected<std::string>
HttpServer::Threads::listenUnix(const pdlrt::Address &address) {
  const bool isFile = address.kind == pdlrt::Address::Kind::UnixPath;
  const std::string &path = address.path;
  Error error;
  const net::local::stream_protocol::endpoint place(
      isFile ? path : std::string(1, '\0') + path);
  if (isFile) {
    auto claim = pdlrt::claimPath(address);
    if (!claim)
      return std::move(claim).status();
    claims.push_back(std::move(*claim));
    // What a process that was killed left behind.
    ::unlink(path.c_str());
  }
  auto acceptor = std::make_unique<UnixAcceptor>(all.front()->context);
  acceptor->open(place.protocol(), error);
  if (!error)
    acceptor->bind(place, error);
  if (!error)
    acceptor->listen(net::socket_base::max_listen_connections, error);
  if (error)
    return cannotListen(address.toString(), error);
  unixAcceptors.push_back(std::move(acceptor));
  if (isFile)
    socketPaths.push_back(path);
  return address.toString();
}

void HttpServer::Threads::removeSockets() {
  for (const std::string &path : socketPaths)
    ::unlink(path.c_str());
  socketPaths.clear();
  claims.clear();
}

void HttpServer::Threads::begin(std::shared_ptr<Connection> connection,
                                IoThread &thread) {
  net::dispatch(thread.context, [connection = std::move(connection)] {
    // Whoever was accepted is answered, also while the server ends.
    connection->begin();
  });
}

template <typename Acceptor>
static void setOptions(Socket &socket, Acceptor &) {
  if constexpr (std::is_same_v<Acceptor, TcpAcceptor>) {
    Error ignored;
    socket.set_option(net::ip::tcp::no_delay(true), ignored);
  }
}

template <typename Acceptor>
void HttpServer::Threads::accept(Acceptor &acceptor) {
  IoThread &thread = nextThread();
  auto connection = std::make_shared<Connection>(shared, thread);
  Socket &socket = connection->socket;
  acceptor.async_accept(
      socket, [this, &acceptor, &thread,
               connection = std::move(connection)](Error error) {
        if (!acceptor.is_open())
          return;
        if (!error) {
          setOptions(connection->socket, acceptor);
          begin(connection, thread);
        } else if (error != net::error::connection_aborted) {
          // Of descriptors, until some connections have ended.
          pdlrt::logWarningOnce("no connection can be taken for now: " +
                                error.message());
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        accept(acceptor);
      });
}

template <typename Acceptor>
void HttpServer::Threads::stopAccepting(Acceptor &acceptor) {
  // Those that connected before are served.
  Error error;
  acceptor.non_blocking(true, error);
  while (!error) {
    IoThread &thread = nextThread();
    auto connection = std::make_shared<Connection>(shared, thread);
    acceptor.accept(connection->socket, error);
    if (!error)
      begin(std::move(connection), thread);
  }
  acceptor.close(error);
}

void HttpServer::Threads::sweep(IoThread &thread) {
  thread.timer.expires_after(std::chrono::seconds(1));
  thread.timer.async_wait([this, &thread](Error error) {
    if (error)
      return;
    // Ending takes it out of the set.
    const std::vector<Connection *> now(thread.connections.begin(),
                                        thread.connections.end());
    for (Connection *connection : now)
      connection->checkTime(Clock::now());
    sweep(thread);
  });
}

void HttpServer::Threads::start() {
  for (const auto &acceptor : tcpAcceptors)
    accept(*acceptor);
  for (const auto &acceptor : unixAcceptors)
    accept(*acceptor);
  for (const auto &thread : all) {
    sweep(*thread);
    thread->thread =
        std::jthread([&context = thread->context] { context.run(); });
  }
}

void HttpServer::Threads::stop() {
  shared.isStopping = true;
  std::latch told(ptrdiff_t(all.size()));
  net::post(all.front()->context, [this, &told] {
    // While they are ours: another process may take their places then.
    removeSockets();
    for (const auto &acceptor : tcpAcceptors)
      stopAccepting(*acceptor);
    for (const auto &acceptor : unixAcceptors)
      stopAccepting(*acceptor);
    // Behind those that were just taken.
    for (const auto &thread : all)
      net::post(thread->context, [&thread = *thread, &told] {
        const std::vector<Connection *> now(thread.connections.begin(),
                                            thread.connections.end());
        for (Connection *connection : now)
          connection->stopIfIdle();
        told.count_down();
      });
  });
  told.wait();
}

void HttpServer::Threads::join() {
  for (const auto &thread : all) {
    thread->context.stop();
    if (thread->thread.joinable())
      thread->thread.join();
  }
}

HttpServer::HttpServer(HttpApi &api, Metrics &metrics, HttpOptions options)
    : threads(std::make_unique<Threads>(api, metrics, options)) {}

HttpServer::~HttpServer() { join(); }

Expected<std::string> HttpServer::listen(const std::string &text) {
  auto address = pdlrt::parseAddress(text);
  if (!address)
    return std::move(address).status();
  return address->kind == pdlrt::Address::Kind::Tcp
             ? threads->listenTcp(*address)
             : threads->listenUnix(*address);
}

void HttpServer::start() { threads->start(); }

void HttpServer::stop() { threads->stop(); }

bool HttpServer::waitUntilClosed(Clock::time_point until) {
  while (threads->shared.open.load() > 0 && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return threads->shared.open.load() == 0;
}

void HttpServer::join() { threads->join(); }
