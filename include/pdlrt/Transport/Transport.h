//===- Transport.h - Requests and responses ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The network interface of trainers and servers. A transport guarantees only
// that a call ends exactly once, with a response or an error. After an error it
// is unknown whether the request was handled. ServerSession and ServerCore
// implement exactly-once semantics above it.
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
  /// The deadline has passed. The request may have been handled, or may be
  /// handled later.
  DeadlineExceeded,
};

/// Reason why a call is Unavailable, if the system reports one.
enum class CallFault {
  Unknown,
  /// The address refuses connections: the host is up, but no process listens.
  Refused,
  /// This process has reached its limit of open files. Connections count as
  /// open files.
  TooManyFiles,
};

/// The result of a call. `response` is empty unless `outcome` is Responded.
struct CallResult {
  CallOutcome outcome = CallOutcome::Unavailable;
  Message response;
  CallFault fault = CallFault::Unknown;
};
using CallDone = std::function<void(CallResult)>;

/// Sends the response to one request. A handler may store the Responder and
/// respond later, on any thread. Copies refer to the same request. If the last
/// copy is destroyed without a response, the call ends as Unavailable.
class Responder {
public:
  /// Interface that a transport implements. `respond` is called at most once.
  class Sink {
  public:
    virtual ~Sink();
    virtual void respond(Message response) = 0;
  };

  Responder() = default;
  explicit Responder(std::shared_ptr<Sink> target) : sink(std::move(target)) {}
  /// Sends the response, and releases this copy. Only one copy may respond.
  void respond(Message response) {
    if (auto target = std::exchange(sink, nullptr))
      target->respond(std::move(response));
  }

private:
  std::shared_ptr<Sink> sink;
};

/// Minimum number of first bytes of a request that a Screen gets, if the
/// request has as many: a seal (SealedTransport.h) and the header of a message.
inline constexpr size_t minFront = 80;

/// Handles the requests that a listener receives. A transport with several
/// threads calls it concurrently. Requests of one connection may arrive in
/// another order than they were sent.
class RequestHandler {
public:
  using Handle = std::function<void(Message request, Responder)>;
  /// Function that checks a request before all its bytes are received. `front`
  /// has its first bytes, at least `minFront` if it has as many; `size` is its
  /// whole size. Returns nullopt to accept the request. Otherwise returns the
  /// response to send, and the rest of the request is not read. Nothing else
  /// limits the data that unauthenticated senders can send. Must return
  /// quickly.
  using Screen = std::function<std::optional<Message>(const Message &front,
                                                      uint64_t size)>;

  RequestHandler() = default;
  /// Creates a handler without a Screen: requests of any size are received.
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

/// The server's side of a transport. The destructor stops listening, ends open
/// calls as Unavailable, and returns when no handler is running. Do not destroy
/// a listener in a handler.
class Listener {
public:
  virtual ~Listener();
  /// Returns the address at which this listener can be reached.
  virtual const std::string &address() const = 0;
};

/// The client's side of a transport. Thread-safe.
class Connection {
public:
  /// Ends open calls as Unavailable before it returns.
  virtual ~Connection();
  /// Sends a request. `done` is called exactly once, on a thread or by a timer
  /// of the transport, never within this call. `deadline` is a time of the
  /// transport's clock. If the connection is lost, later calls connect again.
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

/// Creates a transport within one process, for tests. Handlers and `done` run
/// as actions of `clock`, which must outlive the transport; with a manual
/// clock, they run in one thread. Any nonempty text is a valid address.
/// Requests and responses are not copied.
std::unique_ptr<Transport> createInProcessTransport(Clock &clock);

/// Creates the transport between processes. Uses LocalTransport.h for addresses
/// of unix sockets, and GrpcTransport.h with default options for TCP. Returns
/// an error if the program was linked without gRPC, or if the limit of open
/// files is too low. `clock` must outlive the transport.
Expected<std::unique_ptr<Transport>> createClusterTransport(RealClock &clock);
/// Like `createClusterTransport`, for a process that sends only a few messages,
/// to `peers` other processes. Needs fewer open files.
Expected<std::unique_ptr<Transport>> createBriefTransport(RealClock &clock,
                                                          size_t peers);
/// Like `createBriefTransport`, for use in a library. Does not change the limit
/// of open files of the process. For TCP addresses, libpdl-grpc.so.1 must be in
/// the library's folder.
Expected<std::unique_ptr<Transport>> createReaderTransport(RealClock &clock,
                                                           size_t peers);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_TRANSPORT_H
