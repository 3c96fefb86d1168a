//===- GrpcTransport.h - Processes over gRPC --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The transport of real clusters. It is in an archive of its own
// (PDLRuntimeGrpc), so that a program without a cluster needs none of gRPC.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_GRPCTRANSPORT_H
#define PDLRT_TRANSPORT_GRPCTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <cstdint>

namespace pdlrt {

struct GrpcOptions {
  /// Threads that wait for the network: of each listener, and of all
  /// connections together. At least 2: one of them never runs handlers and
  /// ends of calls while these last, so that a long one stops nothing but its
  /// like.
  unsigned threads = 2;
  /// The largest message that is taken, in bytes. Nothing is allocated for a
  /// message before its bytes arrive, whatever size it claims.
  uint64_t largestMessage = uint64_t(16) << 30;
  /// A connection on which nothing comes for `keepAliveInterval` is asked for a
  /// sign of life, and is lost when there is none within `keepAliveTimeout`.
  ClockTime keepAliveInterval = std::chrono::seconds(5);
  ClockTime keepAliveTimeout = std::chrono::seconds(10);
};

/// A transport over gRPC. Addresses are those of Address.h; a listener at port
/// 0 takes a free port, which its address() tells. `clock` outlives it.
///
/// - Slices with an owner travel by reference, small ones excepted; their owner
///   is let go, by any thread, when gRPC no longer reads them, which may be
///   after the end of the call. Slices without an owner are copied.
/// - Messages of more than 64 MiB travel in chunks; there is no limit but
///   `largestMessage`.
/// - While nobody listens, calls end as Unavailable at once; the connection is
///   tried again after pauses that grow to 1 s. Calls that come while it is
///   tried wait for it, up to their deadline.
/// - A call of a connection is sent once: gRPC's own retries and proxies of
///   the environment are off.
std::unique_ptr<Transport> createGrpcTransport(RealClock &clock,
                                               const GrpcOptions &options = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_GRPCTRANSPORT_H
