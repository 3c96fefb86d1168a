//===- HttpServer.cpp - HTTP server ---------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpServer.h"
#include "HttpConnection.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Transport/ListeningSocket.h"

#include <boost/asio.hpp>
#include <latch>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <thread>
#include <utility>
#include <vector>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::ListeningSocket;
using pdlrt::Status;
namespace net = boost::asio;
using Acceptor =
    net::basic_socket_acceptor<net::generic::stream_protocol, Executor>;
using Error = boost::system::error_code;

namespace {
/// A listening address. Only for the first thread.
struct Listener {
  Listener(ListeningSocket from, IoThread &owner)
      : socket(std::move(from)), acceptor(owner.context) {
    acceptor.assign(net::generic::stream_protocol(socket.family(), 0),
                    socket.release());
  }

  ListeningSocket socket;
  Acceptor acceptor;
  /// True if an accept operation is pending.
  bool isAccepting = false;
};
} // namespace

class HttpServer::Threads {
public:
  Threads(HttpApi &api, MemoryBudget &budget, ServingMetrics &metrics,
          HttpOptions options)
      : shared{api, budget, metrics, options, {}} {
    for (unsigned i = 0; i < options.threads; ++i)
      all.push_back(std::make_unique<IoThread>());
  }

  Expected<std::string> listen(const std::string &address);
  void start();
  void stop();
  void join();

  HttpShared shared;

private:
  IoThread &nextThread() { return *all[next++ % all.size()]; }
  void accept(Listener &listener);
  void stopAccepting(Listener &listener) noexcept;
  void stopListening() noexcept;
  void begin(std::shared_ptr<HttpConnection> connection, IoThread &thread);
  void sweep(IoThread &thread);
  void prepare(IoThread &thread);
  void run(IoThread &thread);

  std::vector<std::unique_ptr<IoThread>> all;
  /// Only for the first thread.
  size_t next = 0;
  std::vector<std::unique_ptr<Listener>> listeners;
};

Expected<std::string> HttpServer::Threads::listen(const std::string &address) {
  Expected<std::vector<ListeningSocket>> sockets =
      ListeningSocket::open(address);
  if (!sockets)
    return std::move(sockets).status();
  const std::string place = sockets->front().place();
  for (ListeningSocket &socket : *sockets)
    listeners.push_back(
        std::make_unique<Listener>(std::move(socket), *all.front()));
  return place;
}

void HttpServer::Threads::begin(std::shared_ptr<HttpConnection> connection,
                                IoThread &thread) {
  // The option exists only for TCP; the error of other sockets is ignored.
  const int on = 1;
  (void)::setsockopt(connection->socket.native_handle(), IPPROTO_TCP,
                     TCP_NODELAY, &on, sizeof(on));
  net::dispatch(thread.context, [connection = std::move(connection)] {
    // An accepted connection is served even if the server is stopping.
    connection->begin();
  });
}

