//===- ListeningSocket.h - A listening socket -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_LISTENINGSOCKET_H
#define PDLRT_TRANSPORT_LISTENINGSOCKET_H

#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Address.h"

#include <string>
#include <sys/socket.h>
#include <vector>

namespace pdlrt {

/// A socket that listens at an address. The destructor closes it, and removes
/// the path of a unix socket.
class ListeningSocket {
public:
  /// Listens at HOST:PORT (any free port if the port is 0) or unix:PATH. If
  /// HOST has several addresses, returns a socket for each of them.
  static Expected<std::vector<ListeningSocket>>
  open(const std::string &address);
  ListeningSocket(ListeningSocket &&other) noexcept;
  ListeningSocket &operator=(ListeningSocket &&) = delete;
  ~ListeningSocket();

  /// Returns the descriptor; -1 after `release`.
  int descriptor() const { return number; }
  /// Returns the descriptor and passes its ownership to the caller.
  int release();
  /// Returns AF_INET, AF_INET6 or AF_UNIX.
  int family() const { return familyNumber; }
  /// Returns the actual address, including the port.
  const std::string &place() const { return taken; }
  /// Removes the path of a unix socket, so that another process may use it.
  void removePath();

private:
  ListeningSocket(int number, int family)
      : number(number), familyNumber(family) {}
  static Expected<ListeningSocket> openUnix(const Address &address);
  Status listen(const sockaddr *address, unsigned size);

  int number, familyNumber;
  std::string taken, path;
  LockFile claim;
};

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_LISTENINGSOCKET_H
