//===- LocalConnection.cpp - Client side of unix sockets ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Local/LocalConnection.h"

#include "Transport/Local/FrameSocket.h"
#include "Transport/OpenCall.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Transport/SocketName.h"

#include <cerrno>
#include <map>
#include <sys/socket.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::localimpl;

static CallFault faultOf(int error) {
  if (error == EMFILE || error == ENFILE)
    return CallFault::TooManyFiles;
  // A socket in the file system is removed with its listener.
  return error == ECONNREFUSED || error == ENOENT ? CallFault::Refused
                                                  : CallFault::Unknown;
}

namespace pdlrt::localimpl {

/// The open calls of a connection. If its socket is lost, later calls use a new
/// one. A call stays in the map until its completion callback has returned.
class ClientCalls final : public std::enable_shared_from_this<ClientCalls> {
public:
  ClientCalls(ClientSide &side, const Address &address)
      : side(side), address(address) {}

  void call(Message request, ClockTime deadline, CallDone done);
  /// Ends all calls. Must not be followed by further calls.
  void close();
  /// Ends calls whose deadline has passed. Returns the earliest remaining
  /// deadline.
  ClockTime endLate(ClockTime now);

private:
  /// The lifetime of one socket.
  class Socket;
  struct Waiting {
    std::shared_ptr<OpenCall> open;
    ClockTime deadline;
    std::shared_ptr<Socket> over;
  };

  int connect() PDLRT_REQUIRES(mutex);
  uint64_t next(uint64_t after, const Socket *over);
  void end(uint64_t number, CallResult result);
  void lost(const Socket &socket);
  bool isOpen(uint64_t number);

  ClientSide &side;
  const Address address;
  Mutex mutex;
  std::shared_ptr<Socket> current PDLRT_GUARDED_BY(mutex);
  uint64_t lastNumber PDLRT_GUARDED_BY(mutex) = 0;
  std::map<uint64_t, Waiting> calls PDLRT_GUARDED_BY(mutex);
};

class ClientCalls::Socket final : public FrameTaker {
public:
  Socket(std::weak_ptr<ClientCalls> of, std::shared_ptr<FrameSocket> frames)
      : frames(std::move(frames)), owner(std::move(of)) {}

  bool begins(uint64_t call, uint64_t, const Message &) override {
    // Responses that arrive too late are skipped.
    const auto calls = owner.lock();
    return calls && calls->isOpen(call);
  }
  void came(uint64_t call, Message message) override {
    if (const auto calls = owner.lock())
      calls->end(call, {CallOutcome::Responded, std::move(message)});
  }
  void letGo(uint64_t call) override {
    if (const auto calls = owner.lock())
      calls->end(call, {CallOutcome::Unavailable, {}});
  }
  void lacksMemory(uint64_t call) override { letGo(call); }
  void closed() override {
    if (const auto calls = owner.lock())
      calls->lost(*this);
  }
  // The server stops reading while its responses are not read.
  bool isReady(bool) override { return true; }

  const std::shared_ptr<FrameSocket> frames;

private:
  const std::weak_ptr<ClientCalls> owner;
};

} // namespace pdlrt::localimpl

/// Creates and connects a socket if there is none. Returns 0 or an errno value.
/// The mutex must be locked.
int ClientCalls::connect() {
  if (current)
    return 0;
  Descriptor made(
      ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made)
    return errno;
  const SocketName name(address);
  if (::connect(made.get(), name.get(), name.size()) != 0)
    return errno;
  const auto frames = std::make_shared<FrameSocket>(
      side.loop, std::move(made), side.options.largestMessage);
  const auto socket = std::make_shared<Socket>(weak_from_this(), frames);
  if (!frames->start(socket))
    return ENOMEM;
  current = socket;
  return 0;
}

