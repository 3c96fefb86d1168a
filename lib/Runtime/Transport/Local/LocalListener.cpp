//===- LocalListener.cpp - Server side of unix sockets --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Local/LocalListener.h"

#include "Transport/Local/EnoughMemory.h"
#include "Transport/Local/FrameSocket.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Transport/BindCheck.h"
#include "pdlrt/Transport/SocketName.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <mutex>
#include <new>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::localimpl;

/// Time for responses to be sent when a listener stops.
static constexpr std::chrono::seconds stopGrace(1);
/// Maximum number of open calls of one connection. A client of PDL has one
/// request, some heartbeats, and attempts that timed out. Further calls wait in
/// the system's buffer.
static constexpr int maxCalls = 256;
/// Interval of attempts to accept a connection.
static constexpr std::chrono::milliseconds acceptPause(100);

namespace {

/// Shared with responders, which may outlive the listener.
struct Client {
  explicit Client(std::shared_ptr<FrameSocket> of) : frames(std::move(of)) {}
  const std::shared_ptr<FrameSocket> frames;
  std::atomic<int> openCalls{0};
};

/// Sends the response to one request.
class LocalSink final : public Responder::Sink {
public:
  LocalSink(std::shared_ptr<Client> of, uint64_t call)
      : client(std::move(of)), number(call) {
    ++client->openCalls;
  }
  ~LocalSink() override {
    if (!answered)
      client->frames->sendLetGo(number);
    if (client->openCalls-- == maxCalls)
      client->frames->readOn();
  }
  void respond(Message response) override {
    answered = true;
    client->frames->send(number, std::move(response));
  }

private:
  const std::shared_ptr<Client> client;
  const uint64_t number;
  bool answered = false;
};

class LocalListener;

/// Receives the messages of one client.
class ClientTaker final : public FrameTaker {
public:
  ClientTaker(LocalListener &listener, std::shared_ptr<FrameSocket> frames)
      : client(std::make_shared<Client>(std::move(frames))),
        listener(listener) {}
  bool begins(uint64_t call, uint64_t size, const Message &front) override;
  void came(uint64_t call, Message message) override;
  // Has no effect on a server, because only servers drop calls.
  void letGo(uint64_t) override {}
  void lacksMemory(uint64_t call) override { client->frames->sendLetGo(call); }
  void closed() override;
  // A client that does not read responses gets no more of them.
  bool isReady(bool isCrowded) override {
    return !isCrowded && client->openCalls < maxCalls;
  }

  const std::shared_ptr<Client> client;

private:
  LocalListener &listener;
};

class LocalListener final : public Listener {
public:
  /// Must be followed by `start`.
  LocalListener(RealClock &clock, const LocalOptions &options,
                RequestHandler handler)
      : options(options), handler(std::move(handler)), clock(clock),
        loop(clock, [this](ClockTime) {
          acceptAll();
          return never;
        }) {}
  ~LocalListener() override;

  Status start(const Address &of);
  const std::string &address() const override { return where; }
  void acceptAll();
  void forget(const ClientTaker *client);

  const LocalOptions options;
  const RequestHandler handler;

private:
  /// The listening socket.
  class Door;
  bool areIdle();

  RealClock &clock;
  std::string where;
  /// Removed at the end; empty for an abstract name.
  std::string path;
  /// Held until the socket is closed.
  LockFile claim;
  Descriptor socket;
  /// Read by the loop's thread.
  std::atomic<uint64_t> doorNumber{0};
  bool isDoorOpen = false;
  /// Used by the loop's thread. The destructor uses it after that thread has
  /// ended.
  std::set<std::shared_ptr<ClientTaker>> clients;
  SocketLoop loop;
};

class LocalListener::Door final : public SocketLoop::Watcher {
public:
  explicit Door(LocalListener &listener) : listener(listener) {}
  void canRead() override { listener.acceptAll(); }
  void canWrite() override {}
  void hungUp() override {}

private:
  LocalListener &listener;
};

} // namespace

bool ClientTaker::begins(uint64_t call, uint64_t size, const Message &front) {
  std::optional<Message> response = listener.handler.screen(front, size);
  if (!response)
    return true;
  client->frames->send(call, *std::move(response));
  return false;
}

