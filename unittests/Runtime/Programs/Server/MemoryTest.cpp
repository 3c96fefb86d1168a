//===- MemoryTest.cpp - Processes that run out of memory ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TwoByTwo.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/SealedTransport.h"
#include "pdlrt/Transport/Transport.h"

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sys/resource.h>
#include <utility>

using namespace pdlrt;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Returns a line of /proc/PID/status, such as VmHWM, in MiB.
int64_t mebibytes(const Process &process, const std::string &name) {
  std::ifstream file("/proc/" + std::to_string(process.child.id()) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, name.size() + 1, name + ":") == 0)
      return std::stoll(line.substr(name.size() + 1)) / 1024;
  ADD_FAILURE() << "no " << name;
  return 0;
}

/// Makes several concurrent calls and waits until they end.
class Caller {
public:
  Caller(Transport &transport, const std::string &address)
      : connection(*transport.connect(address)) {}
  void call(const Message &request, ClockTime deadline) {
    {
      const std::lock_guard lock(mutex);
      ++open;
    }
    connection->call(request, deadline, [this](const CallResult &result) {
      const std::lock_guard lock(mutex);
      --open;
      const auto frame = splitFrame(result.response);
      refusals += result.outcome == CallOutcome::Responded && frame.ok() &&
                  frame->head.kind == MessageKind::Refusal;
      changed.notify_all();
    });
  }
  int waitForRefusals() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return open == 0; });
    return refusals;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  int open = 0, refusals = 0;
  std::unique_ptr<Connection> connection;
};

/// Writes rows with ids that occur in no other row.
void writeManyIds(const std::string &path, int rows) {
  std::ofstream file(path);
  for (int i = 0; i < rows; ++i) {
    file << i % 2 << "\t1\t1\t0.5\t-1\t";
    for (int k = 0; k < 8; ++k)
      file << (k ? "|" : "") << 'a' << i * 8 + k;
    file << "\tc1\n";
  }
}

} // namespace

// Any process that reaches the port can send this, without a step of the job.
TEST(Memory, StrangersMakeAServerHoldNothing) {
  TwoByTwo job;
  const Process &server = job.startServer(0, {});
  TwoByTwo::await(server, "listening");
  const int64_t before = mebibytes(server, "VmHWM");
  RealClock clock;
  auto network = createClusterTransport(clock);
  ASSERT_TRUE(network.ok());
  // The job has no secret.
  const auto transport =
      createSealedTransport(std::move(*network), {PeerRole::Member, ""});
  Caller caller(*transport, "unix:" + job.place.file("a"));
  const auto body = std::make_shared<std::vector<std::byte>>(size_t(512) << 20);
  for (const MessageKind kind :
       {MessageKind::Exchange, MessageKind::Join, MessageKind::Save}) {
    Message payload;
    payload.append({body->data(), body->size(), body});
    const uint64_t sequence = kind == MessageKind::Join ? 0 : 1;
    caller.call(joinFrame({kind, 0, 0, 1, sequence, 0}, payload),
                clock.now() + std::chrono::seconds(60));
  }
  EXPECT_EQ(caller.waitForRefusals(), 3);
  // A sanitizer keeps some hundred megabytes of freed memory.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr int64_t room = 512;
#else
  constexpr int64_t room = 64;
#endif
  EXPECT_LT(mebibytes(server, "VmHWM"), before + room);
}

TEST(Memory, AServerWithoutMemoryFailsTheJobWithOneMessage) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "sanitizers reserve more addresses than the limit allows";
#endif
  TwoByTwo job;
  writeManyIds(job.file, 300000);
  job.startServer(1, {});
  Process &server = job.startServer(0, {});
  TwoByTwo::await(server, "listening");
  // The server has its threads, and memory for a few rows.
  const uint64_t room = uint64_t(mebibytes(server, "VmSize") + 24) << 20;
  const rlimit limit = {room, room};
  ASSERT_EQ(prlimit(server.child.id(), RLIMIT_AS, &limit, nullptr), 0);
  for (int rank : {0, 1})
    job.startTrainer(rank, {"--epochs", "2", "--batch-size", "2048"});
  EXPECT_EQ(server.wait(), 3) << server.said();
  EXPECT_THAT(server.said(),
              AllOf(HasSubstr("out of memory while it "),
                    HasSubstr("use more servers, or machines with more memory"),
                    Not(HasSubstr("ulimit"))));
  for (auto &trainer : job.trainers) {
    EXPECT_EQ(trainer->wait(), 3) << trainer->said();
    EXPECT_THAT(trainer->said(), HasSubstr("out of memory while it "));
  }
  EXPECT_EQ(job.servers[1]->wait(), 3) << job.servers[1]->said();
}

TEST(Memory, ATrainerWithoutMemoryLeaves) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "sanitizers reserve more addresses than the limit allows";
#endif
  TwoByTwo job;
  // A batch has more ids than fit into the allocator's reserve.
  std::string bag;
  for (int i = 0; i < 10000; ++i)
    bag += (i ? "|a" : "a") + std::to_string(i % 10);
  {
    std::ofstream file(job.file);
    for (int i = 0; i < 2000; ++i)
      file << i % 2 << "\t1\t1\t0.5\t-1\t" << bag << "\tc1\n";
  }
  const std::vector<std::string> flags = {"--batch-size", "1000", "--threads",
                                          "1"};
  for (int rank : {0, 1})
    job.startServer(rank, {});
  Process &poor = job.startTrainer(1, flags);
  TwoByTwo::await(poor, "waiting for trainer 0 to join");
  const uint64_t room = uint64_t(mebibytes(poor, "VmSize") + 8) << 20;
  const rlimit limit = {room, room};
  ASSERT_EQ(prlimit(poor.child.id(), RLIMIT_AS, &limit, nullptr), 0);
  job.startTrainer(0, flags);
  EXPECT_EQ(poor.wait(), 3) << poor.said();
  EXPECT_THAT(poor.said(), HasSubstr("memory"));
  EXPECT_EQ(job.trainers[0]->wait(), 3);
  EXPECT_THAT(job.trainers[0]->said(), HasSubstr("trainer 1 failed: "));
  for (auto &server : job.servers) {
    EXPECT_EQ(server->wait(), 3);
    EXPECT_THAT(server->said(), HasSubstr("trainer 1 failed: "));
  }
}
