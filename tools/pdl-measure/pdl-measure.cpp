//===- pdl-measure.cpp - Measures the performance of a machine ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the constants from which `pdl-opt --ps-report` predicts times:
//
// - a matrix product of the size of a click model
// - copying in memory
// - lookups of keys in a table
// - the CPU time of the transport
// - a TCP connection to this host or to another one
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/CpuCheck.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/ProcessMemory.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Gemm/Gemm.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Transport/Transport.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <malloc.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace pdlrt;
using SteadyClock = std::chrono::steady_clock;

/// Calls `body` repeatedly for about one second. Returns the time of the
/// shortest call, in seconds.
template <typename Body> static double bestSeconds(Body body) {
  double best = 1e30;
  const SteadyClock::time_point end =
      SteadyClock::now() + std::chrono::seconds(1);
  do {
    const SteadyClock::time_point start = SteadyClock::now();
    body();
    best = std::min(
        best,
        std::chrono::duration<double>(SteadyClock::now() - start).count());
  } while (SteadyClock::now() < end);
  return best;
}

/// Returns the operations per second of one thread in a strict matrix product.
static double measureFlops() {
  constexpr int64_t m = 512, n = 400, k = 400;
  std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f), c(m * n);
  GemmWorkspace workspace;
  GemmCall call;
  call.m = m;
  call.n = n;
  call.k = k;
  call.a = a.data();
  call.b = b.data();
  call.c = c.data();
  call.cStride = n;
  return 2.0 * m * n * k /
         bestSeconds([&] { strictGemm(nativeGemmIsa(), workspace, call); });
}

/// Returns the memory bandwidth of one thread, in bytes per second. Counts both
/// reads and writes, of data much larger than the caches.
static double measureMemory() {
  constexpr size_t bytes = size_t(256) << 20;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  return 2.0 * bytes / bestSeconds([&] {
           std::memcpy(to.data(), from.data(), bytes);
           // Prevents the compiler from removing the copy.
           asm volatile("" : : "r"(to.data()) : "memory");
         });
}

/// Returns the seconds that one thread needs to find the row of a key, as a
/// server does. The table is larger than the caches.
static double measureFindKey() {
  constexpr int64_t rows = int64_t(1) << 20, asked = 4096;
  TableOptions options;
  options.width = 8;
  const std::unique_ptr<EmbeddingTable> table = createHashTable(options);
  std::mt19937_64 random(1);
  std::vector<int64_t> keys(rows);
  for (int64_t &key : keys)
    key = int64_t(random());
  std::vector<void *> found(rows);
  TableScratch scratch;
  int64_t inserted = 0;
  if (!table->findOrInsert(rows, keys.data(), found.data(), scratch, inserted)
           .ok())
    return 0;
  int64_t at = 0;
  return bestSeconds([&] {
           table->find(asked, keys.data() + at, found.data(), scratch);
           at = (at + asked) % rows;
         }) /
         double(asked);
}

/// Returns the seconds that one thread needs to create the row of a new key.
/// The table grows from empty.
static double measureNewKey() {
  constexpr int64_t rows = int64_t(1) << 20, asked = 4096;
  TableOptions options;
  options.width = 1;
  std::mt19937_64 random(2);
  std::vector<int64_t> keys(rows);
  for (int64_t &key : keys)
    key = int64_t(random());
  std::vector<void *> made(asked);
  TableScratch scratch;
  int64_t inserted = 0;
  bool isMade = true;
  // Tables are destroyed after the measurement.
  std::vector<std::unique_ptr<EmbeddingTable>> tables;
  const double seconds = bestSeconds([&] {
    tables.push_back(createHashTable(options));
    const auto &table = tables.back();
    for (int64_t at = 0; at < rows; at += asked)
      isMade &= table
                    ->findOrInsert(asked, keys.data() + at, made.data(),
                                   scratch, inserted)
                    .ok();
  });
  return isMade ? seconds / double(rows) : 0;
}

/// Returns the seconds per byte that newly allocated memory costs, because the
/// operating system must find and clear it.
static double measureNewByte() {
  constexpr size_t bytes = size_t(64) << 20;
  return bestSeconds([] {
           void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
           if (memory == MAP_FAILED)
             return;
           std::memset(memory, 1, bytes);
           ::munmap(memory, bytes);
         }) /
         double(bytes);
}

