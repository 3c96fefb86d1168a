//===- GrpcFaultsTest.cpp - Foreign, silent and dead peers ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransportConformance.h"

#include "pdlrt/Transport/GrpcTransport.h"

#include <algorithm>
#include <arpa/inet.h>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace pdlrt;
using namespace pdlrt::test;
using namespace std::chrono_literals;

namespace {

class GrpcFaultsTest : public testing::Test {
protected:
  std::unique_ptr<Listener> listen(RequestHandler handler) {
    return listenAt("127.0.0.1:0", std::move(handler));
  }
  std::unique_ptr<Listener> listenAt(const std::string &address,
                                     RequestHandler handler) {
    auto listener = network->listen(address, std::move(handler));
    EXPECT_TRUE(listener.ok()) << listener.status().message();
    return listener.ok() ? std::move(*listener) : nullptr;
  }
  std::unique_ptr<Connection> connect(const std::string &address) {
    auto connection = network->connect(address);
    EXPECT_TRUE(connection.ok()) << connection.status().message();
    return connection.ok() ? std::move(*connection) : nullptr;
  }
  ClockTime in(ClockTime delay) { return clock.now() + delay; }
  bool waitFor(const std::function<bool()> &condition) {
    const ClockTime giveUp = in(20s);
    while (!condition()) {
      if (clock.now() > giveUp)
        return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }
  CallOutcome callAndWait(Connection &connection, const std::string &text) {
    CallProbe probe;
    connection.call(Message::ofString(text), in(10s), probe.done());
    EXPECT_TRUE(waitFor([&] { return probe.ends > 0; }));
    return probe.outcome;
  }
  /// Returns a handler that counts requests and echoes them.
  RequestHandler counting() {
    return [this](Message request, Responder responder) {
      ++requests;
      responder.respond(std::move(request));
    };
  }

  RealClock clock;
  std::unique_ptr<Transport> network = createGrpcTransport(clock);
  std::atomic<int> requests{0};
};

uint16_t portOf(const std::string &address) {
  return static_cast<uint16_t>(
      std::stoi(address.substr(address.rfind(':') + 1)));
}

/// A plain socket on the loopback interface, closed by the destructor.
class RawSocket {
public:
  explicit RawSocket(int open) : descriptor(open) {}
  RawSocket() : descriptor(::socket(AF_INET, SOCK_STREAM, 0)) {}
  ~RawSocket() { ::close(descriptor); }
  RawSocket(const RawSocket &) = delete;
  RawSocket &operator=(const RawSocket &) = delete;

