//===- Arguments.h - Settings of both ends ----------------------*- C++ -*-===//
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

/// The only method there is.
inline constexpr const char *methodName = "/pdl.Transport/Call";

/// How gRPC spells an address.
std::string grpcTarget(const Address &address);

/// Passes the arguments that find dead peers; either end asks the other one.
void setKeepAlive(const GrpcOptions &options,
                  const std::function<void(const char *name, int value)> &set);

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_ARGUMENTS_H
