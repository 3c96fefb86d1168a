//===- LoopbackTransport.h - Calls within a process -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests of a process to its own server need no socket.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_LOOPBACKTRANSPORT_H
#define PDLRT_TRANSPORT_LOOPBACKTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <map>
#include <memory>
#include <string>

namespace pdlrt {

/// Creates a transport over `inner`, which must outlive it. It listens like
/// `inner`. Calls to an address where it listens itself do not leave the
/// process; all others use `inner`. The path is chosen at each call, so a
/// connection may exist before its listener.
///
/// `aliases`: maps an address under which this process is known to the one
/// where it listens, such as `10.0.0.5:7101` to `0.0.0.0:7101`.
///
/// Messages of calls within the process share their bytes. Memory without an
/// owner must stay unchanged until the listener has released the request, even
/// if the call's deadline has ended it before.
std::unique_ptr<Transport>
createLoopbackTransport(Transport &inner,
                        std::map<std::string, std::string> aliases = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_LOOPBACKTRANSPORT_H
