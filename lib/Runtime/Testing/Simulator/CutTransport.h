//===- CutTransport.h - Network with interruptions --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TESTING_SIMULATOR_CUTTRANSPORT_H
#define LIB_RUNTIME_TESTING_SIMULATOR_CUTTRANSPORT_H

#include "pdlrt/Transport/Transport.h"

#include <functional>
#include <memory>

namespace pdlrt {

/// Creates a transport for a client whose network can be cut. While `isCut`
/// returns true, requests and responses are lost, and their calls end at their
/// deadlines. `inner` must outlive the transport. Not thread-safe.
std::unique_ptr<Transport>
createCutTransport(Transport &inner, std::function<bool(ClockTime now)> isCut);

} // namespace pdlrt

#endif // LIB_RUNTIME_TESTING_SIMULATOR_CUTTRANSPORT_H
