//===- GroupSockets.cpp - Groups of processes on one host -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/GroupSockets.h"

#include "pdlrt/Core/RandomNumber.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace pdlrt;
using SteadyClock = std::chrono::steady_clock;

static constexpr std::chrono::milliseconds pollInterval(10);

DeviceGroupName GroupSockets::makeName() {
  DeviceGroupName name = {};
  (void)std::snprintf(name.data(), name.size(), "pdl-device-group-%016llx",
                      static_cast<unsigned long long>(drawNumber()));
  return name;
}

/// Returns an abstract address, which needs no file.
static socklen_t addressOf(const DeviceGroupName &name, sockaddr_un &address) {
  address = {};
  address.sun_family = AF_UNIX;
  const size_t most = std::min(name.size(), sizeof(address.sun_path) - 1);
  const size_t size = strnlen(name.data(), most);
  std::memcpy(address.sun_path + 1, name.data(), size);
  return socklen_t(offsetof(sockaddr_un, sun_path) + 1 + size);
}

static Status systemError(const std::string &what) {
  return Status::ofErrno(errno, what + ": " + std::strerror(errno));
}

static Status lateOthers() {
  return Status::deadlineExceeded(
      "not all processes of a group of devices have come");
}

Status GroupSockets::send(const Peer &peer, const void *bytes, size_t size) {
  auto *from = static_cast<const char *>(bytes);
  while (size > 0) {
    const ssize_t sent = ::send(peer.socket, from, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0 || isEnded)
      return Status::unavailable("a process of the group of devices has ended");
    from += sent;
    size -= size_t(sent);
  }
  return {};
}

Status GroupSockets::receive(const Peer &peer, void *bytes, size_t size) {
  auto *to = static_cast<char *>(bytes);
  while (size > 0) {
    const ssize_t got = ::recv(peer.socket, to, size, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0 || isEnded)
      return Status::unavailable("a process of the group of devices has ended");
    to += got;
    size -= size_t(got);
  }
  return {};
}

Status GroupSockets::accept(const DeviceGroupPlace &place) {
  sockaddr_un address;
  const socklen_t size = addressOf(place.name, address);
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listening < 0)
    return systemError("a socket for a group of devices");
  const auto until = SteadyClock::now() + place.patience;
  Status status;
  if (::bind(listening, reinterpret_cast<sockaddr *>(&address), size) != 0 ||
      ::listen(listening, int(place.count)) != 0)
    status = systemError("a socket for a group of devices");
  size_t present = here;
  while (status.ok() && present < count) {
    pollfd waits = {listening, POLLIN, 0};
    if (::poll(&waits, 1, int(pollInterval.count())) <= 0) {
      if (SteadyClock::now() > until)
        status = lateOthers();
      continue;
    }
    Peer peer = {::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC), 0, 0};
    if (peer.socket < 0)
      continue;
    uint64_t said[2];
    status = receive(peer, said, sizeof(said));
    peer.first = said[0];
    peer.devices = said[1];
    peers.push_back(peer);
    present += peer.devices;
  }
  ::close(listening);
  std::ranges::sort(peers, {}, &Peer::first);
  return status;
}

Status GroupSockets::connect(const DeviceGroupPlace &place) {
  sockaddr_un address;
  const socklen_t size = addressOf(place.name, address);
  const auto until = SteadyClock::now() + place.patience;
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0)
    return systemError("a socket for a group of devices");
  peers.push_back({socket, 0, 0});
  while (::connect(socket, reinterpret_cast<sockaddr *>(&address), size) != 0) {
    if (SteadyClock::now() > until)
      return lateOthers();
    std::this_thread::sleep_for(pollInterval);
  }
  const uint64_t said[2] = {first, here};
  return send(peers.front(), said, sizeof(said));
}

Expected<std::unique_ptr<GroupSockets>>
GroupSockets::join(const DeviceGroupPlace &place, size_t here) {
  std::unique_ptr<GroupSockets> joined(new GroupSockets(place, here));
  PDLRT_RETURN_IF_ERROR(place.first == 0 ? joined->accept(place)
                                         : joined->connect(place));
  return joined;
}

GroupSockets::~GroupSockets() {
  for (const Peer &peer : peers)
    ::close(peer.socket);
}

Status GroupSockets::gather(const char *own, size_t bytes, char *all) {
  // The other processes compare this size with their own.
  const uint64_t asked = bytes;
  if (first != 0) {
    PDLRT_RETURN_IF_ERROR(send(peers.front(), &asked, sizeof(asked)));
    PDLRT_RETURN_IF_ERROR(send(peers.front(), own, here * bytes));
    return receive(peers.front(), all, count * bytes);
  }
  if (bytes > 0)
    std::memcpy(all, own, here * bytes);
  for (const Peer &peer : peers) {
    uint64_t theirs = 0;
    PDLRT_RETURN_IF_ERROR(receive(peer, &theirs, sizeof(theirs)));
    if (theirs != asked)
      return Status::internal("processes of a group of devices exchange " +
                              std::to_string(asked) + " and " +
                              std::to_string(theirs) + " bytes at once");
    PDLRT_RETURN_IF_ERROR(
        receive(peer, all + peer.first * bytes, peer.devices * bytes));
  }
  for (const Peer &peer : peers)
    PDLRT_RETURN_IF_ERROR(send(peer, all, count * bytes));
  return {};
}

void GroupSockets::abort() {
  isEnded = true;
  for (const Peer &peer : peers)
    ::shutdown(peer.socket, SHUT_RDWR);
}
