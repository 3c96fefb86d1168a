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

/// Locks the path of a unix socket, so that only one process replaces the
/// socket of a process that has ended. The lock is the file `<path>.lock` next
/// to the socket. For other kinds of addresses, returns an object without a
/// lock. Returns an error if another process has the lock, if another process
/// listens at the path without a lock, or if the path is a file that is not a
/// socket.
Expected<LockFile> claimPath(const Address &address);

/// Returns an error with the reason why a process cannot listen at `address`.
/// Finds the reason by trying again.
Status whyNotBound(const Address &address);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_BINDCHECK_H
