//===- GrpcTransport.h - Transport over gRPC --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The transport for clusters. It has its own archive (PDLRuntimeGrpc), so that
// programs without a cluster do not link gRPC.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_GRPCTRANSPORT_H
#define PDLRT_TRANSPORT_GRPCTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <cstdint>

namespace pdlrt {

struct GrpcOptions {
  /// Number of threads that wait for the network: for each listener, and for
  /// all connections together. At least 2, because one thread always stays free
  /// of handlers and completion callbacks. A slow handler therefore delays only
  /// other handlers and callbacks.
  unsigned threads = 2;
  /// Maximum size of an accepted message, in bytes. No memory is allocated for
  /// a message before its bytes arrive, whatever size it claims.
  uint64_t largestMessage = uint64_t(16) << 30;
  /// If nothing arrives on a connection for `keepAliveInterval`, a ping is
  /// sent. If there is no reply within `keepAliveTimeout`, the connection is
  /// lost.
  ClockTime keepAliveInterval = std::chrono::seconds(5);
  ClockTime keepAliveTimeout = std::chrono::seconds(10);
};

/// Creates a transport over gRPC. Addresses are those of Address.h. A listener
/// at port 0 uses a free port, which its address() returns. `clock` must
/// outlive the transport.
///
/// - Slices with an owner are sent by reference, except small ones. Their owner
///   is released, by any thread, when gRPC no longer reads them, possibly after
///   the end of the call. Slices without an owner are copied.
/// - Messages of more than 64 MiB are sent in chunks; only `largestMessage`
///   limits them.
/// - If no process listens, calls end as Unavailable at once. The connection is
///   retried after pauses that grow to 1 s. Calls during an attempt wait for
///   it, up to their deadline.
/// - Each call is sent once: gRPC's own retries and proxies from the
///   environment are off.
std::unique_ptr<Transport> createGrpcTransport(RealClock &clock,
                                               const GrpcOptions &options = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_GRPCTRANSPORT_H
