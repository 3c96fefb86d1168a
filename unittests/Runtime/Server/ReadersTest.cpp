//===- ReadersTest.cpp - Readers outside the job --------------------------===//
//===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoreFixture.h"
#include "ServerJob.h"

#include "Serving/ServerRows.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Protocol/ReadCodec.h"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Server side
//===----------------------------------------------------------------------===//

TEST_F(ServerCoreTest, ReadersAreNoTrainers) {
  options.jobId = 77;
  joinAll();
  application->respondToReaders = true;
  const Reply visit = send({MessageKind::Visit, 9, 9, 0, 0, 9}, "who");
  EXPECT_EQ(visit.text(), "visited who");
  EXPECT_EQ(visit.head().incarnation, 77u);
  // The incarnation of a trainer that has joined.
  EXPECT_EQ(visit.head().sequence, 1u);
  EXPECT_EQ(send({MessageKind::Read, 0, 0, 77, 0, 0}, "rows").text(),
            "read rows");
  // The sender belongs to a previous run of the server.
  const Reply stranger = send({MessageKind::Read, 0, 0, 76, 0, 0}, "rows");
  EXPECT_EQ(stranger.kind(), MessageKind::Refusal);
  EXPECT_EQ(stranger.head().sequence, sequenceOfStranger);
  // A refused request has no other effect.
  EXPECT_EQ(send({MessageKind::Read, 0, 0, 77, 0, 0}, "no memory").kind(),
            MessageKind::Refusal);
  EXPECT_EQ(core().status().state, JobState::Running);
  // A round waits for trainers as before; readers do not delay it.
  const Reply first = exchange(0, 1, "a");
  EXPECT_FALSE(first.came());
  EXPECT_EQ(send({MessageKind::Read, 0, 0, 77, 0, 0}, "rows").text(),
            "read rows");
  exchange(1, 1, "b");
  EXPECT_TRUE(first.came());
}

TEST_F(ServerCoreTest, ReadersAreScreenedAndNotifiedOfTheEnd) {
  options.jobId = 77;
  joinAll();
  application->respondToReaders = true;
  const auto screened = [&](MessageKind kind, uint64_t job, uint64_t size) {
    const auto response =
        core().screen(joinFrame({kind, 0, 0, job, 0, 0}, {}), size);
    return response ? splitFrame(*response)->payload.toString() : "taken";
  };
  EXPECT_EQ(screened(MessageKind::Visit, 0, largestVisit), "taken");
  EXPECT_THAT(screened(MessageKind::Visit, 0, largestVisit + 1),
              HasSubstr("more than the 8192"));
  EXPECT_EQ(screened(MessageKind::Read, 77, largestRead), "taken");
  EXPECT_THAT(screened(MessageKind::Read, 77, largestRead + 1),
              HasSubstr("ask for fewer rows"));
  EXPECT_THAT(screened(MessageKind::Read, 0, 100), HasSubstr("started anew"));
  core().fail(Status::unavailable("the disk is full"));
  EXPECT_EQ(screened(MessageKind::Read, 77, 100), "the disk is full");
  EXPECT_EQ(send({MessageKind::Visit, 0, 0, 0, 0, 0}, "who").text(),
            "the disk is full");
}

