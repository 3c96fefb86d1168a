//===- Address.h - Network addresses of processes ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_ADDRESS_H
#define PDLRT_TRANSPORT_ADDRESS_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// A network address: `host:port`, where an IPv6 host is in brackets;
/// `unix:/path`, a socket in the file system; or `unix:@name`, a Linux abstract
/// socket, which needs no file.
struct Address {
  enum class Kind { Tcp, UnixPath, UnixAbstract };
  Kind kind = Kind::Tcp;
  /// Tcp: the host without brackets, and its port.
  std::string host;
  uint16_t port = 0;
  /// Other kinds: the path or the name.
  std::string path;

  /// Returns the text from which it is parsed.
  std::string toString() const;
};

/// Parses an address. The error says which part is invalid. Port 0 is valid: a
/// listener then uses a free port.
Expected<Address> parseAddress(const std::string &text);

/// Checks the addresses of a job's servers or trainers, given by `flag`: each
/// must be valid, and all must differ. The error names the flag.
Status checkAddresses(const char *flag,
                      const std::vector<std::string> &addresses);

/// Returns a message if the host of an address cannot be resolved now, which
/// may change; otherwise "". Blocks during the name lookup.
std::string describeUnknownHost(const std::string &address);

/// The address where a process of a job listens.
struct ListenPlace {
  std::string address;
  /// True if other machines can reach it, and need no token to take part.
  bool isOpenToAll = false;
};

/// Returns the address where process `who`, known to others as `own`, listens:
/// `bind`, unless that is empty. Returns an error if other machines could reach
/// `own` without a token (`hasToken`) and --bind does not allow it.
Expected<ListenPlace> choosePlace(const std::string &who,
                                  const std::string &own,
                                  const std::string &bind, bool hasToken);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_ADDRESS_H
