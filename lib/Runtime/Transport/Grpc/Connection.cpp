//===- Connection.cpp - Client side of gRPC -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Grpc/Connection.h"

#include "Transport/Grpc/Arguments.h"
#include "Transport/Grpc/Chunks.h"
#include "Transport/OpenCall.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Mutex.h"

#include <cerrno>
#include <cstring>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

using namespace pdlrt;
using namespace pdlrt::grpcimpl;

namespace {

using ClientStream = grpc::GenericClientAsyncReaderWriter;

/// Logs the first failure of a connection that retries cannot correct.
class Complaint {
public:
  explicit Complaint(std::string to) : address(std::move(to)) {}
  void make(const std::string &why) {
    if (!made.exchange(true))
      logWarning("calls of " + address + " fail: " + why);
  }

private:
  const std::string address;
  std::atomic<bool> made{false};
};

/// Returns the reason of a failure. gRPC reports system errors only as text.
CallFault faultOf(const grpc::Status &status) {
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE)
    return CallFault::Unknown;
  const std::string text = status.error_message();
  const auto says = [&](int error) {
    return text.find(std::strerror(error)) != std::string::npos;
  };
  if (says(EMFILE))
    return CallFault::TooManyFiles;
  // The path of a unix socket is removed together with its listener.
  return says(ECONNREFUSED) || says(ENOENT) ? CallFault::Refused
                                            : CallFault::Unknown;
}

/// A call of a client. The object lives until gRPC has finished the call, which
/// may be long after the caller got its result. Reads and writes run
/// concurrently; all other functions run one after the other.
class ClientCall final : public std::enable_shared_from_this<ClientCall> {
public:
  ClientCall(ClientSide &ofSide, std::shared_ptr<OpenCall> ofCall,
             std::shared_ptr<Complaint> withComplaint, Message request)
      : alive(ofSide.live), side(ofSide), open(std::move(ofCall)),
        complaint(std::move(withComplaint)), front(encodeFront(request)),
        outgoing(ChunkWriter::ofRequest(std::move(request))),
        incoming(ofSide.options.largestMessage) {}

  void start(grpc::GenericStub &stub, ClockTime deadline) {
    // gRPC rounds a deadline to milliseconds, and also the origin from which it
    // counts. Without this extra time, a call could end before its deadline.
    constexpr ClockTime rounding = std::chrono::milliseconds(2);
    // Read our clock before gRPC's clock. If this thread is suspended in
    // between, the call ends later, and not before its deadline.
    const ClockTime left = deadline - side.clock.now() + rounding;
    context.set_deadline(
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                     gpr_time_from_nanos(left.count(), GPR_TIMESPAN)));
    context.AddMetadata(frontKey, front);
    // The header of the call is sent with its first chunk.
    context.set_initial_metadata_corked(true);
    stream = stub.PrepareCall(&context, methodName, &side.queue);
    stream->StartCall(nullptr);
    stream->Read(&chunk, readTag.arm(shared_from_this()));
    write();
  }
  void cancel() {
    context.TryCancel();
    letGoOfBytes();
    open->end({CallOutcome::Unavailable, {}});
  }

