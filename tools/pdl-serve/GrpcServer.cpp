//===- GrpcServer.cpp - gRPC server of the V2 protocol --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GrpcServer.h"
#include "GrpcCalls.h"
#include "pdlrt/Core/FileIdentity.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Transport/ListeningSocket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::FileIdentity;
using pdlrt::ListeningSocket;

/// Maximum number of concurrent calls per connection.
static constexpr int maxStreams = 1024;

namespace {

/// The connections that were passed to gRPC, which does not report when one
/// ends. `sweep` removes those whose descriptor is closed or is another socket
/// now.
class Connections {
public:
  /// Includes connections that ended after the last call of `sweep`.
  size_t count() const { return open.size(); }
  void add(int descriptor) {
    open.emplace_back(descriptor, FileIdentity::of(descriptor));
  }
  /// Removes closed connections.
  void sweep() {
    std::erase_if(open, [](const auto &each) {
      return FileIdentity::of(each.first) != each.second;
    });
  }

private:
  std::vector<std::pair<int, std::optional<FileIdentity>>> open;
};

} // namespace

class GrpcServer::Service final : public grpc::CallbackGenericService {
public:
  Service(const Repository &repository, Batcher &batcher, MemoryBudget &budget,
          ServingMetrics &metrics, const std::atomic<bool> &isStopping,
          GrpcOptions options)
      : handlers{repository, batcher, budget, metrics,
                 isStopping, options, {}} {}
  ~Service() override { stopAccepting(); }

  grpc::ServerGenericBidiReactor *
  CreateReactor(grpc::GenericCallbackServerContext *context) override {
    // If this throws, gRPC itself ends the call with an error.
    return new Call(handlers, *context);
  }

  /// Accepts connections until `stopAccepting`.
  void accept() noexcept;
  void stopAccepting() noexcept;

  Handlers handlers;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::vector<ListeningSocket> sockets;
  std::jthread accepting;
  /// Becomes readable when accepting should end.
  int ending = -1;
  /// Last status of each name that was reported to gRPC's health service.
  std::map<std::string, bool> told;

private:
  void acceptOne(const ListeningSocket &socket, Connections &connections);
};

