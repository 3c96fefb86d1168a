//===- BindCheck.h - Checks before and after binding ------------*- C++ -*-===//
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

/// Locks a unix socket's path, so that if two processes find a stale socket,
/// only one replaces it. The lock is a file next to the socket, `<path>.lock`.
/// Other kinds of addresses need no lock. Returns an error if another process
/// has the lock, if another process listens there anyway (a new listener would
/// replace its socket), or if a different file has this path. Sockets of ended
/// processes are ignored.
Expected<LockFile> claimPath(const Address &address);

/// Returns the error for an address where listening has failed. Finds the
/// reason by trying again.
Status whyNotBound(const Address &address);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_BINDCHECK_H
