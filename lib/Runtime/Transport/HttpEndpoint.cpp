//===- HttpEndpoint.cpp - Pages over HTTP ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/HttpEndpoint.h"

#include "Transport/StartThread.h"
#include "pdlrt/Transport/ListeningSocket.h"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <exception>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace pdlrt;
namespace net = boost::asio;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;
using Executor = net::io_context::executor_type;
using StreamSocket =
    net::basic_stream_socket<net::generic::stream_protocol, Executor>;
using Acceptor =
    net::basic_socket_acceptor<net::generic::stream_protocol, Executor>;

/// Maximum number of open connections. Further ones are closed at once.
static constexpr int maxConnections = 16;
/// Maximum size of a request's head.
static constexpr size_t maxHeadBytes = 8192;
/// Maximum time from the start of a connection to its end.
static constexpr std::chrono::seconds maxConnectionTime(10);

HttpEndpoint::~HttpEndpoint() = default;

namespace {

/// A connection with one request. Its pending operations own it.
class PageConnection : public std::enable_shared_from_this<PageConnection> {
public:
  PageConnection(StreamSocket from, const HttpEndpoint::Handler &handler,
                 int &open)
      : socket(std::move(from)), timer(socket.get_executor()), handler(handler),
        open(open) {
    ++open;
    parser.header_limit(maxHeadBytes);
  }
  ~PageConnection() { --open; }
  PageConnection(const PageConnection &) = delete;
  PageConnection &operator=(const PageConnection &) = delete;

  void begin() {
    timer.expires_after(maxConnectionTime);
    timer.async_wait([self = shared_from_this()](ErrorCode error) {
      if (!error)
        self->close();
    });
    http::async_read_header(
        socket, buffer, parser,
        [self = shared_from_this()](ErrorCode error, size_t) {
          if (!error)
            self->respond();
          else if (error == net::error::operation_aborted ||
                   error == http::error::end_of_stream)
            self->close();
          else
            self->write({400, "the request is not valid HTTP\n"});
        });
  }

private:
  void respond() {
    const auto &request = parser.get();
    const http::verb method = request.method();
    isHead = method == http::verb::head;
    if (method != http::verb::get && !isHead)
      return write({405, "this address answers GET and HEAD only\n"});
    if (parser.chunked() || parser.content_length_remaining().value_or(0) > 0)
      return write({413, "a request has no body here\n"});
    const auto target = request.target();
    const std::string_view path(target.data(), target.size());
    write(handler(path.substr(0, path.find('?'))));
  }

  void write(HttpPage page) {
    response.result(page.status);
    response.version(11);
    response.keep_alive(false);
    response.set(http::field::content_type, page.contentType);
    response.set(http::field::cache_control, "no-store");
    if (page.status == 405)
      response.set(http::field::allow, "GET, HEAD");
    response.content_length(page.body.size());
    if (!isHead)
      response.body() = std::move(page.body);
    http::async_write(
        socket, response,
        [self = shared_from_this()](ErrorCode, size_t) { self->close(); });
  }

  void close() {
    ErrorCode ignored;
    timer.cancel();
    socket.shutdown(StreamSocket::shutdown_both, ignored);
    socket.close(ignored);
  }

  StreamSocket socket;
  net::basic_waitable_timer<std::chrono::steady_clock,
                            net::wait_traits<std::chrono::steady_clock>,
                            Executor>
      timer;
  const HttpEndpoint::Handler &handler;
  int &open;
  boost::beast::flat_buffer buffer{maxHeadBytes};
  http::request_parser<http::empty_body> parser;
  http::response<http::string_body> response;
  bool isHead = false;
};

class AsioEndpoint : public HttpEndpoint {
public:
  explicit AsioEndpoint(Handler handler) : handler(std::move(handler)) {}
  ~AsioEndpoint() override {
    context.stop();
    if (thread.joinable())
      thread.join();
  }

  Status start(const std::string &at) {
    auto opened = ListeningSocket::open(at);
    if (!opened)
      return std::move(opened).status();
    place = opened->front().place();
    for (ListeningSocket &socket : *opened) {
      const net::generic::stream_protocol protocol(socket.family(), 0);
      listeners.push_back({std::move(socket), Acceptor(context)});
      Listener &added = listeners.back();
      const int number = added.socket.release();
      ErrorCode error;
      added.acceptor.assign(protocol, number, error);
      if (error) {
        ::close(number);
        return Status::ofErrno(error.value(),
                               at + ": cannot be watched: " + error.message());
      }
    }
    return startThread(thread, "http endpoint", [this] { run(); });
  }

  const std::string &address() const override { return place; }

private:
  struct Listener {
    ListeningSocket socket;
    Acceptor acceptor;
    /// True if an accept operation is pending.
    bool isAccepting = false;
  };

  void accept(Listener &listener) {
    listener.acceptor.async_accept(
        [this, &listener](ErrorCode error, StreamSocket socket) {
          listener.isAccepting = false;
          if (error)
            // Usually because file descriptors are exhausted.
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
          else if (openConnections < maxConnections)
            std::make_shared<PageConnection>(std::move(socket), handler,
                                             openConnections)
                ->begin();
          accept(listener);
        });
    listener.isAccepting = true;
  }

  /// Runs the operations. If one throws because memory is exhausted, its
  /// connection ends by its timer, and the others continue.
  void run() noexcept {
    for (;;) {
      try {
        for (Listener &listener : listeners)
          if (!listener.isAccepting)
            accept(listener);
        context.run();
        return;
      } catch (const std::exception &) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }

  const Handler handler;
  /// Only for the thread. Outlives the connections, which `context` destroys.
  int openConnections = 0;
  net::io_context context{1};
  std::vector<Listener> listeners;
  std::string place;
  std::thread thread;
};

} // namespace

Expected<std::unique_ptr<HttpEndpoint>>
HttpEndpoint::start(const std::string &address, Handler handler) try {
  auto endpoint = std::make_unique<AsioEndpoint>(std::move(handler));
  PDLRT_RETURN_IF_ERROR(endpoint->start(address));
  return std::unique_ptr<HttpEndpoint>(std::move(endpoint));
} catch (const boost::system::system_error &error) {
  // The system has no more descriptors for the context.
  return Status::ofErrno(error.code().value(),
                         address + ": cannot be watched: " + error.what());
}
