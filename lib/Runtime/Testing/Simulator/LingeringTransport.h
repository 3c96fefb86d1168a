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

/// A transport over `inner`, which outlives it: when a connection is closed its
/// calls end, but what it sent stays on its way and may come later, as from a
/// process that has died. Not thread-safe.
std::unique_ptr<Transport> createLingeringTransport(Transport &inner);

} // namespace pdlrt

#endif // LIB_RUNTIME_TESTING_SIMULATOR_LINGERINGTRANSPORT_H
