//===- Address.cpp - Network addresses of processes -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/Address.h"

#include <charconv>
#include <netdb.h>
#include <set>
#include <sys/un.h>

using namespace pdlrt;

/// Maximum length of a unix address. The system adds a zero byte before or
/// after it.
static constexpr size_t longestPath = sizeof(sockaddr_un::sun_path) - 1;

static Status malformed(const std::string &text, const std::string &why) {
  return Status::invalidArgument(
      "'" + text + "' is no address: " + why +
      "; write host:port, [ipv6]:port, unix:/path or "
      "unix:@name");
}

static Expected<Address> parseUnix(const std::string &text) {
  Address address;
  address.kind = Address::Kind::UnixPath;
  address.path = text.substr(std::string("unix:").size());
  if (!address.path.empty() && address.path.front() == '@') {
    address.kind = Address::Kind::UnixAbstract;
    address.path.erase(0, 1);
  }
  if (address.path.empty())
    return malformed(text, "the name of the socket is empty");
  if (address.path.find('\0') != std::string::npos)
    return malformed(text, "the name of the socket holds a zero byte");
  if (address.path.size() > longestPath)
    return malformed(text, "the name of the socket has " +
                               std::to_string(address.path.size()) +
                               " bytes, and the system takes " +
                               std::to_string(longestPath));
  return address;
}

Expected<Address> pdlrt::parseAddress(const std::string &text) {
  if (text.starts_with("unix:"))
    return parseUnix(text);
  if (text.find("://") != std::string::npos)
    return malformed(text, "a scheme such as http:// is no part of it");
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    return malformed(text, "it has no port");
  Address address;
  address.host = text.substr(0, colon);
  const bool bracketed = address.host.size() > 2 &&
                         address.host.front() == '[' &&
                         address.host.back() == ']';
  if (bracketed)
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host.empty())
    return malformed(text, "it has no host");
  if (!bracketed && address.host.find(':') != std::string::npos)
    return malformed(text, "an IPv6 host stands in brackets");
  if (address.host.find_first_of("/[]@ \t\r\n,%\\") != std::string::npos ||
      address.host.find('\0') != std::string::npos)
    return malformed(text, "the host holds a character that no host has");
  const char *begin = text.data() + colon + 1;
  const char *end = text.data() + text.size();
  const auto [last, code] = std::from_chars(begin, end, address.port);
  if (begin == end || last != end || code != std::errc())
    return malformed(text, "the port is no number from 0 to 65535");
  return address;
}

Status pdlrt::checkAddresses(const char *flag,
                             const std::vector<std::string> &addresses) {
  std::set<std::string> known;
  for (const std::string &text : addresses) {
    Expected<Address> address = parseAddress(text);
    if (!address)
      return std::move(address).status().withContext(flag);
    if (!known.insert(address->toString()).second)
      return Status::invalidArgument(
          std::string(flag) + " names " + text +
          " twice; each process has its own address");
  }
  return {};
}

std::string pdlrt::describeUnknownHost(const std::string &text) {
  const Expected<Address> address = parseAddress(text);
  if (!address || address->kind != Address::Kind::Tcp)
    return {};
  addrinfo *found = nullptr;
  const int code = getaddrinfo(address->host.c_str(), nullptr, nullptr, &found);
  if (code != 0)
    return "host '" + address->host + "' of " + text + " cannot be resolved (" +
           gai_strerror(code) + ")";
  freeaddrinfo(found);
  return {};
}

/// Returns true if only processes of this machine can reach an address.
static bool isLocal(const Address &address) {
  return address.kind != Address::Kind::Tcp || address.host == "localhost" ||
         address.host == "::1" || address.host.rfind("127.", 0) == 0;
}

Expected<ListenPlace> pdlrt::choosePlace(const std::string &who,
                                         const std::string &own,
                                         const std::string &bind,
                                         bool hasToken) {
  ListenPlace place{bind.empty() ? own : bind};
  Expected<Address> address = parseAddress(place.address);
  if (!address)
    return std::move(address).status().withContext("--bind");
  place.isOpenToAll = !isLocal(*address) && !hasToken;
  if (bind.empty() && place.isOpenToAll)
    return Status::invalidArgument(
        who + " would listen at " + place.address +
        ", which other machines may reach; give all processes of the job a "
        "secret with --token-file, or say --bind " +
        place.address + " if everybody who reaches it may take part");
  return place;
}

std::string Address::toString() const {
  switch (kind) {
  case Kind::UnixPath:
    return "unix:" + path;
  case Kind::UnixAbstract:
    return "unix:@" + path;
  case Kind::Tcp:
    break;
  }
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}
