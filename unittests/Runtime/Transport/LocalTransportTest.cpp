//===- LocalTransportTest.cpp - Processes of one host ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/LocalTransport.h"
#include "TransportConformance.h"

#include <gmock/gmock.h>

#include <barrier>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;

namespace {

/// A folder that the destructor removes.
class Folder {
public:
  Folder() : path(::mkdtemp(pattern)) {}
  ~Folder() { std::filesystem::remove_all(path); }

private:
  char pattern[40] = "/tmp/pdl-local-transport-test-XXXXXX";

public:
  const std::string path;
};

class LocalEnvironment : public RealTimeEnvironment {
public:
  LocalEnvironment()
      : RealTimeEnvironment(
            [](RealClock &clock) { return createLocalTransport(clock); }) {}
};

class PathEnvironment : public LocalEnvironment {
public:
  std::string newAddress() {
    return "unix:" + folder.path + "/" + std::to_string(next++);
  }

private:
  Folder folder;
  int next = 0;
};

class NameEnvironment : public LocalEnvironment {
public:
  std::string newAddress() {
    return "unix:@pdl-local-test-" + std::to_string(::getpid()) + "-" +
           std::to_string(next++);
  }

private:
  int next = 0;
};

} // namespace

namespace pdlrt::test {
using LocalEnvironments = testing::Types<PathEnvironment, NameEnvironment>;
INSTANTIATE_TYPED_TEST_SUITE_P(Local, TransportConformance, LocalEnvironments);
} // namespace pdlrt::test

namespace {

using Milliseconds = std::chrono::milliseconds;

class LocalTransportTest : public testing::Test {
protected:
  std::unique_ptr<Listener> listen(RequestHandler handler) {
    auto listener = network->listen(address, std::move(handler));
    EXPECT_TRUE(listener.ok()) << listener.status().message();
    return listener.ok() ? std::move(*listener) : nullptr;
  }
  std::unique_ptr<Connection> connect() {
    auto connection = network->connect(address);
    EXPECT_TRUE(connection.ok());
    return std::move(*connection);
  }
  ClockTime in(Milliseconds delay) { return clock.now() + delay; }
  bool waitFor(const std::function<bool()> &condition) {
    const ClockTime giveUp = in(Milliseconds(20000));
    while (!condition() && clock.now() < giveUp)
      std::this_thread::sleep_for(Milliseconds(1));
    return condition();
  }
  /// Returns a socket that is connected to the listener, for arbitrary bytes.
  int rawSocket(bool mustConnect = true) {
    const int raw = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string path = address.substr(5);
    path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    const int error =
        ::connect(raw, reinterpret_cast<sockaddr *>(&name), sizeof(name));
    EXPECT_TRUE(error == 0 || !mustConnect);
    return raw;
  }
  static std::string head(uint64_t call, uint64_t size) {
    std::string bytes(16, '\0');
    std::memcpy(bytes.data(), &call, 8);
    std::memcpy(bytes.data() + 8, &size, 8);
    return bytes;
  }
  static RequestHandler echo() {
    return [](Message request, Responder responder) {
      responder.respond(std::move(request));
    };
  }

