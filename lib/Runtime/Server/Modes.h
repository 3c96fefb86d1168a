//===- Modes.h - The servers of each mode -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_MODES_H
#define LIB_RUNTIME_SERVER_MODES_H

#include "pdlrt/Server/StateServer.h"

namespace pdlrt {

// `createStateServer` prepares what these return.

/// Sums over all trainers, then applies.
std::unique_ptr<StateServer> createSyncServer(const ServerSetup &setup);
/// Sums over those that came first, then applies.
std::unique_ptr<StateServer> createQuorumServer(const ServerSetup &setup);
/// Applies each push by itself.
std::unique_ptr<StateServer> createAsyncServer(const ServerSetup &setup);
/// Adds what trainers have changed.
std::unique_ptr<StateServer> createGeoServer(const ServerSetup &setup);

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_MODES_H
