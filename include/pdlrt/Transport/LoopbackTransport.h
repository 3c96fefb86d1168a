//===- LoopbackTransport.h - Own addresses within the process ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a process is a server of its own requests, these need no socket.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_LOOPBACKTRANSPORT_H
#define PDLRT_TRANSPORT_LOOPBACKTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <map>
#include <memory>
#include <string>

namespace pdlrt {

/// A transport over `inner`, which outlives it: it listens as `inner` does, and
/// calls to an address at which it listens itself do not leave the process;
/// all others go through `inner`. A call finds its way when it is made, so a
/// connection may be there before its listener.
///
/// `aliases`: under which other address a process is known that listens at one,
/// such as `0.0.0.0:7101` for `10.0.0.5:7101`: by the known address, where it
/// listens.
///
/// Messages of calls within the process share their bytes: memory without an
/// owner must stay as it is until the listener has let the request go, even
/// where the call has ended before, by its deadline.
std::unique_ptr<Transport>
createLoopbackTransport(Transport &inner,
                        std::map<std::string, std::string> aliases = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_LOOPBACKTRANSPORT_H
