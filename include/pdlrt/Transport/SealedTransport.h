//===- SealedTransport.h - Connections that know the secret -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Authentication of processes, over any transport (docs/Protocol.md, "Who may
// speak"). A connection proves by challenge and response that it knows the
// token, and the listener proves the same. The token itself never travels. Both
// then derive a key, and each request and response carries a keyed digest over
// its head.
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

/// What a process may do at a listener.
enum class PeerRole : uint8_t {
  /// Take part in the job.
  Member = 1,
  /// Read values (`isOfReaders`), and nothing else.
  Reader = 2,
};

/// What a process knows.
struct Credentials {
  /// What its connections are.
  PeerRole role = PeerRole::Member;
  /// The secret of that role; empty: the job has none, and everybody who
  /// reaches an address may take part.
  std::string token;
  /// Of listeners: the secret of readers. Absent: readers are refused.
  std::optional<std::string> readerToken = "";
};

/// Returns what servers of a job with `token` (empty: none) know, whose readers
/// have `readerToken` (absent: no flag was given). A job with a token takes no
/// readers without one of their own.
Credentials serverCredentials(const std::string &token,
                              const std::optional<std::string> &readerToken);

/// A transport over `inner`: its connections authenticate themselves before
/// their first call, and its listeners take requests of authenticated
/// connections only. A call over a connection that the listener refuses is
/// answered with that refusal, under the head of the request.
std::unique_ptr<Transport>
createSealedTransport(std::unique_ptr<Transport> inner,
                      const Credentials &credentials);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_SEALEDTRANSPORT_H
