//===- GrpcTransport.h - Transport over gRPC --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The transport for clusters. It is in a library of its own (PDLRuntimeGrpc),
// so that programs for one host do not link gRPC.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_GRPCTRANSPORT_H
#define PDLRT_TRANSPORT_GRPCTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <cstdint>

namespace pdlrt {

struct GrpcOptions {
  /// Number of threads that wait for the network. Each listener has this number
  /// of threads, and all connections together have it too. At least 2, because
  /// one thread never runs handlers and completion callbacks. So a slow handler
  /// delays only other handlers and callbacks.
  unsigned threads = 2;
  /// Maximum size of an accepted message, in bytes. Memory for a message is
  /// allocated when its bytes arrive, not for the size in its header.
  uint64_t largestMessage = uint64_t(16) << 30;
  /// If nothing arrives on a connection for `keepAliveInterval`, a ping is
  /// sent. If there is no reply within `keepAliveTimeout`, the connection
  /// counts as lost.
  ClockTime keepAliveInterval = std::chrono::seconds(5);
  ClockTime keepAliveTimeout = std::chrono::seconds(10);
};

/// Creates a transport over gRPC. Addresses are those of Address.h. A listener
/// at port 0 uses a free port, which its address() returns. `clock` must
/// outlive the transport.
///
/// - Slices with an owner are sent by reference, except small ones, which are
///   copied. The owner is released, on any thread, when gRPC no longer reads
///   the slice; this may be after the end of the call. Slices without an owner
///   are copied.
/// - Messages of more than 64 MiB are sent in chunks, so only `largestMessage`
///   limits the size of a message.
/// - If no process listens, calls end as Unavailable immediately. The transport
///   tries to connect again, after pauses that grow to 1 s. A call during such
///   an attempt waits for its result, up to the deadline of the call.
/// - Each call is sent once: the retries of gRPC are off. Proxies in the
///   environment are ignored.
std::unique_ptr<Transport> createGrpcTransport(RealClock &clock,
                                               const GrpcOptions &options = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_GRPCTRANSPORT_H
