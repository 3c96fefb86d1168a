//===- Transport.cpp - Requests and responses -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/Transport.h"
#include "pdlrt/Core/CompanionLibrary.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/LocalTransport.h"

#include <string>
#include <utility>

using namespace pdlrt;

/// Creates the gRPC transport. Null unless the program was linked with the
/// option `--undefined=pdlrt_create_grpc_transport`, which includes the archive
/// PDLRuntimeGrpc.
extern "C" [[gnu::weak]] Transport *
pdlrt_create_grpc_transport(RealClock *clock);

/// Name of a library with the same function. It must be in the folder of the
/// library that contains this file.
static constexpr const char *grpcLibraryName = "libpdl-grpc.so.1";

Responder::Sink::~Sink() = default;
Listener::~Listener() = default;
Connection::~Connection() = default;
Transport::~Transport() = default;

namespace {

/// Transport that uses frames for unix sockets, and gRPC for other addresses.
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

static Expected<std::unique_ptr<Transport>> createWithFiles(RealClock &clock,
                                                            uint64_t minFiles) {
  if (!pdlrt_create_grpc_transport)
    return Status::failedPrecondition(
        "this program was linked without gRPC and cannot "
        "reach other processes: translate the model with a "
        "mode such as --mode=sync");
  raiseFileLimit();
  PDLRT_RETURN_IF_ERROR(checkFileLimit(minFiles));
  return std::unique_ptr<Transport>(std::make_unique<ClusterTransport>(
      clock, std::unique_ptr<Transport>(pdlrt_create_grpc_transport(&clock))));
}

// Requires some spare file descriptors, because gRPC ends a process that cannot
// open the descriptors with which it wakes its threads.
Expected<std::unique_ptr<Transport>>
pdlrt::createClusterTransport(RealClock &clock) {
  return createWithFiles(clock, 32);
}

Expected<std::unique_ptr<Transport>>
pdlrt::createBriefTransport(RealClock &clock, size_t peers) {
  return createWithFiles(clock, 16 + peers);
}

//===----------------------------------------------------------------------===//
// For libraries
//===----------------------------------------------------------------------===//

using CreateTransport = Transport *(*)(RealClock *);

static Expected<CreateTransport> findGrpcLibrary() {
  const Expected<void *> found =
      findInCompanion(grpcLibraryName, "pdlrt_create_grpc_transport");
  if (!found)
    return Status::notFound(
        std::string("addresses that are no unix sockets need ") +
        grpcLibraryName +
        " next to the library, where pdl-translate has put it, and gRPC's "
        "libraries (Debian: libgrpc++1.51): " +
        found.status().message());
  return reinterpret_cast<CreateTransport>(*found);
}

namespace {

/// Transport for readers. Unix sockets are used directly. For other addresses,
/// the gRPC library is loaded at the first use.
class ReaderTransport final : public Transport {
public:
  explicit ReaderTransport(RealClock &clock)
      : realClock(clock), local(createLocalTransport(clock)) {}
  Clock &clock() override { return realClock; }
  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    return local->listen(address, std::move(handler));
  }
  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    const Expected<Address> parsed = parseAddress(address);
    if (!parsed || parsed->kind != Address::Kind::Tcp)
      return local->connect(address);
    const MutexLock lock(mutex);
    if (!grpc) {
      const Expected<CreateTransport> create = findGrpcLibrary();
      if (!create)
        return create.status();
      grpc.reset((*create)(&realClock));
    }
    return grpc->connect(address);
  }

private:
  RealClock &realClock;
  const std::unique_ptr<Transport> local;
  Mutex mutex;
  std::unique_ptr<Transport> grpc PDLRT_GUARDED_BY(mutex);
};

} // namespace

Expected<std::unique_ptr<Transport>>
pdlrt::createReaderTransport(RealClock &clock, size_t peers) {
  PDLRT_RETURN_IF_ERROR(checkFileLimit(16 + peers));
  return std::unique_ptr<Transport>(std::make_unique<ReaderTransport>(clock));
}
