//===- Arguments.cpp - gRPC settings of both sides ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Grpc/Arguments.h"

#include <algorithm>
#include <grpc/grpc.h>
#include <limits>

using namespace pdlrt;

std::string grpcimpl::grpcTarget(const Address &address) {
  if (address.kind == Address::Kind::UnixAbstract)
    return "unix-abstract:" + address.path;
  return address.toString();
}

static int milliseconds(ClockTime time) {
  const auto count =
      std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return static_cast<int>(
      std::clamp<int64_t>(count, 1, std::numeric_limits<int>::max()));
}

void grpcimpl::setKeepAlive(
    const GrpcOptions &options,
    const std::function<void(const char *name, int value)> &set) {
  const int interval = milliseconds(options.keepAliveInterval);
  set(GRPC_ARG_KEEPALIVE_TIME_MS, interval);
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(options.keepAliveTimeout));
  // Pings are sent also while no call is open, and their rate is not limited,
  // because PDL controls both sides.
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  set(GRPC_ARG_HTTP2_MIN_SENT_PING_INTERVAL_WITHOUT_DATA_MS, interval);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1);
  set(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}
