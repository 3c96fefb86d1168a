//===- Transport.cpp - Requests and responses between processes -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/Transport.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/LocalTransport.h"

using namespace pdlrt;

/// Defined in the archive PDLRuntimeGrpc; a program that is linked with
/// `--undefined=pdlrt_create_grpc_transport` takes it in.
extern "C" [[gnu::weak]] Transport *
pdlrt_create_grpc_transport(RealClock *clock);

Responder::Sink::~Sink() = default;
Listener::~Listener() = default;
Connection::~Connection() = default;
Transport::~Transport() = default;

namespace {

/// Unix sockets by frames, all else over gRPC.
class ClusterTransport final : public Transport {
public:
  ClusterTransport(RealClock &clock, std::unique_ptr<Transport> grpc)
      : grpc(std::move(grpc)), local(createLocalTransport(clock)) {}
  Clock &clock() override { return grpc->clock(); }
  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    return of(address).listen(address, std::move(handler));
  }
  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    return of(address).connect(address);
  }

private:
  Transport &of(const std::string &address) {
    const Expected<Address> parsed = parseAddress(address);
    return parsed && parsed->kind != Address::Kind::Tcp ? *local : *grpc;
  }

  const std::unique_ptr<Transport> grpc, local;
};

} // namespace

static Expected<std::unique_ptr<Transport>>
createWithFiles(RealClock &clock, uint64_t leastFiles, bool raisesLimit) {
  if (!pdlrt_create_grpc_transport)
    return Status::invalid("this program was linked without gRPC and cannot "
                           "reach other processes: translate the model with a "
                           "mode such as --mode=sync");
  if (raisesLimit)
    raiseFileLimit();
  PDLRT_RETURN_IF_ERROR(checkFileLimit(leastFiles));
  return std::unique_ptr<Transport>(std::make_unique<ClusterTransport>(
      clock, std::unique_ptr<Transport>(pdlrt_create_grpc_transport(&clock))));
}

// With some files to spare: gRPC ends a process that cannot open what its
// threads are woken with.
Expected<std::unique_ptr<Transport>>
pdlrt::createClusterTransport(RealClock &clock) {
  return createWithFiles(clock, 32, /*raisesLimit=*/true);
}

Expected<std::unique_ptr<Transport>>
pdlrt::createBriefTransport(RealClock &clock, size_t peers) {
  return createWithFiles(clock, 16 + peers, /*raisesLimit=*/true);
}

Expected<std::unique_ptr<Transport>>
pdlrt::createReaderTransport(RealClock &clock, size_t peers) {
  if (pdlrt_create_grpc_transport)
    return createWithFiles(clock, 16 + peers, /*raisesLimit=*/false);
  PDLRT_RETURN_IF_ERROR(checkFileLimit(16 + peers));
  return createLocalTransport(clock);
}
