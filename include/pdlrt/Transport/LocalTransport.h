//===- LocalTransport.h - Transport over unix sockets -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The transport for processes on one host, over unix sockets. One thread waits
// for all connections of a transport, and one more for each listener. The
// thread that calls or responds sends as many bytes as the system accepts
// without waiting. docs/Protocol.md, "Over unix sockets", describes the format.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_LOCALTRANSPORT_H
#define PDLRT_TRANSPORT_LOCALTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <memory>

namespace pdlrt {

struct LocalOptions {
  /// Maximum size of an accepted message, in bytes. Before its bytes have
  /// arrived, at most 64 MiB are allocated for a message.
  uint64_t largestMessage = uint64_t(16) << 30;
};

/// Creates a transport over unix sockets, for all addresses of Address.h except
/// TCP. `clock` must outlive the transport.
///
/// - Slices are sent by reference, and released when the system has taken their
///   bytes. If a call ends before its slices without an owner were sent, their
///   bytes are copied at that time.
/// - Handlers and completion callbacks run on the thread that waits for the
///   network, so they must return quickly.
/// - If no process listens, calls end as Unavailable immediately. Each call
///   tries to connect again.
/// - Messages of one connection are sent one after the other, so a long message
///   delays the following ones.
std::unique_ptr<Transport>
createLocalTransport(RealClock &clock, const LocalOptions &options = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_LOCALTRANSPORT_H
