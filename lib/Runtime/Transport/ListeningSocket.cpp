//===- ListeningSocket.cpp - A listening socket ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/ListeningSocket.h"

#include "pdlrt/Transport/BindCheck.h"
#include "pdlrt/Transport/SocketName.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>
#include <utility>

using namespace pdlrt;

ListeningSocket::ListeningSocket(ListeningSocket &&other) noexcept
    : number(std::exchange(other.number, -1)), familyNumber(other.familyNumber),
      taken(std::move(other.taken)), path(std::exchange(other.path, {})),
      claim(std::move(other.claim)) {}

ListeningSocket::~ListeningSocket() {
  removePath();
  if (number >= 0)
    ::close(number);
}

int ListeningSocket::release() { return std::exchange(number, -1); }

void ListeningSocket::removePath() {
  if (!path.empty())
    ::unlink(path.c_str());
  path.clear();
  claim = {};
}

static Status refuseToListen(const std::string &place, int error) {
  return Status::ofErrno(error, place + ": " + std::strerror(error) +
                                    "; give another address");
}

static int newSocket(int family) {
  return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

Status ListeningSocket::listen(const sockaddr *address, unsigned size) {
  const int on = 1;
  if (number < 0 ||
      (familyNumber != AF_UNIX &&
       ::setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) ||
      ::bind(number, address, size) != 0 || ::listen(number, SOMAXCONN) != 0)
    return refuseToListen(taken, errno);
  return {};
}

static uint16_t portOf(int descriptor) {
  sockaddr_storage own = {};
  socklen_t size = sizeof(own);
  if (::getsockname(descriptor, reinterpret_cast<sockaddr *>(&own), &size) != 0)
    return 0;
  return ntohs(own.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6 &>(own).sin6_port
                   : reinterpret_cast<const sockaddr_in &>(own).sin_port);
}

/// Listens at a path or an abstract name.
Expected<ListeningSocket> ListeningSocket::openUnix(const Address &address) {
  auto claim = claimPath(address);
  if (!claim)
    return std::move(claim).status();
  const bool isFile = address.kind == Address::Kind::UnixPath;
  // Left over from a killed process.
  if (isFile)
    ::unlink(address.path.c_str());
  ListeningSocket socket(newSocket(AF_UNIX), AF_UNIX);
  socket.taken = address.toString();
  socket.claim = *std::move(claim);
  const SocketName name(address);
  PDLRT_RETURN_IF_ERROR(socket.listen(name.get(), name.size()));
  if (isFile)
    socket.path = address.path;
  return socket;
}

Expected<std::vector<ListeningSocket>>
ListeningSocket::open(const std::string &text) {
  Expected<Address> address = parseAddress(text);
  if (!address)
    return std::move(address).status();
  std::vector<ListeningSocket> sockets;
  if (address->kind != Address::Kind::Tcp) {
    Expected<ListeningSocket> socket = openUnix(*address);
    if (!socket)
      return std::move(socket).status();
    sockets.push_back(*std::move(socket));
    return sockets;
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo *found = nullptr;
  if (const int error =
          ::getaddrinfo(address->host.c_str(),
                        std::to_string(address->port).c_str(), &hints, &found))
    return Status::invalidArgument(address->host + ": " +
                                   ::gai_strerror(error) +
                                   "; give another address");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(
      found, &::freeaddrinfo);
  Status refused;
  for (const addrinfo *each = found; each; each = each->ai_next) {
    ListeningSocket socket(newSocket(each->ai_family), each->ai_family);
    socket.taken = address->toString();
    if (Status status = socket.listen(each->ai_addr, each->ai_addrlen);
        !status.ok()) {
      refused = std::move(status);
      // A name may have addresses of a protocol that the host does not support.
      if (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT)
        continue;
      return refused;
    }
    Address taken = *address;
    taken.port = portOf(socket.number);
    socket.taken = taken.toString();
    sockets.push_back(std::move(socket));
    // Two sockets would get two different free ports.
    if (address->port == 0)
      break;
  }
  if (sockets.empty())
    return refused;
  return sockets;
}