  Folder folder;
  const std::string address = "unix:" + folder.path + "/socket";
  RealClock clock;
  std::unique_ptr<Transport> network = createLocalTransport(clock);
};

std::string pattern(size_t size, unsigned seed) {
  std::string content(size, '\0');
  for (size_t i = 0; i < size; ++i)
    content[i] = static_cast<char>((i >> 3) * 2654435761u >> 13) ^ seed;
  return content;
}

// Many threads call at once. Messages of all sizes have many slices, with and
// without owners, around the sizes that are read separately.
TEST_F(LocalTransportTest, ManyThreadsAndSlices) {
  const auto listener = listen(echo());
  const auto connection = connect();
  constexpr size_t sizes[] = {0,     1,     39,    40,     41,
                              16343, 16344, 16384, 200000, 3000000};
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 50; ++i) {
        Message request;
        std::vector<std::string> unowned;
        unowned.reserve(200);
        std::string expected;
        for (unsigned s = 0; s < 1 + (i + t) % 150; ++s) {
          const std::string content =
              pattern(s == 0 ? sizes[(i * 7 + t) % 10] : s * 13 % 300, s + i);
          expected += content;
          if (s % 2 == 0) {
            unowned.push_back(content);
            request.append(
                {reinterpret_cast<const std::byte *>(unowned.back().data()),
                 content.size(),
                 {}});
            continue;
          }
          const auto owner = std::make_shared<std::string>(content);
          request.append({reinterpret_cast<const std::byte *>(owner->data()),
                          owner->size(), owner});
        }
        CallProbe probe;
        connection->call(std::move(request), in(Milliseconds(20000)),
                         probe.done());
        while (probe.ends == 0)
          std::this_thread::yield();
        right += probe.outcome == CallOutcome::Responded &&
                 probe.response == expected;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 200);
}

// The other end does not read. Bytes that were not sent when their call ends
// are kept, and calls that had not begun are never sent.
TEST_F(LocalTransportTest, BytesOfAnEndedCallAreItsCallersAgain) {
  std::mutex mutex;
  std::vector<std::string> came;
  std::atomic<bool> hold{true};
  const auto listener = listen([&](const Message &request, Responder back) {
    while (hold)
      std::this_thread::sleep_for(Milliseconds(1));
    const std::lock_guard lock(mutex);
    came.push_back(request.toString());
    back.respond({});
  });
  const auto connection = connect();
  CallProbe first, cut, unsent;
  connection->call(Message::ofString("first"), in(Milliseconds(20000)),
                   first.done());
  auto large = std::make_unique<std::string>(pattern(8 << 20, 1));
  const std::string expected = *large;
  auto small = std::make_unique<std::string>(1000, 's');
  for (auto [content, probe] :
       {std::pair(large.get(), &cut), std::pair(small.get(), &unsent)}) {
    Message request;
    request.append({reinterpret_cast<const std::byte *>(content->data()),
                    content->size(),
                    {}});
    connection->call(std::move(request), in(Milliseconds(100)), probe->done());
  }
  ASSERT_TRUE(waitFor([&] { return cut.ends > 0 && unsent.ends > 0; }));
  EXPECT_EQ(cut.outcome, CallOutcome::DeadlineExceeded);
  EXPECT_EQ(unsent.outcome, CallOutcome::DeadlineExceeded);
  std::memset(large->data(), 0, large->size());
  large.reset();
  small.reset();
  hold = false;
  CallProbe last;
  connection->call(Message::ofString("last"), in(Milliseconds(20000)),
                   last.done());
  ASSERT_TRUE(waitFor([&] { return last.ends > 0; }));
  EXPECT_EQ(last.outcome, CallOutcome::Responded);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(came, (std::vector<std::string>{"first", expected, "last"}));
}

