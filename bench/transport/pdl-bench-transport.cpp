//===- pdl-bench-transport.cpp - Measures throughput and latency ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmptyGrpc.h"
#include "RawSocket.h"
#include "TransportPair.h"
#include "pdlrt/Core/Allocator.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

using namespace pdlbench;
using Clock = std::chrono::steady_clock;

/// A client that sends `count` messages, of which at most `depth` are
/// unanswered, and its server.
struct Pair {
  std::function<void(size_t size, size_t responseSize, int count, int depth)>
      exchange;
  pid_t server;
};

/// Throughput of payload in one direction.
struct Rate {
  double gigabytesPerSecond = 0;
  /// The CPU time of both processes together.
  double cpuSecondsPerGigabyte = 1e9;
};

/// Number of alternating passes; the best one counts.
static constexpr int passes = 7;
static constexpr size_t acknowledgement = 8;

static double secondsOf(const std::function<void()> &action) {
  const Clock::time_point start = Clock::now();
  action();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static double cpuSeconds(pid_t process) {
  clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
  timespec time{};
  if (process != 0)
    ::clock_getcpuclockid(process, &clock);
  ::clock_gettime(clock, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

static void measure(const Pair &pair, size_t size, int depth, Rate &best) {
  const int count =
      static_cast<int>(std::min((size_t(256) << 20) / size, size_t(20000)));
  const double gigabytes = double(size) * count / 1e9;
  const double before = cpuSeconds(0) + cpuSeconds(pair.server);
  const double seconds =
      secondsOf([&] { pair.exchange(size, acknowledgement, count, depth); });
  const double used = cpuSeconds(0) + cpuSeconds(pair.server) - before;
  best.gigabytesPerSecond =
      std::max(best.gigabytesPerSecond, gigabytes / seconds);
  best.cpuSecondsPerGigabyte =
      std::min(best.cpuSecondsPerGigabyte, used / gigabytes);
}

static void showRates(const char *network, const Pair &raw,
                      const Pair &rawLarge, const Pair &empty,
                      const Pair &transport) {
  for (const auto &[size, name, depth] :
       {std::tuple(size_t(64) << 10, "64 KiB", 8),
        std::tuple(size_t(1) << 20, "1 MiB", 4),
        std::tuple(size_t(8) << 20, "8 MiB", 2)}) {
    Rate plain, large, grpc, ours;
    for (int pass = 0; pass < passes; ++pass) {
      measure(raw, size, depth, plain);
      measure(rawLarge, size, depth, large);
      measure(empty, size, depth, grpc);
      measure(transport, size, depth, ours);
    }
    std::printf("| %s, %s, %d open | %.2f (%.2f) | %.2f (%.2f) | %.2f (%.2f) | "
                "%.2f (%.2f) | %.2f |\n",
                network, name, depth, plain.gigabytesPerSecond,
                plain.cpuSecondsPerGigabyte, large.gigabytesPerSecond,
                large.cpuSecondsPerGigabyte, grpc.gigabytesPerSecond,
                grpc.cpuSecondsPerGigabyte, ours.gigabytesPerSecond,
                ours.cpuSecondsPerGigabyte,
                ours.gigabytesPerSecond / std::max(plain.gigabytesPerSecond,
                                                   large.gigabytesPerSecond));
    std::fflush(stdout);
  }
}

/// Returns the latencies of many round trips of 1 KiB, in microseconds, sorted.
static std::vector<double> roundTrips(const Pair &pair) {
  std::vector<double> times;
  for (int i = 0; i < 5000; ++i)
    times.push_back(1e6 * secondsOf([&] { pair.exchange(1024, 1024, 1, 1); }));
  std::sort(times.begin(), times.end());
  return times;
}

static void showRoundTrips(const char *network, const Pair &raw,
                           const Pair &empty, const Pair &transport) {
  roundTrips(transport);
  roundTrips(empty);
  const std::vector<double> limit = roundTrips(raw), grpc = roundTrips(empty),
                            ours = roundTrips(transport);
  const size_t p50 = limit.size() / 2, p99 = limit.size() * 99 / 100;
  std::printf("| %s | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f | %.2f / %.2f "
              "|\n",
              network, limit[p50], limit[p99], grpc[p50], grpc[p99], ours[p50],
              ours[p99], ours[p50] / limit[p50], ours[p99] / limit[p99]);
}

/// Measures the cost of authentication, by alternating with the same transport
/// without seals.
static void showSeals(const char *network, const Pair &plain,
                      const Pair &sealed) {
  for (const size_t size :
       {size_t(1) << 10, size_t(64) << 10, size_t(1) << 20}) {
    Rate without, with;
    for (int pass = 0; pass < passes; ++pass) {
      measure(plain, size, 4, without);
      measure(sealed, size, 4, with);
    }
    std::printf("| %s, %zu KiB, 4 open | %.3f (%.3f) | %.3f (%.3f) | %.3f "
                "(%.3f) |\n",
                network, size >> 10, without.gigabytesPerSecond,
                without.cpuSecondsPerGigabyte, with.gigabytesPerSecond,
                with.cpuSecondsPerGigabyte,
                with.gigabytesPerSecond / without.gigabytesPerSecond,
                without.cpuSecondsPerGigabyte / with.cpuSecondsPerGigabyte);
    std::fflush(stdout);
  }
  roundTrips(plain);
  roundTrips(sealed);
  const std::vector<double> before = roundTrips(plain),
                            after = roundTrips(sealed);
  const size_t p50 = before.size() / 2;
  std::printf("| %s, 1 KiB there and back, us | %.1f | %.1f | %.3f |\n",
              network, before[p50], after[p50], after[p50] / before[p50]);
}

int main(int argc, char **argv) {
  const std::string flag = argc > 1 ? argv[1] : "";
  const bool onlySeals = flag == "--seals";
  if (argc > 2 || (argc == 2 && flag != "--default-allocator" && !onlySeals)) {
    const bool help = argc == 2 && flag == "--help";
    std::fputs("usage: pdl-bench-transport [--default-allocator | --seals]\n"
               "Measures messages between two processes beside plain sockets "
               "and gRPC alone: a minute.\n"
               "  --default-allocator  leave the allocator as the C library "
               "sets it up\n"
               "  --seals              the transport with and without seals "
               "alone\n",
               help ? stdout : stderr);
    return help ? 0 : 2;
  }
  const bool tuned = flag != "--default-allocator";
  // All processes must be created before gRPC starts its threads.
  TransportServer tcpPlain(false, tuned, false), unixPlain(true, tuned, false);
  TransportServer tcpServer(false, tuned), unixServer(true, tuned);
  EmptyGrpcServer tcpEmpty(false, tuned), unixEmpty(true, tuned);
  RawPair tcp(false, false), tcpLarge(false, true);
  RawPair local(true, false), localLarge(true, true);
  if (tuned)
    pdlrt::tuneAllocator();
  TransportClient tcpClient(tcpServer.address()),
      unixClient(unixServer.address());
  TransportClient tcpPlainClient(tcpPlain.address(), false),
      unixPlainClient(unixPlain.address(), false);
  EmptyGrpcClient tcpCaller(tcpEmpty.address()),
      unixCaller(unixEmpty.address());
  const auto with = [](auto &pair, pid_t server) -> Pair {
    return {[&pair](size_t size, size_t responseSize, int count, int depth) {
              pair.exchange(size, responseSize, count, depth);
            },
            server};
  };
  const Pair tcpPair = with(tcp, tcp.serverProcess());
  const Pair tcpLargePair = with(tcpLarge, tcpLarge.serverProcess());
  const Pair localPair = with(local, local.serverProcess());
  const Pair localLargePair = with(localLarge, localLarge.serverProcess());
  const Pair tcpGrpc = with(tcpCaller, tcpEmpty.serverProcess());
  const Pair unixGrpc = with(unixCaller, unixEmpty.serverProcess());
  const Pair tcpOurs = with(tcpClient, tcpServer.serverProcess());
  const Pair unixOurs = with(unixClient, unixServer.serverProcess());
  const Pair tcpUnsealed = with(tcpPlainClient, tcpPlain.serverProcess());
  const Pair unixUnsealed = with(unixPlainClient, unixPlain.serverProcess());
  if (onlySeals) {
    std::puts("GB/s of payload, one way (CPU seconds a GB, of both "
              "processes)\n\n"
              "| | without seals | with seals | with / without |\n"
              "|---|---|---|---|");
    showSeals("TCP", tcpUnsealed, tcpOurs);
    showSeals("unix", unixUnsealed, unixOurs);
    return 0;
  }
  std::printf(
      "GB/s of payload, one way (CPU seconds a GB, of both processes);\n"
      "allocator: %s\n\n",
      tuned ? "tuned" : "as it is");
  std::puts("| | socket | socket, 4 MiB buffers | gRPC alone | ours | of the "
            "better socket |\n|---|---|---|---|---|---|");
  showRates("TCP", tcpPair, tcpLargePair, tcpGrpc, tcpOurs);
  showRates("unix", localPair, localLargePair, unixGrpc, unixOurs);
  std::puts("\n1 KiB there and back, microseconds, p50 / p99\n");
  std::puts("| | socket | gRPC alone | ours | ours / socket |\n"
            "|---|---|---|---|---|");
  showRoundTrips("TCP", tcpPair, tcpGrpc, tcpOurs);
  showRoundTrips("unix", localPair, unixGrpc, unixOurs);
  return 0;
}
