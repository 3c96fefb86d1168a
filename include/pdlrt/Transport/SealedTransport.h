//===- SealedTransport.h - Authenticated connections ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Authenticates processes, over any transport (docs/Protocol.md,
// "Authentication"). Connection and listener prove to each other, by challenge
// and response, that they know the token. The token itself is never sent. Both
// sides derive a key from it. Each request and response has a keyed digest of
// its header.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_SEALEDTRANSPORT_H
#define PDLRT_TRANSPORT_SEALEDTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pdlrt {

/// The rights that a process has at a listener.
enum class PeerRole : uint8_t {
  /// May take part in the job.
  Member = 1,
  /// May only read values (`isOfReaders`).
  Reader = 2,
};

/// The secrets of a process.
struct Credentials {
  /// Role of the connections of this process.
  PeerRole role = PeerRole::Member;
  /// The token for `role`. If it is empty, the job has no token, and each
  /// process that can reach an address may take part in the job.
  std::string token;
  /// The token of readers, for listeners. If nullopt, readers are rejected; if
  /// empty, they need no token.
  std::optional<std::string> readerToken = "";
};

/// Returns the credentials of servers. `token` is the token of the job; empty:
/// none. `readerToken` is the token of readers; nullopt if the flag was not
/// given. In a job with a token, servers accept readers only if there is a
/// token of readers.
Credentials serverCredentials(const std::string &token,
                              const std::optional<std::string> &readerToken);

/// Creates a transport over `inner`. Its connections authenticate themselves
/// before their first call, and its listeners accept requests only from
/// authenticated connections. If a listener rejects a connection, the response
/// to each call is the refusal, with the header of the request.
std::unique_ptr<Transport>
createSealedTransport(std::unique_ptr<Transport> inner,
                      const Credentials &credentials);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_SEALEDTRANSPORT_H