TEST_F(LocalTransportTest, StrangeBytesReachNoHandler) {
  std::atomic<int> handled{0};
  LocalOptions options;
  options.largestMessage = 1000;
  const auto small = createLocalTransport(clock, options);
  const auto listener =
      small->listen(address, [&](Message request, Responder responder) {
        ++handled;
        responder.respond(std::move(request));
      });
  ASSERT_TRUE(listener.ok());
  const std::string mark = "PDLUNIX1";
  // No mark; the mark of another version; a message that is too large.
  for (const std::string &bytes :
       {std::string("PRI * HTTP/2.0\r\n\r\n"), std::string("PDLUNIX0"),
        mark + head(1, 1001) + std::string(1001, 'x')}) {
    const int raw = rawSocket();
    ASSERT_EQ(::send(raw, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              ssize_t(bytes.size()));
    char answer[64];
    ssize_t count = 0;
    std::string said;
    while ((count = ::read(raw, answer, sizeof(answer))) > 0)
      said.append(answer, size_t(count));
    EXPECT_EQ(said, mark);
    ::close(raw);
  }
  EXPECT_EQ(handled, 0);
  // Half a message, byte by byte, and then nothing.
  const int raw = rawSocket();
  const std::string half = mark + head(7, 100) + std::string(50, 'x');
  for (const char byte : half)
    ASSERT_EQ(::write(raw, &byte, 1), 1);
  ::close(raw);
  // Other connections still work.
  const auto connection = connect();
  CallProbe probe;
  connection->call(Message::ofString("ours"), in(Milliseconds(20000)),
                   probe.done());
  ASSERT_TRUE(waitFor([&] { return probe.ends > 0; }));
  EXPECT_EQ(probe.response, "ours");
  EXPECT_EQ(handled, 1);
}

TEST_F(LocalTransportTest, AnAddressWithoutAListenerRefuses) {
  const auto connection = connect();
  std::atomic<bool> ended{false};
  CallFault fault = CallFault::Unknown;
  connection->call({}, in(Milliseconds(20000)), [&](const CallResult &result) {
    fault = result.fault;
    ended = true;
  });
  ASSERT_TRUE(waitFor([&] { return ended.load(); }));
  EXPECT_EQ(fault, CallFault::Refused);
  // A listener leaves no files.
  listen(echo()).reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
  const auto foreign = network->connect("127.0.0.1:80");
  ASSERT_FALSE(foreign.ok());
  EXPECT_THAT(foreign.status().message(), HasSubstr("give unix:PATH"));
}

// For more bytes than the transport copies, the connection ends and another one
// is made.
TEST_F(LocalTransportTest, ALargeEndedCallClosesItsConnection) {
  std::mutex mutex;
  std::vector<size_t> came;
  std::atomic<bool> hold{true};
  const auto listener = listen([&](const Message &request, Responder back) {
    while (hold)
      std::this_thread::sleep_for(Milliseconds(1));
    const std::lock_guard lock(mutex);
    came.push_back(request.size());
    back.respond({});
  });
  const auto connection = connect();
  CallProbe first, cut;
  connection->call(Message::ofString("first"), in(Milliseconds(20000)),
                   first.done());
  auto large = std::make_unique<std::string>(size_t(80) << 20, 'l');
  Message request;
  request.append(
      {reinterpret_cast<const std::byte *>(large->data()), large->size(), {}});
  connection->call(std::move(request), in(Milliseconds(100)), cut.done());
  ASSERT_TRUE(waitFor([&] { return cut.ends > 0 && first.ends > 0; }));
  large.reset();
  EXPECT_EQ(cut.outcome, CallOutcome::DeadlineExceeded);
  EXPECT_EQ(first.outcome, CallOutcome::Unavailable);
  hold = false;
  CallProbe last;
  connection->call(Message::ofString("last"), in(Milliseconds(20000)),
                   last.done());
  ASSERT_TRUE(waitFor([&] { return last.ends > 0; }));
  EXPECT_EQ(last.outcome, CallOutcome::Responded);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(came, (std::vector<size_t>{5, 4}));
}

// If the network's thread runs out of memory, only the connection ends.
TEST_F(LocalTransportTest, AnEndWithoutMemoryEndsItsConnection) {
  std::mutex mutex;
  std::vector<Responder> held;
  const auto listener = listen([&](const Message &request, Responder back) {
    if (request.toString() != "hold")
      return back.respond({});
    const std::lock_guard lock(mutex);
    held.push_back(std::move(back));
  });
  const auto connection = connect();
  CallProbe waiting, next;
  connection->call(Message::ofString("hold"), in(Milliseconds(20000)),
                   waiting.done());
  connection->call(Message::ofString("x"), in(Milliseconds(20000)),
                   [](const CallResult &) { throw std::bad_alloc(); });
  ASSERT_TRUE(waitFor([&] { return waiting.ends > 0; }));
  EXPECT_EQ(waiting.outcome, CallOutcome::Unavailable);
  connection->call(Message::ofString("y"), in(Milliseconds(20000)),
                   next.done());
  ASSERT_TRUE(waitFor([&] { return next.ends > 0; }));
  EXPECT_EQ(next.outcome, CallOutcome::Responded);
}

// Only servers drop calls.
TEST_F(LocalTransportTest, AClientLetsNothingGo) {
  const auto listener = listen(echo());
  const int raw = rawSocket();
  std::string bytes = "PDLUNIX1";
  for (int i = 0; i < 1000; ++i)
    bytes += head(5, ~uint64_t(0));
  bytes += head(5, 4) + "mine";
  ASSERT_EQ(::send(raw, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            ssize_t(bytes.size()));
  std::string said(28, '\0');
  EXPECT_EQ(::recv(raw, said.data(), said.size(), MSG_WAITALL), 28);
  EXPECT_EQ(said, "PDLUNIX1" + head(5, 4) + "mine");
  ::close(raw);
}

// A peer that sends without reading makes a server hold a limited number of
// small responses; then the server reads no more. After they are read,
// everything continues.
TEST_F(LocalTransportTest, UnreadResponsesAreBounded) {
  const std::string refusal(100, 'r');
  const RequestHandler refusing(
      [](const Message &, const Responder &) {},
      [&](const Message &, uint64_t) { return Message::ofString(refusal); });
  const RequestHandler answering([&](const Message &, Responder back) {
    back.respond(Message::ofString(refusal));
  });
  for (const RequestHandler &handler : {refusing, answering}) {
    const auto listener = listen(handler);
    const int raw = rawSocket();
    ASSERT_EQ(::fcntl(raw, F_SETFL, O_NONBLOCK), 0);
    const std::string request = head(1, 1000) + std::string(1000, 'x');
    const std::string answer = head(1, 100) + refusal;
    std::string toSend = "PDLUNIX1";
    constexpr size_t enough = size_t(128) << 20;
    size_t sent = 0, requests = 0;
    bool isBlocked = false;
    while (sent < enough && !isBlocked) {
      while (toSend.size() < (size_t(64) << 10)) {
        toSend += request;
        ++requests;
      }
      const ssize_t done =
          ::send(raw, toSend.data(), toSend.size(), MSG_NOSIGNAL);
      if (done > 0) {
        sent += size_t(done);
        toSend.erase(0, size_t(done));
        continue;
      }
      ASSERT_EQ(errno, EAGAIN);
      pollfd event{raw, POLLOUT, 0};
      isBlocked = ::poll(&event, 1, 1000) == 0;
    }
    EXPECT_TRUE(isBlocked);
    // Now the client reads.
    const size_t expected = 8 + requests * answer.size();
    std::string said;
    std::vector<char> some(1 << 20);
    while (said.size() < expected) {
      pollfd event{raw, POLLIN, 0};
      if (!toSend.empty())
        event.events |= POLLOUT;
      ASSERT_GT(::poll(&event, 1, 20000), 0) << said.size();
      if (event.revents & POLLOUT) {
        const ssize_t done =
            ::send(raw, toSend.data(), toSend.size(), MSG_NOSIGNAL);
        if (done > 0)
          toSend.erase(0, size_t(done));
      }
      if (!(event.revents & POLLIN))
        continue;
      const ssize_t got = ::read(raw, some.data(), some.size());
      ASSERT_GT(got, 0);
      said.append(some.data(), size_t(got));
    }
    EXPECT_EQ(said.size(), expected);
    EXPECT_EQ(said.substr(expected - answer.size()), answer);
    ::close(raw);
  }
}

// The same for large responses, whose sizes have no limit.
TEST_F(LocalTransportTest, LargeUnreadResponsesAreBounded) {
  constexpr size_t size = size_t(8) << 20;
  constexpr int count = 100;
  const auto bytes = std::make_shared<std::string>(size, 'a');
  std::atomic<int> handled{0};
  const auto listener = listen([&](const Message &, Responder back) {
    ++handled;
    Message answer;
    answer.append(
        {reinterpret_cast<const std::byte *>(bytes->data()), size, bytes});
    back.respond(std::move(answer));
  });
  const int raw = rawSocket();
  std::string requests = "PDLUNIX1";
  for (int i = 0; i < count; ++i)
    requests += head(i, 0);
  ASSERT_EQ(::send(raw, requests.data(), requests.size(), MSG_NOSIGNAL),
            ssize_t(requests.size()));
  // 64 MiB after the first, and one that exceeded the limit.
  ASSERT_TRUE(waitFor([&] { return handled >= 10; }));
  std::this_thread::sleep_for(Milliseconds(200));
  EXPECT_LE(handled, 11);
  size_t left = 8 + count * (16 + size);
  std::vector<char> some(4 << 20);
  while (left > 0) {
    const ssize_t got = ::read(raw, some.data(), std::min(some.size(), left));
    ASSERT_GT(got, 0);
    left -= size_t(got);
  }
  EXPECT_EQ(handled, count);
  ::close(raw);
}

// Listeners start while clients connect, and end while other threads drop the
// calls for which a connection waits.
TEST_F(LocalTransportTest, ListenersComeAndGoUnderLoad) {
  for (int round = 0; round < 20; ++round) {
    std::mutex mutex;
    std::vector<Responder> held;
    std::atomic<int> arrived{0};
    std::atomic<bool> isUp{false};
    const auto connection = connect();
    std::thread knocking([&] {
      while (!isUp) {
        const int raw = rawSocket(/*mustConnect=*/false);
        ::close(raw);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    auto listener = listen([&](const Message &, Responder back) {
      const std::lock_guard lock(mutex);
      held.push_back(std::move(back));
      ++arrived;
    });
    std::vector<CallProbe> probes(300);
    for (CallProbe &probe : probes)
      connection->call(Message::ofString("x"), in(Milliseconds(20000)),
                       probe.done());
    EXPECT_TRUE(waitFor([&] { return arrived == 256; }));
    isUp = true;
    knocking.join();
    std::vector<Responder> going;
    {
      const std::lock_guard lock(mutex);
      going.swap(held);
    }
    std::thread lettingGo([&] {
      while (!going.empty()) {
        going.pop_back();
        std::this_thread::yield();
      }
    });
    listener.reset();
    lettingGo.join();
    for (CallProbe &probe : probes) {
      ASSERT_TRUE(waitFor([&] { return probe.ends > 0; }));
      EXPECT_EQ(probe.outcome, CallOutcome::Unavailable);
    }
  }
}

// Responses that are not read stop the sending of this connection, but not of
// others.
TEST_F(LocalTransportTest, TooManyOpenCallsWait) {
  std::mutex mutex;
  std::vector<Responder> held;
  std::atomic<int> arrived{0};
  const auto listener = listen([&](const Message &, Responder back) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(back));
    ++arrived;
  });
  const auto busy = connect(), other = connect();
  constexpr int count = 300;
  std::vector<CallProbe> probes(count);
  for (CallProbe &probe : probes)
    busy->call(Message::ofString("x"), in(Milliseconds(20000)), probe.done());
  ASSERT_TRUE(waitFor([&] { return arrived == 256; }));
  CallProbe other2;
  other->call(Message::ofString("y"), in(Milliseconds(20000)), other2.done());
  ASSERT_TRUE(waitFor([&] { return arrived == 257; }));
  std::vector<Responder> waiting;
  while (arrived < count + 1 || !held.empty()) {
    {
      const std::lock_guard lock(mutex);
      waiting.swap(held);
    }
    for (Responder &back : waiting)
      back.respond({});
    waiting.clear();
    std::this_thread::sleep_for(Milliseconds(1));
  }
  for (CallProbe &probe : probes) {
    ASSERT_TRUE(waitFor([&] { return probe.ends > 0; }));
    EXPECT_EQ(probe.outcome, CallOutcome::Responded);
  }
}

} // namespace
