//===- LingeringTransport.h - Messages that outlive a sender ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TESTING_SIMULATOR_LINGERINGTRANSPORT_H
#define LIB_RUNTIME_TESTING_SIMULATOR_LINGERINGTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <memory>

namespace pdlrt {

/// Creates a transport over `inner`, which must outlive it. When a connection
/// is closed, its calls end, but its messages stay in flight and may arrive
/// later, like those of a dead process. Not thread-safe.
std::unique_ptr<Transport> createLingeringTransport(Transport &inner);

} // namespace pdlrt

#endif // LIB_RUNTIME_TESTING_SIMULATOR_LINGERINGTRANSPORT_H