  static sockaddr_in loopback(uint16_t port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return name;
  }
  bool connect(uint16_t port) const {
    const sockaddr_in name = loopback(port);
    return ::connect(descriptor, reinterpret_cast<const sockaddr *>(&name),
                     sizeof(name)) == 0;
  }
  /// Returns the port at which the listener listens.
  uint16_t listen() const {
    sockaddr_in name = loopback(0);
    socklen_t size = sizeof(name);
    if (::bind(descriptor, reinterpret_cast<sockaddr *>(&name), size) != 0 ||
        ::listen(descriptor, 4) != 0 ||
        ::getsockname(descriptor, reinterpret_cast<sockaddr *>(&name), &size) !=
            0)
      return 0;
    return ntohs(name.sin_port);
  }
  void send(const std::string &bytes) const {
    // The peer may close meanwhile.
    (void)!::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Reads until the peer closes or is silent for `milliseconds`; waits up to
  /// `first` for the first bytes, if that is longer.
  std::string receive(int milliseconds, int first = 0) const {
    std::string bytes;
    char buffer[4096];
    pollfd ready{descriptor, POLLIN, 0};
    while (::poll(&ready, 1,
                  bytes.empty() ? std::max(first, milliseconds)
                                : milliseconds) > 0) {
      const ssize_t count = ::recv(descriptor, buffer, sizeof(buffer), 0);
      if (count <= 0)
        break;
      bytes.append(buffer, static_cast<size_t>(count));
    }
    return bytes;
  }

  const int descriptor;
};

constexpr const char *http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string http2Frame(uint8_t type, uint8_t flags, uint32_t stream,
                       const std::string &payload) {
  std::string frame;
  for (const int shift : {16, 8, 0})
    frame += static_cast<char>(payload.size() >> shift);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0})
    frame += static_cast<char>(stream >> shift);
  return frame + payload;
}

/// Returns an uncompressed header field.
std::string http2Field(const std::string &name, const std::string &value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

/// Encodes binary values in the way in which gRPC sends them to a peer that has
/// not said that it accepts them.
std::string base64(const std::string &bytes) {
  constexpr const char *digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(byte);
    for (count += 8; count >= 6; count -= 6)
      text += digits[bits >> (count - 6) & 63];
  }
  if (count > 0)
    text += digits[bits << (6 - count) & 63];
  return text;
}

/// Returns the size and then the bytes.
std::string sized(uint64_t size, const std::string &content) {
  return std::string(reinterpret_cast<const char *>(&size), sizeof(size)) +
         content;
}

/// Returns the start of a call, up to its first message. `flags` is 4, plus 1
/// if nothing follows.
std::string startOfCall(const std::string &front, uint8_t flags = 4) {
  return std::string(http2Preface) + http2Frame(4, 0, 0, "") +
         http2Frame(
             1, flags, 1,
             http2Field(":method", "POST") + http2Field(":scheme", "http") +
                 http2Field(":path", "/pdl.Transport/Call") +
                 http2Field(":authority", "x") + http2Field("te", "trailers") +
                 http2Field("content-type", "application/grpc") +
                 http2Field("pdl-front-bin", base64(front)));
}

/// Returns the front of a request of which more follows.
std::string frontOf(uint64_t size) {
  return sized(size, std::string(minFront, 'h'));
}

// Often enough for each of the listener's threads.
TEST_F(GrpcFaultsTest, AHandlerWithoutMemoryEndsItsCallAlone) {
  constexpr int spoilt = 40;
  std::atomic<int> calls{0};
  const auto listener = listen([&](Message request, Responder responder) {
    const int call = ++calls;
    if (call > spoilt || call % 2 == 0)
      responder.respond(std::move(request));
    if (call <= spoilt)
      throw std::bad_alloc();
  });
  const auto connection = connect(listener->address());
  for (int call = 1; call <= spoilt; ++call)
    EXPECT_EQ(callAndWait(*connection, "a"), call % 2 == 0
                                                 ? CallOutcome::Responded
                                                 : CallOutcome::Unavailable);
  EXPECT_EQ(callAndWait(*connection, "a"), CallOutcome::Responded);
}

TEST_F(GrpcFaultsTest, RandomBytesChangeNothing) {
  const auto listener = listen(counting());
  const auto connection = connect(listener->address());
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::string noise(random() % 2000, '\0');
    for (char &byte : noise)
      byte = static_cast<char>(random());
    // Noise that is valid for longer reaches more code.
    if (round % 3 == 1)
      noise.insert(0, http2Preface);
    if (round % 3 == 2)
      noise.insert(0, startOfCall(frontOf(1000)) + http2Frame(0, 0, 1, noise));
    const RawSocket socket;
    ASSERT_TRUE(socket.connect(portOf(listener->address())));
    socket.send(noise);
    if (round % 2)
      socket.receive(5);
  }
  EXPECT_EQ(callAndWait(*connection, "proper"), CallOutcome::Responded);
  EXPECT_EQ(requests, 1);
}

/// Returns the value of a line of /proc/self/status, in kB.
size_t ownMemory(const std::string &name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":"))
      return std::stoul(line.substr(name.size() + 1));
  return 0;
}

