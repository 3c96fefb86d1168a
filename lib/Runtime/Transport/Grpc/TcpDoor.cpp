//===- TcpDoor.cpp - Accepts connections for gRPC -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Grpc/TcpDoor.h"

#include "Transport/StartThread.h"
#include "pdlrt/Core/FileLimit.h"

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::grpcimpl;

/// Interval of checks for spare files.
static constexpr int pauseMillis = 100;

TcpDoor::~TcpDoor() {
  stop();
  for (const int listener : listeners)
    ::close(listener);
  if (ending >= 0)
    ::close(ending);
}

void TcpDoor::stop() {
  if (!thread.joinable())
    return;
  const uint64_t one = 1;
  // Cannot fail, because the counter is 0.
  static_cast<void>(::write(ending, &one, sizeof(one)));
  thread.join();
}

bool TcpDoor::bindOne(const void *name, unsigned size, int family,
                      uint16_t &port) {
  sockaddr_storage own = {};
  std::memcpy(&own, name, size);
  // All addresses of a host get the port of the first one.
  const uint16_t wanted = htons(port);
  if (family == AF_INET)
    reinterpret_cast<sockaddr_in *>(&own)->sin_port = wanted;
  else
    reinterpret_cast<sockaddr_in6 *>(&own)->sin6_port = wanted;
  const int listener =
      ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0)
    return false;
  const int on = 1, off = 0;
  const bool isSet =
      ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      ::setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0;
  // `[::]` also accepts IPv4 connections.
  if (family == AF_INET6)
    static_cast<void>(
        ::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)));
  socklen_t length = sizeof(own);
  if (!isSet ||
      ::bind(listener, reinterpret_cast<sockaddr *>(&own), size) != 0 ||
      ::listen(listener, SOMAXCONN) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr *>(&own), &length) !=
          0) {
    ::close(listener);
    return false;
  }
  port = ntohs(family == AF_INET
                   ? reinterpret_cast<sockaddr_in *>(&own)->sin_port
                   : reinterpret_cast<sockaddr_in6 *>(&own)->sin6_port);
  listeners.push_back(listener);
  return true;
}

bool TcpDoor::bind(Address &address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo *candidates = nullptr;
  if (::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(),
                    &hints, &candidates) != 0)
    return false;
  bool isTaken = false;
  for (const addrinfo *next = candidates; next && !isTaken;
       next = next->ai_next) {
    if (next->ai_family != AF_INET && next->ai_family != AF_INET6)
      continue;
    const bool isBound =
        bindOne(next->ai_addr, next->ai_addrlen, next->ai_family, address.port);
    // A host without IPv6 may still have IPv6 addresses in its configuration.
    isTaken = !isBound && errno == EADDRINUSE;
  }
  ::freeaddrinfo(candidates);
  return !isTaken && !listeners.empty();
}

Status TcpDoor::start(TakeConnection takeConnection) {
  take = std::move(takeConnection);
  ending = ::eventfd(0, EFD_CLOEXEC);
  if (ending < 0)
    return Status::outOfMemory(std::string("no connections can be taken: ") +
                               std::strerror(errno));
  return startThread(thread, "the thread that takes connections",
                     [this] { work(); });
}

bool TcpDoor::takeAll(int listener) {
  while (true) {
    if (!hasFilesToSpare())
      return false;
    const int taken =
        ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (taken >= 0)
      take(listener, taken);
    else if (errno == EAGAIN)
      return true;
    else if (errno != EINTR && errno != ECONNABORTED)
      return false;
  }
}

void TcpDoor::work() {
  std::vector<pollfd> places;
  for (const int listener : listeners)
    places.push_back({listener, POLLIN, 0});
  places.push_back({ending, POLLIN, 0});
  bool isOpen = true;
  while (true) {
    // If there are no spare files, do not poll the sockets, because waiting
    // connections would wake the thread all the time.
    for (size_t i = 0; i + 1 < places.size(); ++i)
      places[i].events = isOpen ? POLLIN : 0;
    if (::poll(places.data(), places.size(), isOpen ? -1 : pauseMillis) < 0)
      continue;
    if (places.back().revents != 0)
      return;
    isOpen = true;
    for (const int listener : listeners)
      isOpen &= takeAll(listener);
  }
}
