//===- TransportPair.cpp - Measures the transport -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransportPair.h"

#include "pdlrt/Core/Allocator.h"
#include "pdlrt/Transport/SealedTransport.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace pdlbench;
using namespace pdlrt;

static void require(bool good, const std::string &what) {
  if (good)
    return;
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::exit(1);
}

/// Answers a request. Its first 8 bytes contain the size of the response.
static void respond(const Message &request, Responder &responder,
                    const std::shared_ptr<std::string> &payload) {
  uint64_t size = 0;
  size_t known = 0;
  for (const MessageSlice &slice : request.slices()) {
    const size_t count = std::min(slice.size, sizeof(size) - known);
    std::memcpy(reinterpret_cast<char *>(&size) + known, slice.data, count);
    known += count;
  }
  require(known == sizeof(size), "a request without a head");
  Message response;
  response.append({reinterpret_cast<const std::byte *>(payload->data()),
                   std::min(size, payload->size()), payload});
  responder.respond(std::move(response));
}

static std::unique_ptr<Transport> makeTransport(RealClock &clock, bool sealed) {
  auto made = createClusterTransport(clock);
  require(made.ok(), made.status().message());
  return sealed ? createSealedTransport(std::move(*made),
                                        {PeerRole::Member, "a secret of both"})
                : std::move(*made);
}

[[noreturn]] static void serve(bool unixSocket, bool sealed, int told,
                               int lifeline) {
  RealClock clock;
  const std::unique_ptr<Transport> network = makeTransport(clock, sealed);
  const auto payload = std::make_shared<std::string>(8 << 20, 'x');
  const std::string address =
      unixSocket ? "unix:@pdl-bench-" + std::to_string(::getpid())
                 : "127.0.0.1:0";
  const auto listener = network->listen(
      address, [&](const Message &request, Responder responder) {
        respond(request, responder, payload);
      });
  require(listener.ok(), listener.status().message());
  const std::string &where = (*listener)->address();
  require(::write(told, where.data(), where.size()) > 0, "write");
  ::close(told);
  char end = 0;
  (void)!::read(lifeline, &end, 1);
  std::_Exit(0);
}

TransportServer::TransportServer(bool unixSocket, bool tuned, bool sealed) {
  int told[2], life[2];
  require(::pipe(told) == 0 && ::pipe(life) == 0, "pipe");
  process = ::fork();
  require(process >= 0, "fork");
  if (process == 0) {
    ::close(told[0]);
    ::close(life[1]);
    if (tuned)
      tuneAllocator();
    serve(unixSocket, sealed, told[1], life[0]);
  }
  ::close(told[1]);
  ::close(life[0]);
  lifeline = life[1];
  char buffer[256];
  const ssize_t count = ::read(told[0], buffer, sizeof(buffer));
  require(count > 0, "the server did not start");
  where.assign(buffer, static_cast<size_t>(count));
  ::close(told[0]);
}

TransportServer::~TransportServer() {
  ::close(lifeline);
  ::waitpid(process, nullptr, 0);
}

TransportClient::TransportClient(const std::string &address, bool sealed)
    : network(makeTransport(clock, sealed)) {
  auto made = network->connect(address);
  require(made.ok(), made.status().message());
  connection = std::move(*made);
}

void TransportClient::exchange(size_t size, size_t responseSize, int count,
                               int depth) {
  if (payload->size() != size || payload.use_count() > 1)
    payload = std::make_shared<std::string>(size, 'x');
  const uint64_t head = responseSize;
  std::memcpy(payload->data(), &head, sizeof(head));
  Message request;
  request.append(
      {reinterpret_cast<const std::byte *>(payload->data()), size, payload});
  // Not std::counting_semaphore, which spins.
  std::mutex mutex;
  std::condition_variable changed;
  int open = 0;
  const auto waitForAtMost = [&](int most) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return open <= most; });
    return lock;
  };
  for (int i = 0; i < count; ++i) {
    {
      const auto lock = waitForAtMost(depth - 1);
      ++open;
    }
    connection->call(request, clock.now() + std::chrono::seconds(60),
                     [&](const CallResult &result) {
                       require(result.outcome == CallOutcome::Responded &&
                                   result.response.size() == responseSize,
                               "a call failed");
                       const std::lock_guard lock(mutex);
                       --open;
                       changed.notify_one();
                     });
  }
  waitForAtMost(0);
}