void ClientCalls::call(Message request, ClockTime deadline, CallDone done) {
  auto open = std::make_shared<OpenCall>(std::move(done));
  const MutexLock lock(mutex);
  const int error = connect();
  const uint64_t number = ++lastNumber;
  calls.emplace(number, Waiting{std::move(open), deadline, current});
  if (error != 0) {
    side.loop.post([self = weak_from_this(), number, error] {
      if (const auto calls = self.lock())
        calls->end(number, {CallOutcome::Unavailable, {}, faultOf(error)});
    });
    return;
  }
  side.loop.wakeBefore(deadline);
  // If the socket was closed in between, the loop is about to end its calls.
  // Send while the mutex is locked: a thread that ends this call must find its
  // bytes in the socket.
  current->frames->send(number, std::move(request));
}

bool ClientCalls::isOpen(uint64_t number) {
  const MutexLock lock(mutex);
  return calls.contains(number);
}

void ClientCalls::end(uint64_t number, CallResult result) {
  Waiting waiting;
  {
    const MutexLock lock(mutex);
    const auto found = calls.find(number);
    if (found == calls.end())
      return;
    waiting = found->second;
  }
  // The caller may reuse its bytes afterwards.
  if (waiting.over)
    waiting.over->frames->keep(number);
  waiting.open->end(std::move(result));
  const MutexLock lock(mutex);
  calls.erase(number);
}

/// Returns the number of the first open call after number `after`, or 0 if
/// there is none. If `over` is not null, considers only calls over that socket.
uint64_t ClientCalls::next(uint64_t after, const Socket *over) {
  const MutexLock lock(mutex);
  for (auto each = calls.upper_bound(after); each != calls.end(); ++each)
    if (!over || each->second.over.get() == over)
      return each->first;
  return 0;
}

void ClientCalls::lost(const Socket &socket) {
  std::shared_ptr<Socket> dropped;
  {
    const MutexLock lock(mutex);
    if (current.get() == &socket)
      dropped = std::move(current);
  }
  // One by one, because there may be no memory for a list.
  for (uint64_t number = 0; (number = next(number, &socket)) != 0;)
    end(number, {CallOutcome::Unavailable, {}});
}

void ClientCalls::close() {
  std::shared_ptr<Socket> socket;
  {
    const MutexLock lock(mutex);
    socket = std::exchange(current, nullptr);
  }
  if (socket)
    socket->frames->shut();
  for (uint64_t number = 0; (number = next(number, nullptr)) != 0;)
    end(number, {CallOutcome::Unavailable, {}});
}

ClockTime ClientCalls::endLate(ClockTime now) {
  ClockTime next = never;
  std::vector<uint64_t> late;
  {
    const MutexLock lock(mutex);
    for (const auto &[number, waiting] : calls)
      if (waiting.deadline <= now)
        late.push_back(number);
      else
        next = std::min(next, waiting.deadline);
  }
  for (const uint64_t number : late)
    end(number, {CallOutcome::DeadlineExceeded, {}});
  return next;
}

ClockTime ClientSide::endLate(ClockTime now) {
  std::vector<std::shared_ptr<ClientCalls>> all;
  {
    const MutexLock lock(mutex);
    std::erase_if(connections, [](const auto &old) { return old.expired(); });
    for (const auto &connection : connections)
      if (auto calls = connection.lock())
        all.push_back(std::move(calls));
  }
  ClockTime next = never;
  for (const auto &calls : all)
    next = std::min(next, calls->endLate(now));
  return next;
}

namespace {

class LocalConnection final : public Connection {
public:
  explicit LocalConnection(std::shared_ptr<ClientCalls> of)
      : calls(std::move(of)) {}
  ~LocalConnection() override { calls->close(); }
  void call(Message request, ClockTime deadline, CallDone done) override {
    calls->call(std::move(request), deadline, std::move(done));
  }

private:
  const std::shared_ptr<ClientCalls> calls;
};

} // namespace

std::unique_ptr<Connection>
localimpl::createConnection(ClientSide &side, const Address &address) {
  auto calls = std::make_shared<ClientCalls>(side, address);
  const MutexLock lock(side.mutex);
  side.connections.push_back(calls);
  return std::make_unique<LocalConnection>(std::move(calls));
}
