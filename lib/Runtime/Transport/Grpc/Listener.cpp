//===- Listener.cpp - Server side of gRPC ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Grpc/Listener.h"

#include "Transport/Grpc/Arguments.h"
#include "Transport/Grpc/Chunks.h"
#include "Transport/Grpc/Poller.h"
#include "Transport/Grpc/TcpDoor.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Transport/BindCheck.h"

#include <atomic>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <map>
#include <new>
#include <string_view>

using namespace pdlrt;
using namespace pdlrt::grpcimpl;

/// Time for responses to be sent when a listener stops.
static constexpr std::chrono::seconds stopGrace(1);

/// Maximum number of open calls of one connection. A client of PDL has one
/// request, some heartbeats, and attempts that timed out.
static constexpr int maxCalls = 256;

namespace {

class ServerCall;

/// The calls of a listener that have no response yet. Responders share this
/// object, because they may outlive the listener.
class Unanswered {
public:
  using Calls = std::map<const void *, std::shared_ptr<ServerCall>>;
  /// Returns false if the listener is stopping.
  bool add(const void *responder, std::shared_ptr<ServerCall> call) {
    const MutexLock lock(mutex);
    return !stopped && calls.emplace(responder, std::move(call)).second;
  }
  /// Removes a call and returns it; null if it was taken before or the listener
  /// has stopped.
  std::shared_ptr<ServerCall> take(const void *responder) {
    const MutexLock lock(mutex);
    auto node = calls.extract(responder);
    return node ? std::move(node.mapped()) : nullptr;
  }
  /// Removes all calls and returns them. Later calls are rejected.
  Calls stop() {
    const MutexLock lock(mutex);
    stopped = true;
    return std::exchange(calls, {});
  }

private:
  Mutex mutex;
  bool stopped PDLRT_GUARDED_BY(mutex) = false;
  Calls calls PDLRT_GUARDED_BY(mutex);
};

/// Shared by all calls of a listener.
struct ServerSide {
  uint64_t largestMessage = 0;
  RequestHandler handler;
  grpc::AsyncGenericService service;
  /// Number of calls that gRPC must still be requested to accept.
  std::atomic<int> due{0};
  std::unique_ptr<grpc::ServerCompletionQueue> queue;
  LiveCount live;
  std::shared_ptr<Unanswered> unanswered = std::make_shared<Unanswered>();
  std::unique_ptr<Poller> poller;
};

/// A call on a server. The object is created before the call arrives: when gRPC
/// is requested to accept one. It lives until gRPC has finished the call, or
/// until the listener stops without a call. Its functions run one after the
/// other.
class ServerCall final : public std::enable_shared_from_this<ServerCall> {
public:
  explicit ServerCall(ServerSide &ofSide)
      : alive(ofSide.live), side(ofSide), incoming(ofSide.largestMessage) {}

  /// Requests one more call from gRPC.
  static void accept(ServerSide &side) {
    ++side.due;
    acceptPending(side);
  }
  /// Tells gRPC to accept as many further calls as are due (`ServerSide::due`).
  /// If memory is exhausted, the rest is tried again when a call has arrived or
  /// ended.
  static void acceptPending(ServerSide &side);
  void respond(Message response) {
    refusingWithoutMemory([&] {
      outgoing = ChunkWriter::ofResponse(std::move(response));
      write();
      return true;
    });
  }
  void refuse(grpc::StatusCode code, std::string_view why) {
    // Free the received part of the request now; gRPC may take long to finish.
    incoming = ChunkReader(0);
    chunk.Clear();
    grpc::Status status(code, "");
    try {
      status = grpc::Status(code, std::string(why));
    } catch (const std::bad_alloc &) {
      // Sends the code without a text.
    }
    stream.Finish(status, finishTag.arm(shared_from_this()));
  }

private:
  void accepted(bool ok);
  bool takeFront();
  bool takeChunk();
  bool readOn();
  void read(bool ok);
  void take();
  void write();
  void wrote(bool ok) {
    if (!ok)
      return refuse(grpc::StatusCode::CANCELLED, "the client is gone");
    refusingWithoutMemory([this] {
      write();
      return true;
    });
  }
  void finished(bool) { acceptPending(side); }
  void refuseBytes() {
    refuse(grpc::StatusCode::INVALID_ARGUMENT,
           "the request is no message, or larger than the server's limit of " +
               std::to_string(side.largestMessage) + " bytes");
  }
  /// Returns the result of `step`. If memory is exhausted, rejects the call and
  /// returns false: the client repeats the call, and the server continues. No
  /// other code may finish the call during `step`.
  template <typename Step> bool refusingWithoutMemory(Step step) {
    try {
      return step();
    } catch (const std::bad_alloc &) {
      refuse(grpc::StatusCode::RESOURCE_EXHAUSTED,
             "the server is out of memory for a request; use more servers, or "
             "machines with more memory");
      return false;
    }
  }

