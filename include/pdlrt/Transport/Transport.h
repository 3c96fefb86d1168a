//===- Transport.h - Requests and responses between processes ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the exchange of trainers and servers asks of a network. A transport
// promises little: a call ends once, by a response or by an error, and after an
// error nobody knows whether the request was handled. Exactly-once is the
// business of the layer above.
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

/// How a call ended.
enum class CallOutcome {
  /// There is a response.
  Answered,
  /// Nobody listens, the connection was lost, or the server let the request go
  /// without a response. The request may have been handled.
  Unavailable,
  /// The deadline passed first. The request may have been, or may yet be,
  /// handled.
  DeadlineExceeded,
};

/// Why a call is Unavailable, where the system says so.
enum class CallFault {
  Unknown,
  /// The address refuses connections: its host is there, and no process
  /// listens.
  Refused,
  /// This process may open no more files, which connections are.
  TooManyFiles,
};

/// The end of a call. `response` is empty unless answered.
struct CallResult {
  CallOutcome outcome = CallOutcome::Unavailable;
  Message response;
  CallFault fault = CallFault::Unknown;
};
using CallDone = std::function<void(CallResult)>;

/// A request's way back, given to the handler, which may answer later and from
/// any thread. Copies stand for the same request. When the last copy goes
/// without an answer, the call ends as Unavailable.
class Responder {
public:
  /// What a transport implements. `answer` is called at most once.
  class Sink {
  public:
    virtual ~Sink();
    virtual void answer(Message response) = 0;
  };

  Responder() = default;
  explicit Responder(std::shared_ptr<Sink> target) : sink(std::move(target)) {}
  /// Sends the response and lets this copy go; a responder answers once.
  void answer(Message response) {
    if (auto target = std::exchange(sink, nullptr))
      target->answer(std::move(response));
  }

private:
  std::shared_ptr<Sink> sink;
};

/// How much of a request a screen sees at least, where it has as much: the
/// bytes of a seal (SealedTransport.h) and of a message's head.
inline constexpr size_t leastFront = 80;

/// Handles requests. A transport with several threads calls it from several at
/// once. Requests of one connection may come in another order than they were
/// sent.
class RequestHandler {
public:
  using Handle = std::function<void(Message request, Responder)>;
  /// Looks at a request before its bytes are taken: at its first bytes, at
  /// least `leastFront` of them where it has as many, and at its size. Returns
  /// nothing to take it, else the response that is sent instead: then no more
  /// of it is read. What strangers send is held in no other way. Takes moments.
  using Screen = std::function<std::optional<Message>(const Message &front,
                                                      uint64_t size)>;

  RequestHandler() = default;
  /// Without a screen all requests are taken.
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

/// A server's end. Its destructor stops listening, ends open calls as
/// Unavailable, and returns when no handler runs any more; it must not be
/// called from within a handler.
class Listener {
public:
  virtual ~Listener();
  /// Where it is reached.
  virtual const std::string &address() const = 0;
};

/// A client's end. Thread-safe.
class Connection {
public:
  /// Ends open calls as Unavailable, before it returns.
  virtual ~Connection();
  /// Sends a request. `done` is called exactly once, by a thread or timer of
  /// the transport, never from within this call; `deadline` is a time of the
  /// transport's clock. A lost connection is made anew by later calls.
  virtual void call(Message request, ClockTime deadline, CallDone done) = 0;
};

/// A kind of network.
class Transport {
public:
  virtual ~Transport();
  virtual Clock &clock() = 0;
  /// Starts to listen; an error where the address is malformed or taken.
  virtual Expected<std::unique_ptr<Listener>>
  listen(const std::string &address, RequestHandler handler) = 0;
  /// A connection to an address, whether or not somebody listens there yet; an
  /// error where the address is malformed. It must not outlive the transport.
  virtual Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) = 0;
};

/// Ends within one process. Handlers and `done` run as actions of `clock`,
/// which outlives the transport: in one thread under a manual clock. Any text
/// but the empty one is an address. Requests and responses share their bytes
/// with the sender.
std::unique_ptr<Transport> createInProcessTransport(Clock &clock);

/// Between processes: over unix sockets by frames (LocalTransport.h), over TCP
/// by gRPC with its default options (GrpcTransport.h). An error in a program
/// that was linked without gRPC, and in a process that may open too few files.
/// `clock` outlives it.
Expected<std::unique_ptr<Transport>> createClusterTransport(RealClock &clock);
/// The same for a process that only says something to `peers` others: fewer
/// files are enough.
Expected<std::unique_ptr<Transport>> createBriefTransport(RealClock &clock,
                                                          size_t peers);
/// The same for a library, which leaves the limit of files of its process as it
/// is. Addresses that are no unix sockets are reached where libpdl-grpc.so.1
/// stands beside it.
Expected<std::unique_ptr<Transport>> createReaderTransport(RealClock &clock,
                                                           size_t peers);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_TRANSPORT_H
