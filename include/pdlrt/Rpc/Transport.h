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

#ifndef PDLRT_RPC_TRANSPORT_H
#define PDLRT_RPC_TRANSPORT_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Rpc/Message.h"

#include <functional>
#include <memory>
#include <string>

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

/// The end of a call. `response` is empty unless answered.
struct CallResult {
  CallOutcome outcome = CallOutcome::Unavailable;
  Message response;
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

/// Handles one request. A transport with several threads calls it from several
/// at once. Requests of one connection may come in another order than they
/// were sent.
using RequestHandler = std::function<void(Message request, Responder)>;

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

/// Between processes, over gRPC with its default options (GrpcTransport.h); an
/// error in a program that was linked without it. `clock` outlives it.
Expected<std::unique_ptr<Transport>> createClusterTransport(RealClock &clock);

} // namespace pdlrt

#endif // PDLRT_RPC_TRANSPORT_H
