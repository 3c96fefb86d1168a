//===- SealedTransport.h - Authenticated connections ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Authentication of processes, over any transport (docs/Protocol.md,
// "Authentication"). A connection proves by challenge and response that it
// knows the token, and so does the listener. The token itself is never sent.
// Both then derive a key, and each request and response has a keyed digest of
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

/// The rights of a process at a listener.
enum class PeerRole : uint8_t {
  /// May take part in the job.
  Member = 1,
  /// May only read values (`isOfReaders`).
  Reader = 2,
};

/// The secrets of a process.
struct Credentials {
  /// Role of its connections.
  PeerRole role = PeerRole::Member;
  /// The token of that role. If empty, the job has no token, and every process
  /// that reaches an address may take part.
  std::string token;
  /// Listeners: the token of readers. If absent, readers are rejected.
  std::optional<std::string> readerToken = "";
};

/// Returns the credentials of servers of a job with `token` (empty: none),
/// whose readers have `readerToken` (absent: the flag was not given). A job
/// with a token accepts readers only if they have their own token.
Credentials serverCredentials(const std::string &token,
                              const std::optional<std::string> &readerToken);

/// Creates a transport over `inner` whose connections authenticate themselves
/// before their first call, and whose listeners accept requests only from
/// authenticated connections. If the listener rejects a connection, its calls
/// get that refusal as response, with the header of the request.
std::unique_ptr<Transport>
createSealedTransport(std::unique_ptr<Transport> inner,
                      const Credentials &credentials);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_SEALEDTRANSPORT_H
