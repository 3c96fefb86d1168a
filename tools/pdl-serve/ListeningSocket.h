//===- ListeningSocket.h - A socket that listens -------------- -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_LISTENINGSOCKET_H
#define PDLSERVE_LISTENINGSOCKET_H

#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Address.h"

#include <string>
#include <sys/socket.h>
#include <vector>

namespace pdlserve {

/// A socket that listens at an address. The destructor closes it, and removes
/// the path of a unix socket.
class ListeningSocket {
public:
  /// Listens at HOST:PORT (port 0: a free one) or unix:PATH. A name that has
  /// several addresses comes to several sockets.
  static pdlrt::Expected<std::vector<ListeningSocket>>
  open(const std::string &address);
  ListeningSocket(ListeningSocket &&other) noexcept;
  ListeningSocket &operator=(ListeningSocket &&) = delete;
  ~ListeningSocket();

  /// The descriptor; -1 after `release`.
  int descriptor() const { return number; }
  /// Leaves the descriptor to the caller.
  int release();
  /// AF_INET, AF_INET6 or AF_UNIX.
  int family() const { return familyNumber; }
  /// The address that was taken, with the port.
  const std::string &place() const { return taken; }
  /// Removes the path of a unix socket, which another process may take then.
  void removePath();

private:
  ListeningSocket(int number, int family)
      : number(number), familyNumber(family) {}
  static pdlrt::Expected<ListeningSocket>
  openUnix(const pdlrt::Address &address);
  pdlrt::Status listen(const sockaddr *address, unsigned size);

  int number, familyNumber;
  std::string taken, path;
  pdlrt::LockFile claim;
};

} // namespace pdlserve

#endif // PDLSERVE_LISTENINGSOCKET_H
