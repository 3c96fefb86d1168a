//===- GrpcTransport.cpp - Processes over gRPC ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/GrpcTransport.h"

#include "Transport/Grpc/Connection.h"
#include "Transport/Grpc/Listener.h"
#include "Transport/Grpc/ThreadSanitizer.h"

#include <absl/synchronization/mutex.h>
#include <cstdlib>
#include <grpc/grpc.h>
#include <grpc/support/log.h>

using namespace pdlrt;
using namespace pdlrt::grpcimpl;

/// Once a process, before gRPC's first use.
static void setUpGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Hosts as all programs of the machine find them; a user may ask for
    // gRPC's own resolver.
    ::setenv("GRPC_DNS_RESOLVER", "native", /*overwrite=*/0);
    // What a user should know comes as a status or an outcome.
    if (!std::getenv("GRPC_VERBOSITY"))
      gpr_set_log_function([](gpr_log_func_args *) {});
    // Debian's abseil is built with assertions, and so looks for cycles at each
    // lock.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    // Never taken back: gRPC's own end waits up to 10 s for a poller that
    // large messages start.
    grpc_init();
  });
}

namespace {

class GrpcTransport final : public Transport {
public:
  GrpcTransport(RealClock &clock, const GrpcOptions &options)
      : side(clock, options) {}
  ~GrpcTransport() override {
    side.live.waitForNone();
    side.queue.Shutdown();
  }
  Clock &clock() override { return side.clock; }

  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    Expected<Address> parsed = parseAddress(address);
    if (!parsed)
      return std::move(parsed).status();
    return createListener(side.options, std::move(*parsed), std::move(handler));
  }

  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    const Expected<Address> parsed = parseAddress(address);
    if (!parsed)
      return parsed.status();
    if (parsed->kind == Address::Kind::Tcp && parsed->port == 0)
      return Status::invalid("cannot connect to " + address +
                             ": nobody listens at port 0; give the port that "
                             "the server has told");
    {
      const std::lock_guard lock(mutex);
      if (!started)
        started = side.poller.start(side.options.threads);
      PDLRT_RETURN_IF_ERROR(*started);
    }
    return createConnection(side, *parsed);
  }

private:
  ClientSide side;
  std::mutex mutex;
  std::optional<Status> started;
};

} // namespace

std::unique_ptr<Transport>
pdlrt::createGrpcTransport(RealClock &clock, const GrpcOptions &options) {
  setUpGrpc();
  return std::make_unique<GrpcTransport>(clock, options);
}

/// What createClusterTransport finds where this archive is linked.
extern "C" Transport *pdlrt_create_grpc_transport(RealClock *clock) {
  return createGrpcTransport(*clock).release();
}

#if __has_feature(thread_sanitizer)
/// gRPC and abseil only: built without the sanitizer, their locks are
/// invisible. What of it is inlined into ours is known by its name or, where
/// the build keeps lines only, by its file.
extern "C" const char *__tsan_default_suppressions() {
  return "race:libgrpc\nrace:libgpr\nrace:libabsl\nrace:^grpc::\n"
         "race:/include/grpcpp/\n";
}
#endif