TEST_F(ServerCoreTest, ReadersWaitInABoundedQueueOfTheirOwn) {
  options.jobId = 77;
  // Executor that runs its tasks only when the test requests it.
  struct Later final : Executor {
    void run(std::function<void()> task) override {
      if (std::exchange(lacksMemory, false))
        throw std::bad_alloc();
      tasks.push_back(std::move(task));
    }
    void runOne() {
      const auto task = std::move(tasks.front());
      tasks.erase(tasks.begin());
      task();
    }
    std::vector<std::function<void()>> tasks;
    bool lacksMemory = false;
  } executor;
  RecordingApplication with(2);
  with.respondToReaders = true;
  ServerCore busy(options, clock, executor);
  const auto ask = [&] {
    Reply reply;
    busy.handle(joinFrame({MessageKind::Read, 0, 0, 77, 0, 0},
                          Message::ofString("rows")),
                reply.responder());
    return reply;
  };
  // The state is still being loaded.
  EXPECT_EQ(ask().kind(), MessageKind::Wait);
  busy.open(with);
  std::vector<Reply> replies;
  for (int i = 0; i < 64; ++i)
    replies.push_back(ask());
  // The executor has at most one request of a reader at a time, so a trainer's
  // request waits for at most one of these.
  EXPECT_EQ(executor.tasks.size(), 1u);
  EXPECT_EQ(ask().kind(), MessageKind::Wait);
  executor.runOne();
  EXPECT_EQ(replies[0].text(), "read rows");
  EXPECT_FALSE(replies[1].came());
  EXPECT_EQ(executor.tasks.size(), 1u);
  while (!executor.tasks.empty())
    executor.runOne();
  EXPECT_EQ(replies[63].text(), "read rows");
  // Without memory, waiting readers are dropped, and later ones are served.
  executor.lacksMemory = true;
  EXPECT_FALSE(ask().came());
  EXPECT_TRUE(executor.tasks.empty());
  const Reply next = ask(), last = ask();
  executor.lacksMemory = true;
  executor.runOne();
  EXPECT_EQ(next.text(), "read rows");
  EXPECT_FALSE(last.came());
  EXPECT_TRUE(executor.tasks.empty());
  const Reply after = ask();
  executor.runOne();
  EXPECT_EQ(after.text(), "read rows");
}

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

namespace {

/// Two servers of a job in this process, whose state has some rows, and their
/// network.
class ReadersTest : public testing::Test {
protected:
  explicit ReadersTest(int32_t mode = PDL_MODE_SYNC)
      : job({PDL_F32, /*clipped=*/false, mode}, 2, 1,
            PlacementPolicy::LeastLoaded, 2) {}

  void SetUp() override {
    const Gradients<float> now = presentGradients();
    exchange(nullptr, &now);
    exchange(&now, nullptr);
    for (int i = 0; i < 2; ++i)
      for (const int64_t key : now.keys[i]) {
        keys[i].push_back(key);
        // This key has no row.
        keys[i].push_back(key ^ (int64_t(1) << 50));
      }
    auto clock = std::make_unique<RealClock>();
    network = createInProcessTransport(*clock);
    ownClock = std::move(clock);
    for (size_t s = 0; s < 2; ++s)
      start(s, /*jobId=*/s + 1);
  }
  void TearDown() override {
    for (auto &listener : listeners)
      listener.reset();
  }

  void start(size_t s, uint64_t jobId) {
    ServerCoreOptions options;
    options.jobId = jobId;
    listeners[s].reset();
    cores[s] = std::make_unique<ServerCore>(options, job.server(s), *ownClock);
    listeners[s] = *network->listen(names[s], cores[s]->handler());
  }

  /// Forwards all calls to the network, which it does not own.
  struct Borrowed final : Transport {
    explicit Borrowed(Transport &of) : of(of) {}
    Clock &clock() override { return of.clock(); }
    Expected<std::unique_ptr<Listener>>
    listen(const std::string &address, RequestHandler handler) override {
      return of.listen(address, std::move(handler));
    }
    Expected<std::unique_ptr<Connection>>
    connect(const std::string &address) override {
      return of.connect(address);
    }
    Transport &of;
  };

  struct BorrowedClock final : Clock {
    explicit BorrowedClock(Clock &of) : of(of) {}
    ClockTime now() const override { return of.now(); }
    void runAt(ClockTime when, std::function<void()> action) override {
      of.runAt(when, std::move(action));
    }
    Clock &of;
  };

  Expected<std::shared_ptr<const ServerRows>>
  connect(ConnectOptions options = {}) {
    if (options.servers.empty())
      options.servers = names;
    bool ignored = false;
    return ServerRows::connect(job.descriptor(), options,
                               std::make_unique<BorrowedClock>(*ownClock),
                               std::make_unique<Borrowed>(*network), ignored);
  }

