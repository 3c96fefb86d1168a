//===- LocalTransport.h - Processes of one host, unix sockets ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frames over unix sockets, for processes of one host. One thread waits for all
// connections of a transport, and one for each listener; who calls or answers
// sends by itself what the system takes at once. Its bytes on the wire are
// those of docs/Protocol.md, "Over unix sockets".
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_LOCALTRANSPORT_H
#define PDLRT_TRANSPORT_LOCALTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <memory>

namespace pdlrt {

struct LocalOptions {
  /// The largest message that is taken, in bytes. No more than 64 MiB of it are
  /// allocated before they arrive.
  uint64_t largestMessage = uint64_t(16) << 30;
};

/// A transport over unix sockets; addresses are the others of Address.h than
/// TCP's. `clock` outlives it.
///
/// - Slices travel by reference, and are let go when the system has taken their
///   bytes. Those without an owner that have not left when their call ends are
///   copied then.
/// - Handlers and ends of calls take moments: they run in the thread that waits
///   for the network.
/// - While nobody listens, calls end as Unavailable at once, and each call
///   tries to connect.
/// - Messages of one connection follow each other, so that a long one keeps
///   those behind it waiting.
std::unique_ptr<Transport>
createLocalTransport(RealClock &clock, const LocalOptions &options = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_LOCALTRANSPORT_H