  const LiveCount::Guard alive;
  ServerSide &side;
  ChunkReader incoming;
  ChunkWriter outgoing;
  grpc::ByteBuffer chunk;
  grpc::GenericServerContext context;
  grpc::GenericServerAsyncReaderWriter stream{&context};
  MemberTag<ServerCall> acceptTag{&ServerCall::accepted};
  MemberTag<ServerCall> readTag{&ServerCall::read};
  MemberTag<ServerCall> writeTag{&ServerCall::wrote};
  MemberTag<ServerCall> finishTag{&ServerCall::finished};
};

/// Sends the response to one request.
class GrpcSink final : public Responder::Sink {
public:
  explicit GrpcSink(std::shared_ptr<Unanswered> in)
      : unanswered(std::move(in)) {}
  ~GrpcSink() override {
    if (const auto call = unanswered->take(this))
      call->refuse(grpc::StatusCode::UNAVAILABLE, "the request was let go");
  }
  void respond(Message response) override {
    if (const auto call = unanswered->take(this))
      call->respond(std::move(response));
  }

private:
  std::shared_ptr<Unanswered> unanswered;
};

} // namespace

void ServerCall::acceptPending(ServerSide &side) {
  int count = side.due;
  while (count > 0) {
    if (!side.due.compare_exchange_weak(count, count - 1))
      continue;
    std::shared_ptr<ServerCall> call;
    try {
      call = std::make_shared<ServerCall>(side);
      side.service.RequestCall(&call->context, &call->stream, side.queue.get(),
                               side.queue.get(), call->acceptTag.arm(call));
    } catch (const std::bad_alloc &) {
      if (call)
        call->acceptTag.disarm();
      ++side.due;
      return;
    }
    count = side.due;
  }
}

void ServerCall::accepted(bool ok) {
  // If `ok` is false, the listener is stopping.
  if (!ok)
    return;
  accept(side);
  if (refusingWithoutMemory([this] { return takeFront(); }))
    take();
}

/// Checks the front of the request before its chunks are read. Returns true if
/// the front is the whole request. Returns false if more chunks follow, or if
/// the call was rejected.
bool ServerCall::takeFront() {
  if (context.method() != methodName) {
    refuse(grpc::StatusCode::UNIMPLEMENTED, "a PDL server has no such method");
    return false;
  }
  const auto &metadata = context.client_metadata();
  const auto front = metadata.find(frontKey);
  if (front == metadata.end() ||
      !incoming.begin({front->second.data(), front->second.size()})) {
    refuseBytes();
    return false;
  }
  if (auto response =
          side.handler.screen(incoming.soFar(), incoming.wholeSize())) {
    incoming = ChunkReader(0);
    respond(*std::move(response));
    return false;
  }
  return readOn();
}

/// Returns true if the request is complete; otherwise reads the next chunk.
bool ServerCall::readOn() {
  if (incoming.complete())
    return true;
  stream.Read(&chunk, readTag.arm(shared_from_this()));
  return false;
}

bool ServerCall::takeChunk() {
  if (incoming.add(chunk))
    return readOn();
  refuseBytes();
  return false;
}

void ServerCall::read(bool ok) {
  if (!ok)
    return refuse(grpc::StatusCode::CANCELLED, "the request has no end");
  if (refusingWithoutMemory([this] { return takeChunk(); }))
    take();
}