  static int32_t tableAt(int i) { return i == 0 ? BlockLazy : BlockAll; }
  static size_t widthOf(int i) { return i == 0 ? 4 : 2; }

  struct Rows {
    std::vector<float> of[2];
    std::vector<uint8_t> isUnknown[2];
    Status status;
    bool isUnavailable = false;
  };
  Rows read(const RemoteRows &remote) {
    Rows rows;
    std::vector<WantedRows> wanted;
    for (int i = 0; i < 2; ++i) {
      rows.of[i].assign(keys[i].size() * widthOf(i), -1);
      rows.isUnknown[i].assign(keys[i].size(), 2);
      wanted.push_back({tableAt(i), int64_t(keys[i].size()), keys[i].data(),
                        reinterpret_cast<std::byte *>(rows.of[i].data()),
                        rows.isUnknown[i].data()});
    }
    const auto scratch = remote.makeScratch();
    rows.status = remote.read(wanted, *scratch, rows.isUnavailable);
    return rows;
  }
  /// Expects the rows that saves of the servers would contain at present.
  void expectTheirs(const Rows &rows) {
    ASSERT_TRUE(rows.status.ok()) << rows.status.message();
    for (size_t s = 0; s < 2; ++s)
      job.server(s).model().withholdPrepared();
    for (int i = 0; i < 2; ++i)
      for (size_t k = 0; k < keys[i].size(); ++k) {
        const EmbeddingTable &table = tableOf(i, keys[i][k]);
        std::vector<float> wanted(widthOf(i));
        void *row = rowOf(i, keys[i][k]);
        const bool isUnknown =
            !row || std::ranges::binary_search(table.withheld(), keys[i][k]);
        EXPECT_EQ(rows.isUnknown[i][k], isUnknown);
        if (!isUnknown)
          std::memcpy(wanted.data(), row, wanted.size() * sizeof(float));
        else if (i == 0) // the other table has unknown(zero)
          table.initialValue(keys[i][k], wanted.data());
        EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(),
                               &rows.of[i][k * wanted.size()]))
            << "table " << i << ", key " << keys[i][k];
      }
  }
  int64_t rowCount() {
    int64_t sum = 0;
    for (size_t s = 0; s < 2; ++s)
      for (int i = 0; i < 2; ++i)
        sum += job.server(s).model().table(tableAt(i))->size();
    return sum;
  }
  EmbeddingTable &tableOf(int i, int64_t key) {
    const auto owner = size_t(job.map().ownerOfKey(tableAt(i), key));
    return *job.server(owner).model().table(tableAt(i));
  }
  /// Returns the row of a key, or null if there is none.
  void *rowOf(int i, int64_t key) {
    void *row = nullptr;
    TableScratch scratch;
    tableOf(i, key).find(1, &key, &row, scratch);
    return row;
  }

  Gradients<float> presentGradients() {
    Gradients<float> gradients = randomGradients<float>(1, random)[0];
    gradients.present = true;
    gradients.weight = 2;
    return gradients;
  }
  /// Sends the trainer's request to each server: the gradients of a step and
  /// the keys of the next one. Null means none.
  void exchange(const Gradients<float> *now, const Gradients<float> *next) {
    // Messages refer to the gradients.
    const Gradients<float> nothing;
    const std::vector<Message> payloads =
        job.exchange(now ? *now : nothing, next, /*allValues=*/!now);
    const Envelope head = {MessageKind::Exchange, 0, 0, 1, ++sequence, 0};
    for (size_t s = 0; s < 2; ++s) {
      StateServer &server = job.server(s);
      const Expected<StepFacts> facts = server.check(head, payloads[s]);
      ASSERT_TRUE(facts.ok()) << facts.status().message();
      const bool isRound = server.roundPolicy().formsRounds(head.kind, *facts);
      ASSERT_TRUE(
          server.take(head, payloads[s], isRound ? Turn::InRound : Turn::Alone)
              .ok());
      ASSERT_TRUE(!isRound || server.closeRound(head.kind).ok());
      ASSERT_TRUE(server.respond({&head, 1}).ok());
    }
  }
  void step() {
    const Gradients<float> now = presentGradients();
    exchange(nullptr, &now);
    exchange(&now, nullptr);
  }

  std::mt19937 random{6};
  ServerJob<float> job;
  uint64_t sequence = 0;
  std::vector<int64_t> keys[2];
  const std::vector<std::string> names = {"one", "two"};
  std::unique_ptr<Clock> ownClock;
  std::unique_ptr<Transport> network;
  std::unique_ptr<ServerCore> cores[2];
  std::unique_ptr<Listener> listeners[2];
};

