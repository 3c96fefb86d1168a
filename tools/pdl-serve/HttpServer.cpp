//===- HttpServer.cpp - Connections of HTTP -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpServer.h"
#include "HttpConnection.h"
#include "ListeningSocket.h"
#include "pdlrt/Core/Log.h"

#include <boost/asio.hpp>
#include <latch>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <thread>
#include <utility>
#include <vector>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Status;
namespace net = boost::asio;
using Acceptor =
    net::basic_socket_acceptor<net::generic::stream_protocol, Executor>;
using Error = boost::system::error_code;

namespace {
/// A place where connections are taken, of the first thread.
struct Listener {
  Listener(ListeningSocket from, IoThread &owner)
      : socket(std::move(from)), acceptor(owner.context) {
    acceptor.assign(net::generic::stream_protocol(socket.family(), 0),
                    socket.release());
  }

  ListeningSocket socket;
  Acceptor acceptor;
  /// Whether a connection is waited for.
  bool isAccepting = false;
};
} // namespace

class HttpServer::Threads {
public:
  Threads(HttpApi &api, MemoryBudget &budget, Metrics &metrics,
          HttpOptions options)
      : shared{api, budget, metrics, options} {
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
  void stopAccepting(Listener &listener);
  void begin(std::shared_ptr<HttpConnection> connection, IoThread &thread);
  void sweep(IoThread &thread);
  void prepare(IoThread &thread);
  void run(IoThread &thread);

  std::vector<std::unique_ptr<IoThread>> all;
  /// Of the first thread.
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
  // The option is of TCP alone; other sockets refuse it.
  const int on = 1;
  (void)::setsockopt(connection->socket.native_handle(), IPPROTO_TCP,
                     TCP_NODELAY, &on, sizeof(on));
  net::dispatch(thread.context, [connection = std::move(connection)] {
    // Whoever was accepted is answered, also while the server ends.
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
          // Of descriptors, until some connections have ended.
          pdlrt::logWarningOnce("no connection can be taken for now: " +
                                error.message());
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        accept(listener);
      });
  listener.isAccepting = true;
}

void HttpServer::Threads::stopAccepting(Listener &listener) {
  // Those that connected before are served.
  Error error;
  listener.acceptor.non_blocking(true, error);
  while (!error) {
    IoThread &thread = nextThread();
    auto connection = std::make_shared<HttpConnection>(shared, thread);
    listener.acceptor.accept(connection->socket, error);
    if (!error)
      begin(std::move(connection), thread);
  }
  listener.acceptor.close(error);
}

void HttpServer::Threads::sweep(IoThread &thread) {
  thread.timer.expires_after(std::chrono::seconds(1));
  thread.timer.async_wait([this, &thread](Error error) {
    thread.isTimed = false;
    if (error)
      return;
    // Ending takes it out of the set.
    const std::vector<std::shared_ptr<HttpConnection>> now(
        thread.connections.begin(), thread.connections.end());
    for (const auto &connection : now)
      connection->checkTime(Clock::now());
    sweep(thread);
  });
  thread.isTimed = true;
}

/// Starts what a thread always waits for, unless it does.
void HttpServer::Threads::prepare(IoThread &thread) {
  if (!thread.isTimed)
    sweep(thread);
  if (&thread != all.front().get() || shared.isStopping)
    return;
  for (const auto &listener : listeners)
    if (!listener->isAccepting)
      accept(*listener);
}

/// Runs the handlers of a thread. One that throws, because memory runs out, is
/// over, and the others go on.
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
        // There is no memory for the message either.
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void HttpServer::Threads::start() {
  for (const auto &thread : all)
    thread->thread = std::jthread([this, &thread = *thread] { run(thread); });
}

void HttpServer::Threads::stop() {
  shared.isStopping = true;
  std::latch told(ptrdiff_t(all.size()));
  net::post(all.front()->context, [this, &told] {
    for (const auto &listener : listeners) {
      // While it is ours: another process may take its place then.
      listener->socket.removePath();
      stopAccepting(*listener);
    }
    // Behind those that were just taken.
    for (const auto &thread : all)
      net::post(thread->context, [&thread = *thread, &told] {
        const std::vector<std::shared_ptr<HttpConnection>> now(
            thread.connections.begin(), thread.connections.end());
        for (const auto &connection : now)
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

HttpServer::HttpServer(HttpApi &api, MemoryBudget &budget, Metrics &metrics,
                       HttpOptions options)
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
