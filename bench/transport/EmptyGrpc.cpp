//===- EmptyGrpc.cpp - Measures plain gRPC --------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmptyGrpc.h"

#include "pdlrt/Core/Allocator.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace pdlbench;

static void require(bool good, const char *what) {
  if (good)
    return;
  std::fprintf(stderr, "error: %s\n", what);
  std::exit(1);
}

static grpc::Slice staticSlice(const std::string &bytes, size_t size) {
  return {bytes.data(), size, grpc::Slice::STATIC_SLICE};
}

namespace {

/// A call of the server, and the meaning of its next event.
struct ServedCall {
  grpc::GenericServerContext context;
  grpc::GenericServerAsyncReaderWriter stream{&context};
  grpc::ByteBuffer request;
  enum { Accepted, Read, Finished } next = Accepted;
};

} // namespace

[[noreturn]] static void serve(bool unixSocket, int told) {
  const std::string payload(8 << 20, 'x');
  grpc::AsyncGenericService service;
  grpc::ServerBuilder builder;
  int port = 0;
  const std::string name =
      "unix-abstract:pdl-bench-empty-" + std::to_string(::getpid());
  builder.AddListeningPort(unixSocket ? name : "127.0.0.1:0",
                           grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterAsyncGenericService(&service);
  const auto queue = builder.AddCompletionQueue();
  const auto server = builder.BuildAndStart();
  require(server != nullptr, "gRPC does not listen");
  const std::string where =
      unixSocket ? name : "127.0.0.1:" + std::to_string(port);
  require(::write(told, where.data(), where.size()) > 0, "write");
  ::close(told);
  const auto accept = [&] {
    auto *call = new ServedCall;
    service.RequestCall(&call->context, &call->stream, queue.get(), queue.get(),
                        call);
  };
  accept();
  void *tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) {
    auto *call = static_cast<ServedCall *>(tag);
    if (call->next == ServedCall::Accepted) {
      accept();
      call->next = ServedCall::Read;
      call->stream.Read(&call->request, call);
    } else if (call->next == ServedCall::Read && ok) {
      // The first 8 bytes contain the size of the response.
      uint64_t size = 0;
      std::vector<grpc::Slice> slices;
      size_t known = 0;
      require(call->request.Dump(&slices).ok(), "a request without bytes");
      for (const grpc::Slice &slice : slices) {
        const size_t part = std::min(slice.size(), sizeof(size) - known);
        std::memcpy(reinterpret_cast<char *>(&size) + known, slice.begin(),
                    part);
        known += part;
      }
      require(known == sizeof(size), "a request without a head");
      const grpc::Slice answer = staticSlice(payload, size);
      call->next = ServedCall::Finished;
      call->stream.WriteAndFinish(grpc::ByteBuffer(&answer, 1),
                                  grpc::WriteOptions(), grpc::Status::OK, call);
    } else {
      delete call;
    }
  }
  std::_Exit(0);
}

EmptyGrpcServer::EmptyGrpcServer(bool unixSocket, bool tuned) {
  int told[2];
  require(::pipe(told) == 0, "pipe");
  process = ::fork();
  require(process >= 0, "fork");
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(told[0]);
    if (tuned)
      pdlrt::tuneAllocator();
    serve(unixSocket, told[1]);
  }
  ::close(told[1]);
  char buffer[256];
  const ssize_t count = ::read(told[0], buffer, sizeof(buffer));
  require(count > 0, "the server did not start");
  where.assign(buffer, static_cast<size_t>(count));
  ::close(told[0]);
}

EmptyGrpcServer::~EmptyGrpcServer() {
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
}

namespace {

struct OpenCall {
  grpc::ClientContext context;
  grpc::ByteBuffer response;
  grpc::Status status;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
};

} // namespace

struct EmptyGrpcClient::State {
  std::unique_ptr<grpc::GenericStub> stub;
  grpc::CompletionQueue queue;
  std::string payload;
};

EmptyGrpcClient::EmptyGrpcClient(const std::string &address)
    : state(std::make_unique<State>()) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  state->stub = std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
      address, grpc::InsecureChannelCredentials(), arguments));
}

EmptyGrpcClient::~EmptyGrpcClient() = default;

void EmptyGrpcClient::exchange(size_t size, size_t responseSize, int count,
                               int depth) {
  state->payload.resize(std::max(size, state->payload.size()), 'x');
  const uint64_t head = responseSize;
  std::memcpy(state->payload.data(), &head, sizeof(head));
  const grpc::Slice bytes = staticSlice(state->payload, size);
  const grpc::ByteBuffer request(&bytes, 1);
  int begun = 0;
  const auto begin = [&] {
    auto *call = new OpenCall;
    call->reader = state->stub->PrepareUnaryCall(&call->context, "/empty/call",
                                                 request, &state->queue);
    call->reader->StartCall();
    call->reader->Finish(&call->response, &call->status, call);
    ++begun;
  };
  for (int i = 0; i < std::min(depth, count); ++i)
    begin();
  for (int ended = 0; ended < count; ++ended) {
    void *tag = nullptr;
    bool ok = false;
    require(state->queue.Next(&tag, &ok) && ok, "gRPC's queue ended");
    const std::unique_ptr<OpenCall> call(static_cast<OpenCall *>(tag));
    require(call->status.ok() && call->response.Length() == responseSize,
            "a call failed");
    if (begun < count)
      begin();
  }
}
