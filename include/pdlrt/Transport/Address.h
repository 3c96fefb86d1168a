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

/// A network address in one of three forms. `host:port`: TCP; an IPv6 host is
/// in brackets. `unix:/path`: a socket in the file system. `unix:@name`: a
/// Linux abstract socket, which needs no file.
struct Address {
  enum class Kind { Tcp, UnixPath, UnixAbstract };
  Kind kind = Kind::Tcp;
  /// Tcp: the host without brackets, and the port.
  std::string host;
  uint16_t port = 0;
  /// Other kinds: the path or the name.
  std::string path;

  /// Returns the address as text, which `parseAddress` accepts.
  std::string toString() const;
};

/// Parses an address. An error message names the part that is invalid. Port 0
/// is valid; a listener then uses a free port.
Expected<Address> parseAddress(const std::string &text);

/// Checks the addresses of a job's servers or trainers, which flag `flag` has
/// set. Returns an error with the flag's name if one is invalid, or if two are
/// equal.
Status checkAddresses(const char *flag,
                      const std::vector<std::string> &addresses);

/// Returns a message if the host name of an address cannot be resolved now; it
/// may be resolved later. Otherwise returns an empty text. Blocks during the
/// name lookup.
std::string describeUnknownHost(const std::string &address);

/// The address where a process of a job listens.
struct ListenPlace {
  std::string address;
  /// True if other machines can reach the address, and need no token to take
  /// part in the job.
  bool isOpenToAll = false;
};

/// Returns the address where process `who` listens. It is `bind` (flag --bind),
/// or if `bind` is empty, `own`, the address by which other processes know it.
/// Returns an error if `hasToken` is false and other machines can reach `own`,
/// unless `bind` allows it.
Expected<ListenPlace> choosePlace(const std::string &who,
                                  const std::string &own,
                                  const std::string &bind, bool hasToken);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_ADDRESS_H
