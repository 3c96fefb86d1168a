//===- LocalTransport.h - Transport over unix sockets -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frames over unix sockets, for processes on one host. One thread waits for all
// connections of a transport, and one for each listener. A calling or answering
// thread itself sends the bytes that the system accepts at once.
// docs/Protocol.md, "Over unix sockets", describes the format.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_LOCALTRANSPORT_H
#define PDLRT_TRANSPORT_LOCALTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <memory>

namespace pdlrt {

struct LocalOptions {
  /// Maximum size of an accepted message, in bytes. At most 64 MiB are
  /// allocated for a message before its bytes arrive.
  uint64_t largestMessage = uint64_t(16) << 30;
};

/// Creates a transport over unix sockets, for all addresses of Address.h except
/// TCP. `clock` must outlive the transport.
///
/// - Slices are sent by reference, and released when the system has taken their
///   bytes. Slices without an owner that have not been sent when their call
///   ends are copied then.
/// - Handlers and completion callbacks must return quickly: they run in the
///   thread that waits for the network.
/// - If no process listens, calls end as Unavailable at once, and each call
///   tries to connect.
/// - Messages of one connection are sent one after the other, so a long one
///   delays those after it.
std::unique_ptr<Transport>
createLocalTransport(RealClock &clock, const LocalOptions &options = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_LOCALTRANSPORT_H
