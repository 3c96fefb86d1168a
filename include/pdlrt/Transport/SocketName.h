//===- SocketName.h - System address of a unix socket -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_SOCKETNAME_H
#define PDLRT_TRANSPORT_SOCKETNAME_H

#include "pdlrt/Transport/Address.h"

#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

namespace pdlrt {

/// The address of a unix socket in the form that connect() and bind() take. The
/// length of the address must have been checked.
class SocketName {
public:
  explicit SocketName(const Address &address) {
    const size_t before = address.kind == Address::Kind::UnixAbstract ? 1 : 0;
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path + before, address.path.data(),
                address.path.size());
    // Both kinds have one zero byte: an abstract name before its text, a path
    // after it.
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) +
                                    address.path.size() + 1);
  }
  const sockaddr *get() const {
    return reinterpret_cast<const sockaddr *>(&name);
  }
  socklen_t size() const { return length; }

private:
  sockaddr_un name{};
  socklen_t length;
};

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_SOCKETNAME_H