/// Passes the complete request to the handler.
void ServerCall::take() {
  std::shared_ptr<GrpcSink> sink;
  Message request;
  // Once the call is registered, a stopping listener may reject it.
  const bool isHandedOn = refusingWithoutMemory([&] {
    sink = std::make_shared<GrpcSink>(side.unanswered);
    request = incoming.take();
    if (side.unanswered->add(sink.get(), shared_from_this()))
      return true;
    refuse(grpc::StatusCode::UNAVAILABLE, "the server stops");
    return false;
  });
  if (!isHandedOn)
    return;
  try {
    side.poller->run([&handler = side.handler, request = std::move(request),
                      responder = Responder(std::move(sink))]() mutable {
      handler(std::move(request), std::move(responder));
    });
  } catch (const std::bad_alloc &) {
    // The sink was destroyed with the task, and has rejected its call.
  }
}

void ServerCall::write() {
  const grpc::ByteBuffer next = outgoing.next();
  if (outgoing.finished())
    stream.WriteAndFinish(next, grpc::WriteOptions(), grpc::Status::OK,
                          finishTag.arm(shared_from_this()));
  else
    stream.Write(next, writeTag.arm(shared_from_this()));
}

namespace {

class GrpcListener final : public Listener {
public:
  /// Must be followed by `start`.
  GrpcListener(const GrpcOptions &with, RequestHandler handler)
      : options(with) {
    side.largestMessage = options.largestMessage;
    side.handler = std::move(handler);
  }
  ~GrpcListener() override {
    for (const auto &[responder, call] : side.unanswered->stop())
      call->refuse(grpc::StatusCode::UNAVAILABLE, "the server stops");
    if (side.poller)
      side.poller->refuseTasks();
    door.stop();
    if (server)
      server->Shutdown(std::chrono::system_clock::now() + stopGrace);
    side.live.waitForNone();
    if (side.queue)
      side.queue->Shutdown();
    side.poller.reset();
  }

  Status start(Address address);
  const std::string &address() const override { return where; }

private:
  const GrpcOptions options;
  std::string where;
  /// Held until the server is destroyed.
  LockFile claim;
  ServerSide side;
  TcpDoor door;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

} // namespace

Status GrpcListener::start(Address address) {
  Expected<LockFile> taken = claimPath(address);
  if (!taken)
    return taken.status();
  claim = std::move(*taken);
  grpc::ServerBuilder builder;
  const bool isTcp = address.kind == Address::Kind::Tcp;
  if (isTcp && !door.bind(address))
    return whyNotBound(address);
  if (isTcp)
    acceptor = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        grpc::InsecureServerCredentials());
  else
    builder.AddListeningPort(grpcTarget(address),
                             grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(largestChunk);
  builder.SetMaxSendMessageSize(largestChunk);
  // Limits the memory that a connection can use before any front was accepted.
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, largestMetadata);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, maxCalls);
  setKeepAlive(options, [&](const char *name, int value) {
    builder.AddChannelArgument(name, value);
  });
  builder.RegisterAsyncGenericService(&side.service);
  side.queue = builder.AddCompletionQueue();
  side.poller = std::make_unique<Poller>([this](Tag *&tag, bool &ok) {
    return side.queue->Next(reinterpret_cast<void **>(&tag), &ok);
  });
  server = builder.BuildAndStart();
  if (!server)
    return whyNotBound(address);
  where = address.toString();
  PDLRT_RETURN_IF_ERROR(side.poller->start(options.threads));
  for (unsigned i = 0; i < std::max(options.threads, 2u); ++i)
    ServerCall::accept(side);
  return isTcp ? door.start([this](int listener, int connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
        parameters;
    parameters.listener_fd = listener;
    parameters.fd = connection;
    acceptor->HandleNewConnection(&parameters);
  })
               : Status();
}

Expected<std::unique_ptr<Listener>>
grpcimpl::createListener(const GrpcOptions &options, Address address,
                         RequestHandler handler) {
  auto listener = std::make_unique<GrpcListener>(options, std::move(handler));
  PDLRT_RETURN_IF_ERROR(listener->start(std::move(address)));
  return std::unique_ptr<Listener>(std::move(listener));
}