/// Runs in each mode whose servers apply steps.
class PreparedRowsTest : public ReadersTest,
                         public testing::WithParamInterface<int32_t> {
protected:
  PreparedRowsTest() : ReadersTest(GetParam()) {}
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Modes, PreparedRowsTest,
                         testing::Values(PDL_MODE_SYNC, PDL_MODE_ASYNC,
                                         PDL_MODE_HALF_ASYNC, PDL_MODE_QUORUM));

// Rows of a step that is not applied yet are not saved at this time.
TEST_P(PreparedRowsTest, AreUnknownUntilTheyAreUsed) {
  ConnectOptions options;
  options.rowAgeMillis = 0;
  const auto remote = connect(options);
  ASSERT_TRUE(remote.ok()) << remote.status().message();
  const Gradients<float> next = presentGradients();
  size_t first[2];
  for (int i = 0; i < 2; ++i) {
    first[i] = keys[i].size();
    for (const int64_t key : next.keys[i])
      if (!rowOf(i, key))
        keys[i].push_back(key);
    ASSERT_GT(keys[i].size(), first[i] + 10);
  }
  exchange(nullptr, &next);
  // Expects all new rows of each table to be unknown, except for the first
  // `used`.
  const auto expectUnknown = [&](size_t used) {
    const Rows rows = read(**remote);
    expectTheirs(rows);
    for (int i = 0; i < 2; ++i)
      for (size_t k = first[i]; k < keys[i].size(); ++k)
        EXPECT_EQ(rows.isUnknown[i][k], k >= first[i] + used);
  };
  expectUnknown(0);
  for (int i = 0; i < 2; ++i) {
    const int64_t used = keys[i][first[i]], changed = keys[i][first[i] + 1];
    ASSERT_TRUE(rowOf(i, used) && rowOf(i, changed));
    tableOf(i, used).layout().headerOf(rowOf(i, used)).noteUpdate(1);
    static_cast<float *>(rowOf(i, changed))[0] += 1;
  }
  expectUnknown(2);
  exchange(&next, nullptr);
  expectUnknown(keys[0].size() + keys[1].size());
}

TEST_F(ReadersTest, RowsAreThoseOfTheServersAndNoneIsMade) {
  ConnectOptions options;
  options.rowAgeMillis = 0;
  const auto remote = connect(options);
  ASSERT_TRUE(remote.ok()) << remote.status().message();
  const int64_t before = rowCount();
  expectTheirs(read(**remote));
  EXPECT_EQ(rowCount(), before);
  // One request to each server, and one visit.
  EXPECT_EQ((*remote)->counts().requests, 4);
  step();
  expectTheirs(read(**remote));
  EXPECT_EQ((*remote)->counts().hits, 0);
}

