//===- Transport.cpp - Requests and responses between processes -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/Transport.h"
#include "pdlrt/Core/FileLimit.h"

using namespace pdlrt;

/// Defined in the archive PDLRuntimeGrpc; a program that is linked with
/// `--undefined=pdlrt_create_grpc_transport` takes it in.
extern "C" [[gnu::weak]] Transport *
pdlrt_create_grpc_transport(RealClock *clock);

Responder::Sink::~Sink() = default;
Listener::~Listener() = default;
Connection::~Connection() = default;
Transport::~Transport() = default;

static Expected<std::unique_ptr<Transport>>
createWithFiles(RealClock &clock, uint64_t leastFiles) {
  if (!pdlrt_create_grpc_transport)
    return Status::invalid("this program was linked without gRPC and cannot "
                           "reach other processes: translate the model with a "
                           "mode such as --mode=sync");
  raiseFileLimit();
  PDLRT_RETURN_IF_ERROR(checkFileLimit(leastFiles));
  return std::unique_ptr<Transport>(pdlrt_create_grpc_transport(&clock));
}

// With some files to spare: gRPC ends a process that cannot open what its
// threads are woken with.
Expected<std::unique_ptr<Transport>>
pdlrt::createClusterTransport(RealClock &clock) {
  return createWithFiles(clock, 32);
}

Expected<std::unique_ptr<Transport>>
pdlrt::createBriefTransport(RealClock &clock, size_t peers) {
  return createWithFiles(clock, 16 + peers);
}
