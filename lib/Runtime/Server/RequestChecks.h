//===- RequestChecks.h - Checks of a request by itself ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_REQUESTCHECKS_H
#define LIB_RUNTIME_SERVER_REQUESTCHECKS_H

#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Transport/Frame.h"

#include <cstdint>
#include <string>

namespace pdlrt {

// These checks need no state. Each returns the reason to refuse the request, or
// an empty text.

/// Checks the kind, the sender and the epoch.
std::string headFault(const Envelope &head, const ServerCoreOptions &options);
/// Checks the size of a request. Only requests to the application may be large,
/// and only trainers that have joined may send them.
std::string sizeFault(const Envelope &head, uint64_t size,
                      const ServerCoreOptions &options);
/// Checks a part, or a request with parts.
std::string partsFault(const Frame &frame, const ServerCoreOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_REQUESTCHECKS_H