TEST_F(ReadersTest, RowsOfAStepToComeAreUnknown) {
  ConnectOptions options;
  options.rowAgeMillis = 0;
  const auto remote = connect(options);
  ASSERT_TRUE(remote.ok()) << remote.status().message();
  std::vector<Gradients<float>> next = randomGradients<float>(1, random);
  next[0].present = true;
  for (int i = 0; i < 2; ++i)
    keys[i] = next[0].keys[i];
  const Rows before = read(**remote);
  ASSERT_TRUE(before.status.ok()) << before.status.message();
  const int64_t count = rowCount();
  ASSERT_TRUE(job.step({}, next, random).ok());
  ASSERT_GT(rowCount(), count);
  const Rows prepared = read(**remote);
  ASSERT_TRUE(prepared.status.ok()) << prepared.status.message();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(prepared.isUnknown[i], Contains(1));
    EXPECT_THAT(prepared.isUnknown[i], Contains(0));
    EXPECT_EQ(prepared.isUnknown[i], before.isUnknown[i]);
    EXPECT_EQ(prepared.of[i], before.of[i]);
  }
  ASSERT_TRUE(job.step(next, {}, random).ok());
  const Rows applied = read(**remote);
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(applied.isUnknown[i], Each(0));
  expectTheirs(applied);
}

TEST_F(ReadersTest, ParametersAreThoseOfTheServers) {
  const auto remote = connect();
  ASSERT_TRUE(remote.ok());
  std::vector<std::vector<float>> found(BlockSymbols);
  std::vector<void *> pointers(BlockSymbols);
  for (const int32_t symbol : {BlockW, BlockB, BlockC}) {
    found[size_t(symbol)].resize(
        size_t(elementCount(job.descriptor().symbols[symbol])));
    pointers[size_t(symbol)] = found[size_t(symbol)].data();
  }
  int64_t updates = 0;
  bool isUnavailable = false;
  const Status status =
      (*remote)->readParameters(pointers, updates, isUnavailable);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(updates, 1);
  for (const int32_t symbol : {BlockW, BlockB, BlockC})
    for (size_t s = 0; s < 2; ++s) {
      const auto *own =
          static_cast<const float *>(job.server(s).model().value(symbol));
      const int64_t width = job.descriptor().symbols[symbol].row_width;
      for (const RowBlock &run : job.map().rowsOf(symbol, int32_t(s))) {
        EXPECT_EQ(std::memcmp(
                      own, &found[size_t(symbol)][size_t(run.firstRow * width)],
                      size_t(run.rowCount * width) * sizeof(float)),
                  0);
        own += run.rowCount * width;
      }
    }
}

TEST_F(ReadersTest, RowsMayBeAsOldAsWasSaid) {
  ConnectOptions options;
  options.rowAgeMillis = 1 << 30;
  const auto remote = connect(options);
  ASSERT_TRUE(remote.ok());
  const Rows before = read(**remote);
  step();
  const Rows after = read(**remote);
  EXPECT_EQ(before.of[0], after.of[0]);
  const RowCounts counts = (*remote)->counts();
  EXPECT_EQ(counts.misses, int64_t(keys[0].size() + keys[1].size()));
  EXPECT_EQ(counts.hits, counts.misses);
}

TEST_F(ReadersTest, ServersThatAreStartedAnewAreVisited) {
  ConnectOptions options;
  options.rowAgeMillis = 0;
  const auto remote = connect(options);
  ASSERT_TRUE(remote.ok());
  start(1, /*jobId=*/9);
  expectTheirs(read(**remote));
}

TEST_F(ReadersTest, AServerThatIsGoneIsOneMessageUntilItIsBack) {
  ConnectOptions options;
  options.rowAgeMillis = 0;
  const auto remote = connect(options);
  ASSERT_TRUE(remote.ok());
  listeners[1].reset();
  const Rows rows = read(**remote);
  EXPECT_THAT(rows.status.message(), HasSubstr("server two does not respond"));
  EXPECT_TRUE(rows.isUnavailable);
  start(1, 2);
  expectTheirs(read(**remote));
  // A failed job gives its reason.
  cores[0]->fail(Status::ioError("the disk is full"));
  EXPECT_EQ(read(**remote).status.message(), "server one: the disk is full");
}

