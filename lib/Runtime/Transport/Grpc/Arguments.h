//===- Arguments.h - gRPC settings of both sides ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_GRPC_ARGUMENTS_H
#define LIB_RUNTIME_TRANSPORT_GRPC_ARGUMENTS_H

#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/GrpcTransport.h"

#include <functional>
#include <string>

namespace pdlrt::grpcimpl {

/// The only method of the service.
inline constexpr const char *methodName = "/pdl.Transport/Call";

/// Returns an address in gRPC's notation.
std::string grpcTarget(const Address &address);

/// Calls `set` with each argument that makes gRPC detect dead peers by pings.
/// Clients and servers use the same arguments, so each side pings the other.
void setKeepAlive(const GrpcOptions &options,
                  const std::function<void(const char *name, int value)> &set);

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_ARGUMENTS_H
