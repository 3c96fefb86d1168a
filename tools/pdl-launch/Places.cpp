//===- Places.cpp - Free addresses on this host ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::Expected;
using pdlrt::Status;

Places::~Places() = default;

namespace {

class Ports final : public Places {
public:
  Status find(unsigned count) {
    // All sockets stay open until the last one is found, so that ports differ.
    std::vector<int> sockets;
    Status status;
    for (unsigned i = 0; i < count && status.ok(); ++i)
      status = findOne(sockets);
    for (const int socket : sockets)
      ::close(socket);
    return status;
  }

private:
  Status findOne(std::vector<int> &sockets) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(name);
    const int on = 1;
    if (sockets.back() < 0 ||
        ::setsockopt(sockets.back(), SOL_SOCKET, SO_REUSEADDR, &on,
                     sizeof(on)) != 0 ||
        ::bind(sockets.back(), reinterpret_cast<sockaddr *>(&name), size) !=
            0 ||
        ::getsockname(sockets.back(), reinterpret_cast<sockaddr *>(&name),
                      &size) != 0)
      return Status::unavailable(std::string("found no free port: ") +
                                 std::strerror(errno) + "; try --unix");
    list.push_back("127.0.0.1:" + std::to_string(ntohs(name.sin_port)));
    return {};
  }
};

class Sockets final : public Places {
public:
  Sockets(const std::string &folder, unsigned servers, unsigned trainers) {
    for (unsigned i = 0; i < servers; ++i)
      list.push_back("unix:" + folder + "/server-" + std::to_string(i));
    for (unsigned i = 0; i < trainers; ++i)
      list.push_back("unix:" + folder + "/trainer-" + std::to_string(i));
  }
};

} // namespace

Expected<std::unique_ptr<Places>> pdllaunch::freePorts(unsigned count) {
  auto ports = std::make_unique<Ports>();
  PDLRT_RETURN_IF_ERROR(ports->find(count));
  return std::unique_ptr<Places>(std::move(ports));
}

std::unique_ptr<Places> pdllaunch::unixSockets(const std::string &folder,
                                               unsigned servers,
                                               unsigned trainers) {
  return std::make_unique<Sockets>(folder, servers, trainers);
}
