//===- BindCheck.h - Whether an address can be listened at ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_BINDCHECK_H
#define PDLRT_TRANSPORT_BINDCHECK_H

#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Address.h"

namespace pdlrt {

/// The right to listen at a unix socket's path, which one process has at a
/// time, so that of two that find a stale socket one replaces it: a file beside
/// the socket, `<path>.lock`. Addresses of other kinds need none. An error
/// where another process has it, where somebody listens there nevertheless,
/// which a listener would take away, or where a file is in the way. Sockets
/// that dead processes have left are no obstacle.
Expected<LockFile> claimPath(const Address &address);

/// The error of an address where listening has failed: why, found out by
/// trying.
Status whyNotBound(const Address &address);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_BINDCHECK_H
