//===- CutTransport.h - A network that is away at times ---------*- C++ -*-===//
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

/// The client's end of a transport over `inner`, which outlives it: requests
/// that are sent, and responses that come, while `isCut` are lost; their calls
/// end by their deadlines. Not thread-safe.
std::unique_ptr<Transport>
createCutTransport(Transport &inner, std::function<bool(ClockTime now)> isCut);

} // namespace pdlrt

#endif // LIB_RUNTIME_TESTING_SIMULATOR_CUTTRANSPORT_H
