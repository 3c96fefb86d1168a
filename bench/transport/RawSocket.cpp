//===- RawSocket.cpp - Measures plain sockets -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RawSocket.h"

#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace pdlbench;

namespace {

struct Head {
  uint64_t size;
  uint64_t responseSize;
};

} // namespace

static void require(bool good, const char *what) {
  if (good)
    return;
  std::perror(what);
  std::exit(1);
}

static void readAll(int socket, char *to, size_t size) {
  while (size > 0) {
    const ssize_t count = ::read(socket, to, size);
    if (count == 0)
      std::_Exit(0); // The other side has finished.
    require(count > 0, "read");
    to += count;
    size -= static_cast<size_t>(count);
  }
}

static void writeAll(int socket, const Head *head, const char *from,
                     size_t size) {
  Head copy{};
  iovec pieces[2] = {};
  if (head) {
    copy = *head;
    pieces[0] = {&copy, sizeof(copy)};
  }
  pieces[1] = {const_cast<char *>(from), size};
  while (pieces[0].iov_len + pieces[1].iov_len > 0) {
    ssize_t count = ::writev(socket, pieces, 2);
    require(count > 0, "write");
    for (iovec &piece : pieces) {
      const size_t part = std::min(piece.iov_len, static_cast<size_t>(count));
      piece.iov_base = static_cast<char *>(piece.iov_base) + part;
      piece.iov_len -= part;
      count -= static_cast<ssize_t>(part);
    }
  }
}

static void serve(int socket) {
  std::vector<char> buffer;
  while (true) {
    Head head{};
    readAll(socket, reinterpret_cast<char *>(&head), sizeof(head));
    buffer.resize(std::max(buffer.size(), head.size + head.responseSize));
    readAll(socket, buffer.data(), head.size);
    writeAll(socket, nullptr, buffer.data(), head.responseSize);
  }
}

static void makeTcpPair(int (&ends)[2]) {
  const int entry = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(name);
  auto *address = reinterpret_cast<sockaddr *>(&name);
  require(::bind(entry, address, size) == 0 && ::listen(entry, 1) == 0 &&
              ::getsockname(entry, address, &size) == 0,
          "listen");
  ends[0] = ::socket(AF_INET, SOCK_STREAM, 0);
  require(::connect(ends[0], address, size) == 0, "connect");
  ends[1] = ::accept(entry, nullptr, nullptr);
  require(ends[1] >= 0, "accept");
  ::close(entry);
  const int on = 1;
  for (const int end : ends)
    ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

RawPair::RawPair(bool unixSocket, bool largeBuffers) {
  int ends[2];
  if (unixSocket)
    require(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  else
    makeTcpPair(ends);
  if (largeBuffers)
    for (const int end : ends)
      for (const auto &[forced, plain] :
           {std::pair(SO_SNDBUFFORCE, SO_SNDBUF),
            std::pair(SO_RCVBUFFORCE, SO_RCVBUF)}) {
        const int size = 4 << 20;
        if (::setsockopt(end, SOL_SOCKET, forced, &size, sizeof(size)) != 0)
          ::setsockopt(end, SOL_SOCKET, plain, &size, sizeof(size));
      }
  server = ::fork();
  require(server >= 0, "fork");
  if (server == 0) {
    ::close(ends[0]);
    serve(ends[1]);
  }
  ::close(ends[1]);
  client = ends[0];
}

RawPair::~RawPair() {
  ::close(client);
  ::waitpid(server, nullptr, 0);
}

void RawPair::exchange(size_t size, size_t responseSize, int count, int depth) {
  buffer.resize(std::max(buffer.size(), size + responseSize));
  const Head head{size, responseSize};
  int sent = 0;
  for (int answered = 0; answered < count; ++answered) {
    for (; sent < count && sent - answered < depth; ++sent)
      writeAll(client, &head, buffer.data(), size);
    readAll(client, buffer.data(), responseSize);
  }
}