TEST_F(GrpcFaultsTest, AClaimedLengthIsNotAllocated) {
  const auto listener = listen(counting());
  const auto connection = connect(listener->address());
  ASSERT_EQ(callAndWait(*connection, "first"), CallOutcome::Responded);
  {
    // Shows that handmade calls get through.
    const RawSocket socket;
    ASSERT_TRUE(socket.connect(portOf(listener->address())));
    const std::string proper("\0\0\0\0\3abc", 8);
    socket.send(startOfCall(frontOf(minFront + 3)) +
                http2Frame(0, 1, 1, proper));
    ASSERT_TRUE(waitFor([&] { return requests == 2; }));
    const RawSocket small;
    ASSERT_TRUE(small.connect(portOf(listener->address())));
    small.send(startOfCall(sized(3, "abc"), 5));
    ASSERT_TRUE(waitFor([&] { return requests == 3; }));
  }
  const size_t before = ownMemory("VmPeak");
  ASSERT_GT(before, 0u);
  std::vector<std::unique_ptr<RawSocket>> sockets;
  // First gRPC's own length, of 4 GiB, then PDL's.
  const std::string grpcLength("\0\xff\xff\xff\xff"
                               "data",
                               9);
  for (const std::string &call :
       {startOfCall(frontOf(1000)) + http2Frame(0, 0, 1, grpcLength),
        startOfCall(frontOf(UINT64_MAX / 2)),
        startOfCall(frontOf(uint64_t(1) << 33))})
    for (int i = 0; i < 8; ++i) {
      sockets.push_back(std::make_unique<RawSocket>());
      ASSERT_TRUE(sockets.back()->connect(portOf(listener->address())));
      sockets.back()->send(call);
      // The server's settings, and a response if there is one.
      EXPECT_NE(sockets.back()->receive(20, /*first=*/10000), "");
    }
  EXPECT_EQ(callAndWait(*connection, "last"), CallOutcome::Responded);
  EXPECT_EQ(requests, 4);
  EXPECT_LT(ownMemory("VmPeak") - before, size_t(1) << 20);
}

// Three calls of 512 MiB once made a server hold 1.5 GB permanently.
TEST_F(GrpcFaultsTest, StrangersMakeAServerHoldNothing) {
  std::atomic<int> seen{0};
  const auto listener = listen(RequestHandler(
      [this](const Message &, const Responder &) { ++requests; },
      [&](const Message &front, uint64_t size) -> std::optional<Message> {
        seen += front.size() >= minFront && size == uint64_t(8) << 26;
        return Message::ofString("who are you?");
      }));
  const auto buffer =
      std::make_shared<std::vector<std::byte>>(size_t(1) << 26, std::byte(7));
  Message large;
  for (int i = 0; i < 8; ++i)
    large.append({buffer->data(), buffer->size(), buffer});
  const auto connection = connect(listener->address());
  const size_t before = ownMemory("VmHWM");
  CallProbe probes[3];
  for (CallProbe &probe : probes)
    connection->call(large, in(20s), probe.done());
  for (CallProbe &probe : probes) {
    ASSERT_TRUE(waitFor([&] { return probe.ends > 0; }));
    EXPECT_EQ(probe.outcome, CallOutcome::Responded);
    EXPECT_EQ(probe.response, "who are you?");
  }
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(requests, 0);
  EXPECT_LT(ownMemory("VmHWM") - before, size_t(64) << 10);
}

/// Makes a call with gRPC's own functions: a front, unless it is empty, and one
/// chunk.
grpc::StatusCode foreignCall(const std::string &address,
                             const std::string &method,
                             const std::string &front,
                             const std::string &content) {
  grpc::GenericStub stub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  if (!front.empty())
    context.AddMetadata("pdl-front-bin", front);
  const grpc::Slice slice(content.data(), content.size());
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::Status status;
  auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  call->Finish(&response, &status, &queue);
  void *tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return status.error_code();
}

TEST_F(GrpcFaultsTest, CallsThatAreNoMessageAreRefused) {
  const auto listener = listen(counting());
  const std::string &address = listener->address();
  const std::string method = "/pdl.Transport/Call";
  EXPECT_EQ(foreignCall(address, method, frontOf(minFront + 3), "abc"),
            grpc::StatusCode::OK);
  EXPECT_EQ(requests, 1);
  EXPECT_EQ(
      foreignCall(address, "/other.Service/Call", frontOf(minFront + 3), "abc"),
      grpc::StatusCode::UNIMPLEMENTED);
  const auto damaged = grpc::StatusCode::INVALID_ARGUMENT;
  EXPECT_EQ(foreignCall(address, method, frontOf(minFront + 3), "abcd"),
            damaged);
  EXPECT_EQ(foreignCall(address, method, frontOf(minFront + 3), ""), damaged);
  EXPECT_EQ(foreignCall(address, method, "", "abc"), damaged);
  EXPECT_EQ(foreignCall(address, method, "short", "abc"), damaged);
  EXPECT_EQ(foreignCall(address, method, frontOf(uint64_t(1) << 60), "abc"),
            damaged);
  // A front that is shorter than required, and one that is longer than the
  // message.
  EXPECT_EQ(foreignCall(address, method, sized(minFront + 3, "h"), "abc"),
            damaged);
  EXPECT_EQ(foreignCall(address, method, sized(2, "abc"), ""), damaged);
  // It claims more than it sends.
  EXPECT_EQ(foreignCall(address, method, frontOf(minFront + 4), "abc"),
            grpc::StatusCode::CANCELLED);
  EXPECT_EQ(requests, 1);
}

