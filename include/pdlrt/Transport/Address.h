//===- Address.h - Where a process is reached -------------------*- C++ -*-===//
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

/// A place in a network: `host:port`, where an IPv6 host stands in brackets;
/// `unix:/path`, a socket in the file system; or `unix:@name`, a socket of
/// Linux's abstract names, which leaves no file behind.
struct Address {
  enum class Kind { Tcp, UnixPath, UnixAbstract };
  Kind kind = Kind::Tcp;
  /// Of Tcp: the host without brackets, and its port.
  std::string host;
  uint16_t port = 0;
  /// Of the others: the path or the name.
  std::string path;

  /// The text that it is parsed from.
  std::string toString() const;
};

/// Reads an address; the error says which part is wrong. Port 0 is an address:
/// a listener there takes a free port.
Expected<Address> parseAddress(const std::string &text);

/// Checks the addresses of a job's servers or trainers, the value of `flag`:
/// each can be parsed, and no two are the same. The error names the flag.
Status checkAddresses(const char *flag,
                      const std::vector<std::string> &addresses);

/// Returns a message if the host of an address cannot be resolved now, which
/// may change; an empty text otherwise. Blocks while the name service is asked.
std::string describeUnknownHost(const std::string &address);

/// Where a process of a job listens.
struct ListenPlace {
  std::string address;
  /// Other machines reach it, and need no secret to take part.
  bool isOpenToAll = false;
};

/// Where process `who` listens, which others know by `own`: at `bind`, unless
/// that is empty. An error where other machines would reach `own` without a
/// secret (`hasToken`) and nobody has said so with --bind.
Expected<ListenPlace> choosePlace(const std::string &who,
                                  const std::string &own,
                                  const std::string &bind, bool hasToken);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_ADDRESS_H
