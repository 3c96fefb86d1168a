//===- LoopbackTransport.h - Calls within a process -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Delivers requests of a process to its own listener without a socket. In modes
// in which trainers own state, each trainer sends requests to itself.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_LOOPBACKTRANSPORT_H
#define PDLRT_TRANSPORT_LOOPBACKTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <map>
#include <memory>
#include <string>

namespace pdlrt {

/// Creates a transport that listens like `inner`. Calls to an address where
/// this transport itself listens do not leave the process; all other calls use
/// `inner`. This is decided for each call, so a connection may be created
/// before its listener. `inner` must outlive the transport.
///
/// `aliases` maps an address by which other processes know this one to the
/// address where it listens, such as `10.0.0.5:7101` to `0.0.0.0:7101`.
///
/// In calls within the process, requests and responses are not copied. Memory
/// without an owner must stay unchanged until the handler has released the
/// request, even if the call has ended at its deadline before.
std::unique_ptr<Transport>
createLoopbackTransport(Transport &inner,
                        std::map<std::string, std::string> aliases = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_LOOPBACKTRANSPORT_H