void GrpcServer::Service::acceptOne(const ListeningSocket &socket,
                                    Connections &connections) {
  const int descriptor = ::accept4(socket.descriptor(), nullptr, nullptr,
                                   SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS &&
        errno != ENOMEM)
      return;
    // Wait until some connections have ended.
    pdlrt::logWarningOnce(
        std::string("no connection of gRPC can be taken for now: ") +
        std::strerror(errno));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return;
  }
  if (connections.count() >= size_t(handlers.options.maxConnections))
    connections.sweep();
  if (connections.count() >= size_t(handlers.options.maxConnections)) {
    ::close(descriptor);
    pdlrt::logWarningOnce("gRPC has as many connections as it may have "
                          "(--max-connections); more are closed");
    return;
  }
  const int on = 1;
  if (socket.family() != AF_UNIX)
    (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  try {
    connections.add(descriptor);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters taken;
  taken.listener_fd = socket.descriptor();
  taken.fd = descriptor;
  acceptor->HandleNewConnection(&taken);
}

void GrpcServer::Service::accept() noexcept {
  Connections connections;
  std::vector<pollfd> waiting;
  for (const ListeningSocket &socket : sockets)
    waiting.push_back({socket.descriptor(), POLLIN, 0});
  waiting.push_back({ending, POLLIN, 0});
  while (waiting.back().revents == 0) {
    try {
      if (::poll(waiting.data(), waiting.size(), 1000) > 0)
        for (size_t i = 0; i < sockets.size(); ++i)
          if (waiting[i].revents)
            acceptOne(sockets[i], connections);
      handlers.calls.cancelReading(Clock::now() - handlers.options.request);
    } catch (...) {
      // Memory is exhausted; retry later.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void GrpcServer::Service::stopAccepting() noexcept {
  const uint64_t one = 1;
  if (ending >= 0)
    (void)!::write(ending, &one, sizeof(one));
  if (accepting.joinable())
    accepting.join();
  sockets.clear();
  if (ending >= 0)
    ::close(std::exchange(ending, -1));
}

GrpcServer::GrpcServer(const Repository &repository, Batcher &batcher,
                       MemoryBudget &budget, ServingMetrics &metrics,
                       const std::atomic<bool> &isStopping, GrpcOptions options)
    : service(std::make_unique<Service>(repository, batcher, budget, metrics,
                                        isStopping, options)) {}

GrpcServer::~GrpcServer() {
  service->stopAccepting();
  if (service->server)
    service->server->Shutdown(std::chrono::system_clock::now());
}

Expected<std::vector<std::string>>
GrpcServer::start(const std::vector<std::string> &addresses) {
  std::vector<std::string> taken;
  for (const std::string &address : addresses) {
    auto sockets = ListeningSocket::open(address);
    if (!sockets)
      return std::move(sockets).status();
    taken.push_back(sockets->front().place());
    for (ListeningSocket &socket : *sockets)
      service->sockets.push_back(std::move(socket));
  }
  const GrpcOptions &options = service->handlers.options;
  const auto milliseconds = [](Clock::duration time) {
    return int(std::clamp<int64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(time).count(), 1,
        INT32_MAX));
  };
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  // Connections are accepted by this process, because a listener of gRPC stops
  // to listen at a TCP address when file descriptors are exhausted.
  service->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(
      int(std::min<size_t>(options.maxBody, INT32_MAX)));
  builder.SetMaxSendMessageSize(-1);
  // Limits the bytes of incomplete messages.
  grpc::ResourceQuota quota("pdl-serve");
  quota.Resize(options.readingBytes);
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, maxStreams);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 32 << 10);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             milliseconds(options.idle));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             milliseconds(options.request));
  // Detects peers that have vanished.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20000);
  // Compression is disabled, because gRPC limits only the received bytes, and
  // decompressed ones may be many more.
  for (int kind = GRPC_COMPRESS_NONE + 1; kind < GRPC_COMPRESS_ALGORITHMS_COUNT;
       ++kind)
    builder.SetCompressionAlgorithmSupportStatus(
        grpc_compression_algorithm(kind), false);
  builder.RegisterCallbackGenericService(service.get());
  service->server = builder.BuildAndStart();
  service->ending = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (!service->server || service->ending < 0)
    return pdlrt::Status::unavailable("gRPC cannot be started");
  updateHealth();
  service->accepting = std::jthread([&] { service->accept(); });
  return taken;
}

void GrpcServer::updateHealth() {
  grpc::HealthCheckServiceInterface *health =
      service->server ? service->server->GetHealthCheckService() : nullptr;
  if (!health)
    return;
  const Repository &repository = service->handlers.repository;
  std::string why;
  std::map<std::string, bool> now = {
      {"", !service->handlers.isStopping && repository.isReady(why)}};
  for (const Repository::Entry &entry : repository.entries())
    if (const auto [at, isNew] = now.try_emplace(entry.model); isNew)
      at->second = repository.checkReady(entry.model, "").ok();
  // Models that were removed are not serving.
  for (const auto &[name, wasServing] : service->told)
    now.try_emplace(name, false);
  for (const auto &[name, isServing] : now) {
    // For an unchanged status, gRPC would notify all watchers again, so
    // compare.
    const auto before = service->told.find(name);
    if (before == service->told.end() || before->second != isServing)
      health->SetServingStatus(name, isServing);
  }
  service->told = std::move(now);
}

bool GrpcServer::stop(Clock::time_point until) {
  service->stopAccepting();
  if (!service->server)
    return true;
  const auto deadline =
      std::chrono::system_clock::now() +
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          until - Clock::now());
  // After its deadline, gRPC still waits for calls that are being scored.
  std::promise<void> ended;
  std::future<void> end = ended.get_future();
  std::thread ending([server = std::move(service->server), deadline,
                      ended = std::move(ended)]() mutable {
    server->Shutdown(deadline);
    server.reset();
    ended.set_value();
  });
  const bool isDone = end.wait_until(until) == std::future_status::ready;
  // If `ended` was not set in time, the thread ends with the process.
  isDone ? ending.join() : ending.detach();
  return isDone;
}