private:
  /// After this call, the bytes of the request are not read any more. The
  /// caller may free them when the call has ended, even if gRPC still requests
  /// more of them.
  void letGoOfBytes() {
    const MutexLock lock(reading);
    isOver = true;
  }
  void write() {
    if (outgoing.finished()) {
      stream->WritesDone(writeTag.arm(shared_from_this()));
      return;
    }
    grpc::ByteBuffer next;
    {
      const MutexLock lock(reading);
      if (isOver)
        return;
      next = outgoing.next();
    }
    grpc::WriteOptions options;
    if (outgoing.finished())
      options.set_last_message();
    stream->Write(next, options, writeTag.arm(shared_from_this()));
  }
  void wrote(bool ok) {
    if (ok && !outgoing.finished())
      write();
  }
  void read(bool ok) {
    const bool whole = ok && incoming.add(chunk);
    if (whole && !incoming.complete()) {
      stream->Read(&chunk, readTag.arm(shared_from_this()));
      return;
    }
    if (ok && !whole) {
      complaint->make("the response is no message, or larger than " +
                      std::to_string(side.options.largestMessage) + " bytes");
      context.TryCancel();
    }
    // With a whole response, ends the call for the caller now. The status,
    // which comes later, only shows that gRPC has finished the call.
    answered = whole;
    stream->Finish(&status, finishTag.arm(shared_from_this()));
    if (whole)
      end({CallOutcome::Responded, incoming.take()});
  }
  void finished(bool) {
    if (answered)
      return;
    const grpc::StatusCode code = status.error_code();
    const CallFault fault = faultOf(status);
    if (fault == CallFault::TooManyFiles)
      complaint->make(describeFileLimit());
    if (code == grpc::StatusCode::UNIMPLEMENTED ||
        code == grpc::StatusCode::RESOURCE_EXHAUSTED ||
        code == grpc::StatusCode::INVALID_ARGUMENT ||
        code == grpc::StatusCode::INTERNAL)
      complaint->make(status.error_message());
    end({code == grpc::StatusCode::DEADLINE_EXCEEDED
             ? CallOutcome::DeadlineExceeded
             : CallOutcome::Unavailable,
         {},
         fault});
  }
  void end(CallResult result) {
    letGoOfBytes();
    side.poller.run([call = open, result = std::move(result)]() mutable {
      call->end(std::move(result));
    });
  }

  const LiveCount::Guard alive;
  ClientSide &side;
  const std::shared_ptr<OpenCall> open;
  const std::shared_ptr<Complaint> complaint;
  const std::string front;
  /// Protects reading of the request's bytes.
  Mutex reading;
  bool isOver PDLRT_GUARDED_BY(reading) = false;
  ChunkWriter outgoing;
  ChunkReader incoming;
  grpc::ByteBuffer chunk;
  bool answered = false;
  grpc::Status status;
  grpc::ClientContext context;
  std::unique_ptr<ClientStream> stream;
  MemberTag<ClientCall> readTag{&ClientCall::read};
  MemberTag<ClientCall> writeTag{&ClientCall::wrote};
  MemberTag<ClientCall> finishTag{&ClientCall::finished};
};

class GrpcConnection final : public Connection {
public:
  GrpcConnection(ClientSide &ofSide, const Address &address,
                 const grpc::ChannelArguments &arguments)
      : side(ofSide),
        complaint(std::make_shared<Complaint>(address.toString())),
        stub(grpc::CreateCustomChannel(grpcTarget(address),
                                       grpc::InsecureChannelCredentials(),
                                       arguments)) {}
  ~GrpcConnection() override {
    std::vector<std::weak_ptr<ClientCall>> calls;
    {
      const MutexLock lock(mutex);
      calls.swap(openCalls);
    }
    for (const std::weak_ptr<ClientCall> &open : calls)
      if (const auto call = open.lock())
        call->cancel();
  }

  void call(Message request, ClockTime deadline, CallDone done) override {
    auto call = std::make_shared<ClientCall>(
        side, std::make_shared<OpenCall>(std::move(done)), complaint,
        std::move(request));
    {
      const MutexLock lock(mutex);
      if (openCalls.size() >= sweepAt) {
        std::erase_if(openCalls, [](const auto &old) { return old.expired(); });
        sweepAt = 2 * openCalls.size() + 16;
      }
      openCalls.push_back(call);
    }
    call->start(stub, deadline);
  }

private:
  ClientSide &side;
  std::shared_ptr<Complaint> complaint;
  grpc::GenericStub stub;
  Mutex mutex;
  std::vector<std::weak_ptr<ClientCall>> openCalls PDLRT_GUARDED_BY(mutex);
  size_t sweepAt PDLRT_GUARDED_BY(mutex) = 16;
};

} // namespace

/// Pauses before reconnecting, in milliseconds.
static constexpr int shortestPause = 50;
static constexpr int longestPause = 1000;
/// Timeout of one attempt to connect, in milliseconds.
static constexpr int connectTimeout = 3000;

static grpc::ChannelArguments channelArguments(const GrpcOptions &options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, shortestPause);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, longestPause);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, connectTimeout);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, longestPause);
  // Each connection has its own TCP connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A request is sent at most once, and directly to its server.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetMaxReceiveMessageSize(largestChunk);
  arguments.SetMaxSendMessageSize(largestChunk);
  setKeepAlive(options, [&](const char *name, int value) {
    arguments.SetInt(name, value);
  });
  return arguments;
}

std::unique_ptr<Connection> grpcimpl::createConnection(ClientSide &side,
                                                       const Address &address) {
  return std::make_unique<GrpcConnection>(side, address,
                                          channelArguments(side.options));
}