TEST_F(GrpcFaultsTest, MessagesOverTheLimitAreNotTaken) {
  GrpcOptions options;
  options.largestMessage = 1000;
  const auto small = createGrpcTransport(clock, options);
  // A response that is too large for the client, and a request that is too
  // large for the server.
  const auto listener = listen([](const Message &request, Responder responder) {
    responder.respond(Message::ofString(std::string(request.size() + 1, 'x')));
  });
  auto connection = small->connect(listener->address());
  ASSERT_TRUE(connection.ok());
  EXPECT_EQ(callAndWait(**connection, std::string(999, 'x')),
            CallOutcome::Responded);
  EXPECT_EQ(callAndWait(**connection, std::string(1000, 'x')),
            CallOutcome::Unavailable);
  auto smallListener = small->listen("127.0.0.1:0", counting());
  ASSERT_TRUE(smallListener.ok());
  const auto large = connect((*smallListener)->address());
  EXPECT_EQ(callAndWait(*large, std::string(1000, 'x')),
            CallOutcome::Responded);
  EXPECT_EQ(callAndWait(*large, std::string(1001, 'x')),
            CallOutcome::Unavailable);
  EXPECT_EQ(requests, 1);
}

TEST_F(GrpcFaultsTest, AServerThatStartedAnewIsFoundSoon) {
  auto listener = listen(counting());
  const std::string address = listener->address();
  const auto connection = connect(address);
  ASSERT_EQ(callAndWait(*connection, "one"), CallOutcome::Responded);
  listener.reset();
  // Enough failures for the pause to reach its maximum.
  for (int i = 0; i < 20; ++i) {
    EXPECT_NE(callAndWait(*connection, "nobody"), CallOutcome::Responded);
    std::this_thread::sleep_for(100ms);
  }
  listener = listenAt(address, counting());
  const ClockTime start = clock.now();
  while (callAndWait(*connection, "two") != CallOutcome::Responded) {
    ASSERT_LT(clock.now() - start, 5s);
    std::this_thread::sleep_for(10ms);
  }
}

/// Forwards the bytes of one connection until the test makes it silent.
class Proxy {
public:
  explicit Proxy(uint16_t toPort)
      : target(toPort), port(entry.listen()), thread([this] { forward(); }) {}
  ~Proxy() {
    stopping = true;
    thread.join();
  }
  Proxy(const Proxy &) = delete;
  Proxy &operator=(const Proxy &) = delete;
  std::string address() const { return "127.0.0.1:" + std::to_string(port); }

  std::atomic<bool> silent{false};

private:
  void forward() {
    pollfd arrival{entry.descriptor, POLLIN, 0};
    while (!stopping && ::poll(&arrival, 1, 10) <= 0) {
    }
    if (stopping)
      return;
    const RawSocket client(::accept(entry.descriptor, nullptr, nullptr));
    const RawSocket server;
    if (!server.connect(target))
      return;
    char buffer[4096];
    while (!stopping) {
      pollfd ready[] = {{client.descriptor, POLLIN, 0},
                        {server.descriptor, POLLIN, 0}};
      if (silent) {
        std::this_thread::sleep_for(10ms);
        continue;
      }
      ::poll(ready, 2, 10);
      for (int from = 0; from < 2; ++from)
        if (ready[from].revents) {
          const ssize_t count =
              ::recv(ready[from].fd, buffer, sizeof(buffer), 0);
          if (count <= 0)
            return;
          (void)!::send(ready[1 - from].fd, buffer, static_cast<size_t>(count),
                        MSG_NOSIGNAL);
        }
    }
  }

  RawSocket entry;
  const uint16_t target;
  const uint16_t port;
  std::atomic<bool> stopping{false};
  std::thread thread;
};