TEST_F(ReadersTest, WhatDoesNotFitIsRefused) {
  ConnectOptions options;
  options.timeoutMillis = 200;
  const auto refused = [&](std::vector<std::string> servers) {
    options.servers = std::move(servers);
    return connect(options).status().message();
  };
  EXPECT_THAT(refused({"one"}), HasSubstr("give the addresses of all servers"));
  EXPECT_THAT(refused({"one", "three"}), HasSubstr("server three did not "
                                                   "respond within 200 ms"));
  listeners[1] = *network->listen("again", cores[0]->handler());
  EXPECT_THAT(refused({"one", "again"}), HasSubstr("and so does one"));
}

TEST_F(ReadersTest, ServersOfTwoJobsAreRefused) {
  const auto join = [&](size_t s, uint64_t incarnation) {
    Handshake handshake = job.server(s).handshake();
    handshake.workers = 1;
    handshake.checkpoint = testing::TempDir();
    cores[s]->handle(joinFrame({MessageKind::Join, 0, 0, incarnation, 0, 0},
                               encodeHandshake(handshake)),
                     Responder());
  };
  join(0, 5 << 20);
  // The trainers have not joined the other server yet.
  EXPECT_TRUE(connect().ok());
  // A restarted trainer that the other server has not seen yet.
  join(1, (5 << 20) + 1);
  EXPECT_TRUE(connect().ok());
  start(1, /*jobId=*/2);
  join(1, 6 << 20);
  EXPECT_EQ(connect().status().message(),
            "server two: is of another job than one; give the addresses of one "
            "job's servers");
}

TEST_F(ReadersTest, DamagedRequestsAreRefused) {
  StateServer &server = job.server(0);
  for (const std::string &text : {std::string(), std::string(15, '\0'),
                                  std::string(16, '\xff'), std::string("{}")}) {
    EXPECT_FALSE(server.respondToRead(Message::ofString(text)).ok());
    EXPECT_FALSE(server.respondToVisit(Message::ofString(text)).ok());
  }
  const int64_t key = keys[0][0];
  const auto owner = size_t(job.map().ownerOfKey(BlockLazy, key));
  const auto of = [&](uint64_t symbol) {
    return encodeRead({{{symbol, {&key, 1}}}, false});
  };
  EXPECT_TRUE(job.server(owner).respondToRead(of(BlockLazy)).ok());
  EXPECT_THAT(
      job.server(1 - owner).respondToRead(of(BlockLazy)).status().message(),
      HasSubstr("is not there"));
  EXPECT_THAT(server.respondToRead(of(BlockW)).status().message(),
              HasSubstr("no table here"));
  EXPECT_FALSE(server.respondToRead(of(1000)).ok());
  // Descriptions by a server with duplicate rows, or with more rows than can be
  // counted.
  for (const std::string &rows :
       {std::string("[[0,300]]"), std::string("[[0,10],[9,1]]"),
        std::string("[[0,10],[10,1537228672809129292]]"),
        std::string("[[9223372036854775807,1]]"), std::string("[[-1,2]]"),
        std::string("[[0,-1]]"), std::string("[[0]]")}) {
    const auto said = decodeContents(Message::ofString(
        R"({"version":1,"model":"m","seed":0,"owner":0,"owners":1,"parts":[],)"
        R"("symbols":[{"name":"w","part":"","storage":0,"row_bytes":12,"rows":)" +
        rows + "}]}"));
    EXPECT_EQ(said.ok(), rows == "[[0,300]]") << rows;
  }
  // Each byte of a response counts, and truncation is detected.
  const auto answer = job.server(owner).respondToRead(of(BlockLazy));
  const auto contents = decodeContents(
      *job.server(owner).respondToVisit(encodeVisit({"blocks"})));
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  const ReadRequest request = {{{BlockLazy, {&key, 1}}}, false};
  const std::string bytes = answer->toString();
  EXPECT_TRUE(decodeReadResponse(*answer, request, *contents).ok());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decodeReadResponse(Message::ofString(bytes.substr(0, size)),
                                    request, *contents)
                     .ok());
}
