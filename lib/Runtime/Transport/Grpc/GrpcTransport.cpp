//===- GrpcTransport.cpp - Transport over gRPC ----------------------------===//
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
#include "Transport/StartThread.h"

#include <absl/synchronization/mutex.h>
#include <cstdlib>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <mutex>

using namespace pdlrt;
using namespace pdlrt::grpcimpl;

/// Runs once per process, before gRPC's first use.
static void setUpGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Resolve host names as other programs of the machine do. A user may still
    // select gRPC's own resolver.
    ::setenv("GRPC_DNS_RESOLVER", "native", /*overwrite=*/0);
    // Errors that matter to the user are returned as a status or an outcome.
    if (!std::getenv("GRPC_VERBOSITY"))
      gpr_set_log_function([](gpr_log_func_args *) {});
    // Debian builds abseil with assertions, so each lock would be checked for
    // deadlocks, which takes time.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    // gRPC is never shut down: a shutdown waits up to 10 s for a poller that it
    // starts for large messages.
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
      return Status::invalidArgument(
          "cannot connect to " + address +
          ": no process listens at port 0; give the port that "
          "the server has reported");
    PDLRT_RETURN_IF_ERROR(threads.once(
        [this] { return side.poller.start(side.options.threads); }));
    return createConnection(side, *parsed);
  }

private:
  ClientSide side;
  FirstStart threads;
};

} // namespace

std::unique_ptr<Transport>
pdlrt::createGrpcTransport(RealClock &clock, const GrpcOptions &options) {
  setUpGrpc();
  return std::make_unique<GrpcTransport>(clock, options);
}

/// Called by `createClusterTransport`, which finds this function only if this
/// archive is linked.
extern "C" Transport *pdlrt_create_grpc_transport(RealClock *clock) {
  return createGrpcTransport(*clock).release();
}

#if __has_feature(thread_sanitizer)
/// Suppresses reports about gRPC and abseil. They are built without
/// ThreadSanitizer, which therefore does not see their locks. Their functions
/// that are inlined here are recognized by name or, if the build has only line
/// numbers, by file.
extern "C" const char *__tsan_default_suppressions() {
  return "race:libgrpc\nrace:libgpr\nrace:libabsl\nrace:^grpc::\n"
         "race:/include/grpcpp/\n";
}
#endif