TEST_F(GrpcFaultsTest, ASilentPeerIsNoticedBeforeTheDeadline) {
  std::mutex mutex;
  std::vector<Responder> held;
  std::atomic<int> arrived{0};
  const auto listener = listen([&](const Message &, Responder responder) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(responder));
    ++arrived;
  });
  Proxy proxy(portOf(listener->address()));
  GrpcOptions options;
  options.keepAliveInterval = 200ms;
  // On a loaded machine, the threads of the proxy may run late.
  options.keepAliveTimeout = 6s;
  const auto watchful = createGrpcTransport(clock, options);
  const auto connection = watchful->connect(proxy.address());
  ASSERT_TRUE(connection.ok());
  CallProbe probe;
  (*connection)->call({}, in(1h), probe.done());
  ASSERT_TRUE(waitFor([&] { return arrived == 1; }));
  // Heartbeats keep a waiting call open, for longer than the interval and the
  // timeout.
  std::this_thread::sleep_for(7s);
  EXPECT_EQ(probe.ends, 0);
  proxy.silent = true;
  ASSERT_TRUE(waitFor([&] { return probe.ends > 0; }));
  EXPECT_EQ(probe.outcome, CallOutcome::Unavailable);
}

TEST_F(GrpcFaultsTest, ALongHandlerStopsOnlyItsLike) {
  std::promise<void> go;
  std::shared_future<void> allowed = go.get_future().share();
  std::mutex mutex;
  std::vector<Responder> held;
  std::atomic<int> arrived{0}, blocked{0};
  const auto listener = listen([&](const Message &request, Responder back) {
    if (request.toString() == "block") {
      ++blocked;
      allowed.wait();
      back.respond({});
      return;
    }
    const std::lock_guard lock(mutex);
    held.push_back(std::move(back));
    ++arrived;
  });
  const auto connection = connect(listener->address());
  CallProbe early, blocking[4], late;
  connection->call(Message::ofString("early"), in(20s), early.done());
  ASSERT_TRUE(waitFor([&] { return arrived == 1; }));
  for (CallProbe &probe : blocking)
    connection->call(Message::ofString("block"), in(20s), probe.done());
  ASSERT_TRUE(waitFor([&] { return blocked == 1; }));
  // The network is served meanwhile: a response is sent, and a deadline ends a
  // call.
  {
    const std::lock_guard lock(mutex);
    held.front().respond(Message::ofString("answer"));
  }
  ASSERT_TRUE(waitFor([&] { return early.ends > 0; }));
  EXPECT_EQ(early.response, "answer");
  connection->call(Message::ofString("late"), in(50ms), late.done());
  ASSERT_TRUE(waitFor([&] { return late.ends > 0; }));
  EXPECT_EQ(late.outcome, CallOutcome::DeadlineExceeded);
  EXPECT_EQ(blocked, 1);
  go.set_value();
  for (CallProbe &probe : blocking) {
    ASSERT_TRUE(waitFor([&] { return probe.ends > 0; }));
    EXPECT_EQ(probe.outcome, CallOutcome::Responded);
  }
}

TEST_F(GrpcFaultsTest, FilesInTheWayOfASocket) {
  char pattern[] = "/tmp/pdl-grpc-test-XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  // A user's file is kept.
  const std::string file = folder + "/file";
  std::ofstream(file) << "content";
  auto refused = network->listen("unix:" + file, counting());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("no socket"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(file), 7u);
  // The socket of a dead process is replaced.
  const std::string stale = folder + "/stale";
  {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    stale.copy(name.sun_path, sizeof(name.sun_path) - 1);
    const RawSocket dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(dead.descriptor, reinterpret_cast<sockaddr *>(&name),
                     sizeof(name)),
              0);
  }
  ASSERT_TRUE(std::filesystem::exists(stale));
  {
    const auto listener = listenAt("unix:" + stale, counting());
    const auto connection = connect("unix:" + stale);
    EXPECT_EQ(callAndWait(*connection, "here"), CallOutcome::Responded);
  }
  // A missing folder gives an error message.
  refused = network->listen("unix:" + folder + "/none/socket", counting());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("folder"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_F(GrpcFaultsTest, WhyAPortCannotBeListenedAt) {
  const auto listener = listen(counting());
  auto taken = network->listen(listener->address(), counting());
  ASSERT_FALSE(taken.ok());
  EXPECT_NE(taken.status().message().find("Address already in use"),
            std::string::npos)
      << taken.status().message();
  auto foreign = network->listen("203.0.113.1:0", counting());
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.status().message().find("Cannot assign requested address"),
            std::string::npos)
      << foreign.status().message();
  EXPECT_FALSE(network->connect("127.0.0.1:0").ok());
}

} // namespace
