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

#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

using namespace pdlrt;

/// Defined in the archive PDLRuntimeGrpc; a program that is linked with
/// `--undefined=pdlrt_create_grpc_transport` takes it in.
extern "C" [[gnu::weak]] Transport *
pdlrt_create_grpc_transport(RealClock *clock);

/// The same function in a library beside that which this file is a part of.
static constexpr const char *grpcLibraryName = "libpdl-grpc.so.1";

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
createWithFiles(RealClock &clock, uint64_t leastFiles) {
  if (!pdlrt_create_grpc_transport)
    return Status::invalid("this program was linked without gRPC and cannot "
                           "reach other processes: translate the model with a "
                           "mode such as --mode=sync");
  raiseFileLimit();
  PDLRT_RETURN_IF_ERROR(checkFileLimit(leastFiles));
  return std::unique_ptr<Transport>(std::make_unique<ClusterTransport>(
      clock, std::unique_ptr<Transport>(pdlrt_create_grpc_transport(&clock))));
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

//===----------------------------------------------------------------------===//
// Of libraries
//===----------------------------------------------------------------------===//

using CreateTransport = Transport *(*)(RealClock *);

/// Opens the library beside this one. It stays open: its threads may outlive
/// who started them.
static Expected<CreateTransport> findGrpcLibrary() {
  Dl_info own = {};
  if (!::dladdr(reinterpret_cast<const void *>(&findGrpcLibrary), &own) ||
      !own.dli_fname)
    return Status::internal("a library does not know where it is");
  const std::string path =
      (std::filesystem::path(own.dli_fname).parent_path() / grpcLibraryName)
          .string();
  void *const opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *const found =
      opened ? ::dlsym(opened, "pdlrt_create_grpc_transport") : nullptr;
  if (!found)
    return Status::invalid(
        std::string("addresses that are no unix sockets need ") +
        grpcLibraryName +
        " beside the library, where pdl-translate has put it, and gRPC's "
        "libraries (Debian: libgrpc++1.51): " +
        ::dlerror());
  return reinterpret_cast<CreateTransport>(found);
}

namespace {

/// Unix sockets by frames; gRPC is looked for where there is another address.
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
    const std::lock_guard lock(mutex);
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
  std::mutex mutex;
  std::unique_ptr<Transport> grpc;
};

} // namespace

Expected<std::unique_ptr<Transport>>
pdlrt::createReaderTransport(RealClock &clock, size_t peers) {
  PDLRT_RETURN_IF_ERROR(checkFileLimit(16 + peers));
  return std::unique_ptr<Transport>(std::make_unique<ReaderTransport>(clock));
}
