//===- LocalListener.h - Server side of unix sockets ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_LOCAL_LOCALLISTENER_H
#define LIB_RUNTIME_TRANSPORT_LOCAL_LOCALLISTENER_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/LocalTransport.h"

#include <memory>

namespace pdlrt::localimpl {

/// Creates a listener at a unix socket. `clock` must outlive it.
Expected<std::unique_ptr<Listener>> createListener(RealClock &clock,
                                                   const LocalOptions &options,
                                                   const Address &address,
                                                   RequestHandler handler);

} // namespace pdlrt::localimpl

#endif // LIB_RUNTIME_TRANSPORT_LOCAL_LOCALLISTENER_H