void ClientTaker::came(uint64_t call, Message message) {
  std::shared_ptr<LocalSink> sink;
  if (!hasMemoryFor(
          [&] { sink = std::make_shared<LocalSink>(client, call); })) {
    client->frames->sendLetGo(call);
    return;
  }
  // If memory is exhausted, the responder is destroyed with the handler's
  // arguments. Its sink then drops the call.
  (void)hasMemoryFor([&] {
    listener.handler(std::move(message), Responder(std::move(sink)));
  });
}

void ClientTaker::closed() { listener.forget(this); }

void LocalListener::forget(const ClientTaker *client) {
  const auto found = std::ranges::find_if(
      clients, [&](const auto &each) { return each.get() == client; });
  if (found != clients.end())
    clients.erase(found);
}

/// Accepts all waiting connections.
void LocalListener::acceptAll() {
  while (true) {
    try {
      if (!hasFilesToSpare())
        throw std::bad_alloc();
      Descriptor taken(::accept4(socket.get(), nullptr, nullptr,
                                 SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!taken && errno == EINTR)
        continue;
      if (!taken && (errno == EAGAIN || errno == ECONNABORTED)) {
        if (!std::exchange(isDoorOpen, true))
          loop.change(doorNumber, socket.get(), /*read=*/true, /*write=*/false);
        return;
      }
      if (!taken)
        throw std::bad_alloc();
      const auto frames = std::make_shared<FrameSocket>(loop, std::move(taken),
                                                        options.largestMessage);
      const auto client = std::make_shared<ClientTaker>(*this, frames);
      clients.insert(client);
      if (!frames->start(client))
        clients.erase(client);
    } catch (const std::bad_alloc &) {
      // The process cannot open more files, or memory is exhausted. Connections
      // wait, and the loop stops watching the listening socket for a while.
      isDoorOpen = false;
      loop.change(doorNumber, socket.get(), /*read=*/false, /*write=*/false);
      loop.wakeBefore(clock.now() + acceptPause);
      return;
    }
  }
}

Status LocalListener::start(const Address &of) {
  Expected<LockFile> taken = claimPath(of);
  if (!taken)
    return taken.status();
  claim = std::move(*taken);
  const bool isPath = of.kind == Address::Kind::UnixPath;
  // The socket was left by a process that has died.
  if (isPath)
    ::unlink(of.path.c_str());
  socket = Descriptor(
      ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const SocketName name(of);
  if (!socket || ::bind(socket.get(), name.get(), name.size()) != 0)
    return whyNotBound(of);
  if (isPath)
    path = of.path;
  if (::listen(socket.get(), SOMAXCONN) != 0)
    return whyNotBound(of);
  where = of.toString();
  PDLRT_RETURN_IF_ERROR(loop.start());
  isDoorOpen = true;
  doorNumber =
      loop.add(socket.get(), std::make_shared<Door>(*this), /*read=*/false);
  if (doorNumber == 0)
    return whyNotBound(of);
  // Done last, so that the first connection finds `doorNumber` set.
  loop.change(doorNumber, socket.get(), /*read=*/true, /*write=*/false);
  return {};
}

/// Returns true if all responses have been sent, as seen by the loop's thread.
bool LocalListener::areIdle() {
  try {
    // Shared, because the task may still use the promise after it has set the
    // value.
    const auto told = std::make_shared<std::promise<bool>>();
    std::future<bool> answer = told->get_future();
    loop.post([this, told] {
      told->set_value(std::ranges::all_of(clients, [](const auto &client) {
        return client->client->frames->isIdle();
      }));
    });
    return answer.get();
  } catch (const std::bad_alloc &) {
    // There is not enough memory to request the answer from the loop, so do not
    // wait.
    return true;
  }
}

LocalListener::~LocalListener() {
  if (doorNumber != 0) {
    // Accept no more connections, and let responses be sent.
    loop.remove(doorNumber, socket.get());
    const auto until = std::chrono::steady_clock::now() + stopGrace;
    while (!areIdle() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!path.empty())
    ::unlink(path.c_str());
  loop.stop();
  // Shuts the sockets explicitly, because responders may still own them.
  for (const auto &client : clients)
    client->client->frames->shut();
}

Expected<std::unique_ptr<Listener>>
localimpl::createListener(RealClock &clock, const LocalOptions &options,
                          const Address &address, RequestHandler handler) {
  auto listener =
      std::make_unique<LocalListener>(clock, options, std::move(handler));
  PDLRT_RETURN_IF_ERROR(listener->start(address));
  return std::unique_ptr<Listener>(std::move(listener));
}