//===----------------------------------------------------------------------===//
// The transport
//===----------------------------------------------------------------------===//

namespace {

/// CPU time of a request and its response, on both sides together.
struct TransportCosts {
  /// Costs of a message of 1 KiB, and of each further byte.
  double message = 0, byte = 0;
};

} // namespace

static constexpr size_t smallBytes = 1024, largeBytes = size_t(1) << 20;

/// Measures messages within this process, over the unix socket or TCP address
/// `at`.
static Expected<TransportCosts> measureTransport(const std::string &at) {
  RealClock clock;
  auto network = createClusterTransport(clock);
  if (!network)
    return network.status();
  const auto payload = std::make_shared<std::string>(largeBytes, 'x');
  auto messageOf = [&](size_t size) {
    Message message;
    message.append(
        {reinterpret_cast<const std::byte *>(payload->data()), size, payload});
    return message;
  };
  auto listener =
      (*network)->listen(at, [&](const Message &request, Responder responder) {
        responder.respond(messageOf(request.size()));
      });
  if (!listener)
    return listener.status();
  auto connection = (*network)->connect((*listener)->address());
  if (!connection)
    return connection.status();
  Status failure;
  auto callMany = [&](size_t size, int count) {
    Mutex mutex;
    ConditionVariable changed;
    const double before = processCpuSeconds();
    for (int i = 0; i < count; ++i) {
      bool isDone = false;
      (*connection)
          ->call(messageOf(size), clock.now() + std::chrono::seconds(10),
                 [&](const CallResult &result) {
                   const MutexLock lock(mutex);
                   if (result.outcome != CallOutcome::Responded)
                     failure = Status::unavailable("a call over " + at +
                                                   " was not answered");
                   isDone = true;
                   changed.notify_one();
                 });
      MutexLock lock(mutex);
      changed.wait(lock, [&] { return isDone; });
    }
    return (processCpuSeconds() - before) / count;
  };
  // Excludes the costs of establishing a connection.
  callMany(largeBytes, 20);
  const double small = callMany(smallBytes, 2000),
               large = callMany(largeBytes, 200);
  if (!failure.ok())
    return failure;
  return TransportCosts{small, std::max(0.0, large - small) /
                                   double(2 * (largeBytes - smallBytes))};
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

namespace {

/// File descriptor that the destructor closes.
class Socket {
public:
  explicit Socket(int descriptor = -1) : descriptor(descriptor) {}
  Socket(Socket &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  Socket &operator=(Socket &&) = delete;
  ~Socket() {
    if (descriptor >= 0)
      close(descriptor);
  }
  int get() const { return descriptor; }

private:
  int descriptor;
};

} // namespace

static constexpr size_t chunkBytes = size_t(1) << 20;
static constexpr int chunks = 512;
static constexpr int pings = 2000;
static constexpr size_t pingBytes = 1024;

static Status systemError(const std::string &what) {
  return Status::ofErrno(errno, "cannot " + what + ": " + std::strerror(errno));
}

static bool sendAll(int socket, const char *data, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    data += sent;
    size -= size_t(sent);
  }
  return true;
}

static bool receiveAll(int socket, char *data, size_t size) {
  while (size > 0) {
    const ssize_t got = recv(socket, data, size, 0);
    if (got <= 0)
      return false;
    data += got;
    size -= size_t(got);
  }
  return true;
}

static Status lost() {
  return Status::unavailable("the connection ended early: is the other side a "
                             "pdl-measure of this version?");
}

/// Receives and acknowledges the chunks, then sends each ping back.
static Status serve(int listener) {
  const Socket peer(accept(listener, nullptr, nullptr));
  if (peer.get() < 0)
    return systemError("accept a connection");
  const int one = 1;
  setsockopt(peer.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  std::vector<char> buffer(chunkBytes);
  for (int i = 0; i < chunks; ++i)
    if (!receiveAll(peer.get(), buffer.data(), chunkBytes))
      return lost();
  if (!sendAll(peer.get(), buffer.data(), 1))
    return lost();
  for (int i = 0; i < pings; ++i)
    if (!receiveAll(peer.get(), buffer.data(), pingBytes) ||
        !sendAll(peer.get(), buffer.data(), pingBytes))
      return lost();
  return {};
}

struct Network {
  double bytesPerSecond = 0, roundTripSeconds = 0;
};

static Expected<Network> measureNetwork(const sockaddr_storage &address,
                                        socklen_t size) {
  const Socket peer(socket(address.ss_family, SOCK_STREAM, 0));
  if (peer.get() < 0 ||
      connect(peer.get(), reinterpret_cast<const sockaddr *>(&address), size))
    return systemError("connect to the other side");
  const int one = 1;
  setsockopt(peer.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  std::vector<char> buffer(chunkBytes, 3);
  Network result;
  SteadyClock::time_point start = SteadyClock::now();
  for (int i = 0; i < chunks; ++i)
    if (!sendAll(peer.get(), buffer.data(), chunkBytes))
      return lost();
  if (!receiveAll(peer.get(), buffer.data(), 1))
    return lost();
  result.bytesPerSecond =
      double(chunkBytes) * chunks /
      std::chrono::duration<double>(SteadyClock::now() - start).count();
  std::vector<double> times;
  for (int i = 0; i < pings; ++i) {
    start = SteadyClock::now();
    if (!sendAll(peer.get(), buffer.data(), pingBytes) ||
        !receiveAll(peer.get(), buffer.data(), pingBytes))
      return lost();
    times.push_back(
        std::chrono::duration<double>(SteadyClock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + pings / 2, times.end());
  result.roundTripSeconds = times[pings / 2];
  return result;
}

static Expected<Socket> listenOn(const char *host, uint16_t port,
                                 sockaddr_in &bound) {
  Socket listener(socket(AF_INET, SOCK_STREAM, 0));
  bound = {};
  bound.sin_family = AF_INET;
  bound.sin_port = htons(port);
  inet_pton(AF_INET, host, &bound.sin_addr);
  const int one = 1;
  socklen_t size = sizeof(bound);
  if (listener.get() < 0 ||
      setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
      bind(listener.get(), reinterpret_cast<sockaddr *>(&bound), size) ||
      listen(listener.get(), 1) ||
      getsockname(listener.get(), reinterpret_cast<sockaddr *>(&bound), &size))
    return systemError("listen on " + std::string(host) + ":" +
                       std::to_string(port));
  return listener;
}

static Expected<Network> measureLoopback() {
  sockaddr_in bound;
  Expected<Socket> listener = listenOn("127.0.0.1", 0, bound);
  if (!listener)
    return listener.status();
  Status served;
  std::thread server([&] { served = serve(listener->get()); });
  sockaddr_storage address = {};
  std::memcpy(&address, &bound, sizeof(bound));
  Expected<Network> result = measureNetwork(address, sizeof(bound));
  server.join();
  return result;
}

static Expected<Network> measurePeer(const std::string &peer) {
  const size_t colon = peer.rfind(':');
  if (colon == std::string::npos)
    return Status::invalidArgument("'" + peer + "' is no HOST:PORT");
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int error =
          getaddrinfo(peer.substr(0, colon).c_str(),
                      peer.substr(colon + 1).c_str(), &hints, &found))
    return Status::unavailable("cannot resolve " + peer + ": " +
                               gai_strerror(error));
  sockaddr_storage address = {};
  const socklen_t size = found->ai_addrlen;
  std::memcpy(&address, found->ai_addr, size);
  freeaddrinfo(found);
  return measureNetwork(address, size);
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

static Status measure(const std::string &peer, const std::string &output) {
  // Reports invalid arguments before the long measurements.
  if (!peer.empty() && peer.rfind(':') == std::string::npos)
    return Status::invalidArgument("'" + peer + "' is no HOST:PORT");
  if (!output.empty()) {
    std::FILE *probe = std::fopen(output.c_str(), "a");
    if (!probe)
      return systemError("write " + output);
    std::fclose(probe);
  }
  nlohmann::ordered_json constants;
  std::fputs("measuring the transport ...\n", stderr);
  const std::pair<const char *, std::string> places[] = {
      {"local_message", "unix:@pdl-measure-" + std::to_string(::getpid())},
      {"message", "127.0.0.1:0"}};
  for (const auto &[name, at] : places) {
    const Expected<TransportCosts> costs = measureTransport(at);
    if (!costs)
      return costs.status();
    constants[std::string(name) + "_seconds"] = costs->message;
    constants[std::string(name) + "_byte_seconds"] = costs->byte;
  }
  // Measure the memory of a process that has little more than the transport.
  // Give the memory of the measured messages back before, because a model of a
  // server counts it separately.
  ::malloc_trim(0);
  constants["process_bytes"] = residentBytes();
  constants["cores"] = std::thread::hardware_concurrency();
  std::fputs("measuring products ...\n", stderr);
  constants["flops_per_second"] = measureFlops();
  std::fputs("measuring memory ...\n", stderr);
  constants["memory_bytes_per_second"] = measureMemory();
  std::fputs("measuring tables ...\n", stderr);
  constants["find_key_seconds"] = measureFindKey();
  constants["new_key_seconds"] = measureNewKey();
  constants["new_byte_seconds"] = measureNewByte();
  std::fputs("measuring the network ...\n", stderr);
  const Expected<Network> network =
      peer.empty() ? measureLoopback() : measurePeer(peer);
  if (!network)
    return network.status();
  constants["network_bytes_per_second"] = network->bytesPerSecond;
  constants["round_trip_seconds"] = network->roundTripSeconds;
  constants["network"] = peer.empty() ? "loopback" : peer;
  const std::string text = constants.dump(2) + "\n";
  std::FILE *file = output.empty() ? stdout : std::fopen(output.c_str(), "w");
  if (!file)
    return systemError("write " + output);
  const bool written = std::fputs(text.c_str(), file) != EOF;
  if ((file == stdout ? std::fflush(file) : std::fclose(file)) != 0 || !written)
    return systemError("write " + (output.empty() ? "the output" : output));
  return {};
}

static int run(int argc, char **argv) {
  std::string output, peer;
  uint16_t port = 0;
  CLI::App app(
      "Measures the rates of a host, from which 'pdl-opt "
      "--ps-report=machine=FILE' predicts times:\noperations per second of "
      "one core in a product, bytes per second of the memory, the times to\n"
      "find a key in a table, to create a row and to touch a byte of new "
      "memory, the processor time\nof a message, and the bytes per second "
      "and the round trip of a TCP connection.",
      "pdl-measure");
  addHelpAndVersion(app);
  app.footer(
      "Examples:\n"
      "  pdl-measure -o machine.json                      this host\n"
      "  pdl-measure --listen 7199                        on one host,\n"
      "  pdl-measure --peer host:7199 -o machine.json     on the other\n"
      "Exit status: 0 done; 1 permanent failure; 2 wrong flags; 3 failure "
      "that another try may mend.");
  addFlags(app,
           {{mainOptions,
             {{.names = "-o,--output",
               .placeholder = "FILE",
               .value = FlagValue::anyText(output),
               .help = "The file to write (default: the standard output)"},
              {.names = "--peer",
               .placeholder = "HOST:PORT",
               .value = FlagValue::anyText(peer),
               .help = "Measure the network to a pdl-measure that listens at "
                       "this address"},
              {.names = "--listen",
               .placeholder = "PORT",
               .value = FlagValue::number(port, 1, 65535),
               .help = "Respond to one --peer, then end; listens on all "
                       "addresses",
               .excludes = {"--peer", "--output"},
               .shownDefault = ""}}}});
  if (std::optional<int> status =
          parseFlags(app, argc, argv, "'pdl-measure --help' lists"))
    return *status;
  Status status;
  if (port) {
    sockaddr_in bound;
    Expected<Socket> listener = listenOn("0.0.0.0", port, bound);
    status = listener ? serve(listener->get()) : listener.status();
  } else {
    status = measure(peer, output);
  }
  return status.ok() ? 0 : fail(status);
}

int main(int argc, char **argv) {
  requireSupportedCpu(nullptr);
  return runProgram("use a machine with more of it",
                    [&] { return run(argc, argv); });
}
