//===- Transport.h - Requests and responses ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The network interface of trainers and servers. A transport gives few
// guarantees: a call ends exactly once, with a response or an error, and after
// an error it is unknown whether the request was handled. The layer above
// implements exactly-once semantics.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_TRANSPORT_H
#define PDLRT_TRANSPORT_TRANSPORT_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Message.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace pdlrt {

/// Result of a call.
enum class CallOutcome {
  /// The call has a response.
  Responded,
  /// No process listens, the connection was lost, or the server dropped the
  /// request without a response. The request may have been handled.
  Unavailable,
  /// The deadline passed first. The request may have been handled, or may still
  /// be.
  DeadlineExceeded,
};

/// Reason why a call is Unavailable, if the system reports one.
enum class CallFault {
  Unknown,
  /// The address refuses connections: the host is up, but no process listens.
  Refused,
  /// This process has reached its limit of open files, which includes
  /// connections.
  TooManyFiles,
};

/// The result of a call. `response` is empty unless answered.
struct CallResult {
  CallOutcome outcome = CallOutcome::Unavailable;
  Message response;
  CallFault fault = CallFault::Unknown;
};
using CallDone = std::function<void(CallResult)>;

/// Sends the response to a request. The handler may keep it and respond later,
/// from any thread. Copies refer to the same request. If the last copy is
/// destroyed without a response, the call ends as Unavailable.
class Responder {
public:
  /// Implemented by a transport. `answer` is called at most once.
  class Sink {
  public:
    virtual ~Sink();
    virtual void respond(Message response) = 0;
  };

  Responder() = default;
  explicit Responder(std::shared_ptr<Sink> target) : sink(std::move(target)) {}
  /// Sends the response and releases this copy; a responder responds once.
  void respond(Message response) {
    if (auto target = std::exchange(sink, nullptr))
      target->respond(std::move(response));
  }

private:
  std::shared_ptr<Sink> sink;
};

/// Minimum size of the front of a request that a screen gets, if the request
/// has as many bytes: those of a seal (SealedTransport.h) and of a message's
/// header.
inline constexpr size_t minFront = 80;

/// Handles requests. A transport with several threads calls it concurrently.
/// Requests of one connection may arrive in another order than they were sent.
class RequestHandler {
public:
  using Handle = std::function<void(Message request, Responder)>;
  /// Checks a request before its bytes are received, by its first bytes (at
  /// least `minFront`, if it has as many) and its size. Returns nothing to
  /// accept it. Otherwise returns the response to send; the rest of the request
  /// is then not read. This is the only limit on data from unauthenticated
  /// senders. Must return quickly.
  using Screen = std::function<std::optional<Message>(const Message &front,
                                                      uint64_t size)>;

  RequestHandler() = default;
  /// Without a screen, all requests are accepted.
  template <typename Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, RequestHandler> &&
             std::is_constructible_v<Handle, Function>)
  RequestHandler(Function onRequest) : handle(std::move(onRequest)) {}
  RequestHandler(Handle onRequest, Screen before)
      : handle(std::move(onRequest)), look(std::move(before)) {}

  void operator()(Message request, Responder responder) const {
    handle(std::move(request), std::move(responder));
  }
  std::optional<Message> screen(const Message &front, uint64_t size) const {
    return look ? look(front, size) : std::nullopt;
  }

private:
  Handle handle;
  Screen look;
};

/// The server side. The destructor stops listening, ends open calls as
/// Unavailable, and returns when no handler is running. It must not be called
/// from a handler.
class Listener {
public:
  virtual ~Listener();
  /// Returns the address where it can be reached.
  virtual const std::string &address() const = 0;
};

/// The client side. Thread-safe.
class Connection {
public:
  /// Ends open calls as Unavailable before it returns.
  virtual ~Connection();
  /// Sends a request. `done` is called exactly once, by a thread or timer of
  /// the transport, never from within this call. `deadline` is a time of the
  /// transport's clock. After a lost connection, later calls reconnect.
  virtual void call(Message request, ClockTime deadline, CallDone done) = 0;
};

/// Interface of all transports.
class Transport {
public:
  virtual ~Transport();
  virtual Clock &clock() = 0;
  /// Starts to listen. Returns an error if the address is malformed or in use.
  virtual Expected<std::unique_ptr<Listener>>
  listen(const std::string &address, RequestHandler handler) = 0;
  /// Returns a connection to an address, even if no process listens there yet.
  /// Returns an error if the address is malformed. The connection must not
  /// outlive the transport.
  virtual Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) = 0;
};

/// Creates a transport within one process. Handlers and `done` run as actions
/// of `clock`, which must outlive the transport; with a manual clock, they run
/// in one thread. Any nonempty text is an address. Requests and responses share
/// their bytes with the sender.
std::unique_ptr<Transport> createInProcessTransport(Clock &clock);

/// Creates the transport between processes: over unix sockets by frames
/// (LocalTransport.h), over TCP by gRPC with its default options
/// (GrpcTransport.h). Returns an error if the program was linked without gRPC,
/// or if the process may open too few files. `clock` must outlive it.
Expected<std::unique_ptr<Transport>> createClusterTransport(RealClock &clock);
/// Like `createClusterTransport`, but needs fewer open files. For a process
/// that sends only a few messages, to `peers` other processes.
Expected<std::unique_ptr<Transport>> createBriefTransport(RealClock &clock,
                                                          size_t peers);
/// Like `createBriefTransport`, for use in a library: does not change the
/// process's limit of open files. Addresses other than unix sockets require
/// libpdl-grpc.so.1 in the library's folder.
Expected<std::unique_ptr<Transport>> createReaderTransport(RealClock &clock,
                                                           size_t peers);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_TRANSPORT_H
