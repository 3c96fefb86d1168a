//===- Listener.h - Server side of gRPC -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_GRPC_LISTENER_H
#define LIB_RUNTIME_TRANSPORT_GRPC_LISTENER_H

#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/GrpcTransport.h"

#include <memory>

namespace pdlrt::grpcimpl {

Expected<std::unique_ptr<Listener>> createListener(const GrpcOptions &options,
                                                   Address address,
                                                   RequestHandler handler);

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_LISTENER_H