void HttpServer::Threads::accept(Listener &listener) {
  IoThread &thread = nextThread();
  auto connection = std::make_shared<HttpConnection>(shared, thread);
  Socket &socket = connection->socket;
  listener.acceptor.async_accept(
      socket, [this, &listener, &thread,
               connection = std::move(connection)](Error error) {
        listener.isAccepting = false;
        if (!listener.acceptor.is_open())
          return;
        if (!error) {
          begin(connection, thread);
        } else if (error != net::error::connection_aborted) {
          // Descriptors are exhausted; wait until some connections have ended.
          pdlrt::logWarningOnce("no connection can be taken for now: " +
                                error.message());
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        accept(listener);
      });
  listener.isAccepting = true;
}

/// Accepts the pending connections, then stops accepting.
void HttpServer::Threads::stopAccepting(Listener &listener) noexcept {
  Error error, ignored;
  try {
    // Connections that were established earlier are still served.
    listener.acceptor.non_blocking(true, error);
    while (!error) {
      IoThread &thread = nextThread();
      auto connection = std::make_shared<HttpConnection>(shared, thread);
      listener.acceptor.accept(connection->socket, error);
      if (!error)
        begin(std::move(connection), thread);
    }
  } catch (const std::exception &) {
    // If memory is exhausted, the pending connections are rejected.
  }
  listener.acceptor.close(ignored);
}

void HttpServer::Threads::stopListening() noexcept {
  for (const auto &listener : listeners) {
    // Before the sockets are closed: later, another process may own the path.
    listener->socket.removePath();
    if (listener->acceptor.is_open())
      stopAccepting(*listener);
  }
}

/// Calls `body` with each connection of a thread. `body` may close it.
template <typename Body>
static void forEachConnection(IoThread &thread, Body body) {
  // Advance before the call, because closing a connection removes it from the
  // set. No memory is allocated.
  auto next = thread.connections.begin();
  while (next != thread.connections.end()) {
    const std::shared_ptr<HttpConnection> connection = *next++;
    body(*connection);
  }
}

void HttpServer::Threads::sweep(IoThread &thread) {
  thread.timer.expires_after(std::chrono::seconds(1));
  thread.timer.async_wait([this, &thread](Error error) {
    thread.isTimed = false;
    if (error)
      return;
    // `stop` could not notify this thread if memory was exhausted. So it checks
    // this itself.
    if (shared.isStopping && &thread == all.front().get())
      stopListening();
    forEachConnection(thread, [this](HttpConnection &connection) {
      connection.checkTime(Clock::now());
      if (shared.isStopping)
        connection.stopIfIdle();
    });
    sweep(thread);
  });
  thread.isTimed = true;
}

/// Starts the timer and accept operations of a thread, if they are not running.
void HttpServer::Threads::prepare(IoThread &thread) {
  if (!thread.isTimed)
    sweep(thread);
  if (&thread != all.front().get() || shared.isStopping)
    return;
  for (const auto &listener : listeners)
    if (!listener->isAccepting)
      accept(*listener);
}

/// Runs the handlers of a thread. If a handler throws because memory is
/// exhausted, logs a warning and continues with the other handlers.
void HttpServer::Threads::run(IoThread &thread) {
  for (;;) {
    try {
      prepare(thread);
      thread.context.run();
      return;
    } catch (const std::exception &error) {
      try {
        pdlrt::logWarningOnce(std::string("a connection was lost: ") +
                              error.what());
      } catch (...) {
        // Memory does not suffice for the message either.
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void HttpServer::Threads::start() {
  for (const auto &thread : all)
    thread->thread = std::jthread([this, &thread = *thread] { run(thread); });
}

namespace {
/// Counts one of several tasks as done when it is destroyed, even if the task
/// has not run. Never throws.
class Part {
public:
  explicit Part(std::latch &all) : all(&all) {}
  Part(Part &&other) noexcept : all(std::exchange(other.all, nullptr)) {}
  Part &operator=(Part &&) = delete;
  ~Part() {
    if (all)
      all->count_down();
  }

private:
  std::latch *all;
};
} // namespace

/// Runs `body` on the thread of `thread`'s connections. If memory is exhausted,
/// does not run it; `sweep` does the same later.
template <typename Body>
static void tell(IoThread &thread, Part part, Body body) noexcept {
  try {
    net::post(thread.context,
              [part = std::move(part), body = std::move(body)] { body(); });
  } catch (const std::exception &) {
    // `part` has been destroyed and counts as done.
  }
}

void HttpServer::Threads::stop() {
  shared.isStopping = true;
  std::latch accepted(1), told(ptrdiff_t(all.size()));
  tell(*all.front(), Part(accepted), [this] { stopListening(); });
  accepted.wait();
  // Runs after the connections that were just accepted have been added.
  for (const auto &thread : all)
    tell(*thread, Part(told), [&thread = *thread] {
      forEachConnection(
          thread, [](HttpConnection &connection) { connection.stopIfIdle(); });
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

HttpServer::HttpServer(HttpApi &api, MemoryBudget &budget,
                       ServingMetrics &metrics, HttpOptions options)
    : threads(std::make_unique<Threads>(api, budget, metrics, options)) {}

HttpServer::~HttpServer() { join(); }

Expected<std::string> HttpServer::listen(const std::string &address) {
  return threads->listen(address);
}

void HttpServer::start() { threads->start(); }

void HttpServer::stop() { threads->stop(); }

bool HttpServer::waitUntilClosed(Clock::time_point until) {
  while (threads->shared.open.load() > 0 && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return threads->shared.open.load() == 0;
}

void HttpServer::join() { threads->join(); }
