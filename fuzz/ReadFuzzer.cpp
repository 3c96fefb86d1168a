//===- ReadFuzzer.cpp - Fuzzes the messages of readers and servers --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuzzes both sides: a server receives arbitrary visits, reads and frames, and
// a library receives arbitrary responses. They must not change the server or
// its state.
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "Serving/ServerRows.h"
#include "Support/HandWrittenProgram.h"
#include "pdlrt/Protocol/ReadCodec.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Server/StateServer.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

using namespace pdlrt;

namespace {

/// Kind of the input, given by its first byte.
enum class Kind { Visit, Read, Frame, Answers };
constexpr int kindCount = 4;

constexpr uint64_t jobId = 77;
constexpr std::array<int64_t, 4> keys = {-7, 0, 10, 11};
/// Number of the keys that have rows.
constexpr size_t keysWithRows = 2;

/// The only server of a job. Its table has some rows.
struct Job {
  Job() {
    ProgramVariant variant;
    variant.mode = PDL_MODE_SYNC;
    variant.role = PDL_ROLE_PSERVER;
    descriptor = handWrittenProgram(variant);
    placement =
        *Placement::compute(*descriptor, 1, 1, PlacementPolicy::LeastLoaded);
    Handshake handshake = Handshake::of(*descriptor, *placement);
    handshake.trainers = 1;
    server = *createStateServer(
        {*descriptor, *placement, handshake, scheduler,
         SaveFolder(std::filesystem::temp_directory_path().string())});
    std::array<void *, keysWithRows> rows = {};
    TableScratch scratch;
    int64_t inserted = 0;
    (void)table().findOrInsert(keysWithRows, keys.data(), rows.data(), scratch,
                               inserted);
  }
  EmbeddingTable &table() { return *server->model().table(SymbolTable); }

  const pdl_descriptor *descriptor;
  std::optional<Placement> placement;
  Scheduler scheduler{1};
  std::unique_ptr<StateServer> server;
};

/// A transport whose only server returns predefined responses.
class Told final : public Transport {
public:
  Told(Clock &of, std::string contents, std::string read)
      : of(of), contents(std::move(contents)), read(std::move(read)) {}
  Clock &clock() override { return of; }
  Expected<std::unique_ptr<Listener>> listen(const std::string &,
                                             RequestHandler) override {
    return Status::unavailable("nobody listens");
  }
  Expected<std::unique_ptr<Connection>> connect(const std::string &) override {
    return std::unique_ptr<Connection>(std::make_unique<Answering>(*this));
  }

private:
  struct Answering final : Connection {
    explicit Answering(const Told &told) : told(told) {}
    void call(Message request, ClockTime, CallDone done) override {
      Envelope head = splitFrame(request)->head;
      const bool isVisit = head.kind == MessageKind::Visit;
      head.kind = MessageKind::Response;
      done({CallOutcome::Responded,
            joinFrame(head, inSlices(isVisit ? told.contents : told.read))});
    }
    const Told &told;
  };

  Clock &of;
  const std::string contents, read;
};

/// A clock that stands still.
struct NoClock final : Clock {
  ClockTime now() const override { return {}; }
  void runAt(ClockTime, std::function<void()>) override {}
};

} // namespace

static Job &job() {
  static Job made;
  return made;
}

static std::string contentsOfJob() {
  return job()
      .server->respondToVisit(encodeVisit({job().descriptor->model_name}))
      ->toString();
}

static ReadRequest wantedRead(bool withParameters) {
  ReadRequest request;
  request.withParameters = withParameters;
  if (!withParameters)
    request.tables.push_back({SymbolTable, keys});
  return request;
}

/// Combines the contents, preceded by their size in 2 bytes, and a response.
static std::string responsesOf(const std::string &contents,
                               const std::string &read) {
  return std::string{char(contents.size() & 255), char(contents.size() >> 8)} +
         contents + read;
}

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  const auto add = [&](Kind kind, const std::string &bytes) {
    seeds.push_back(char(kind) + bytes);
  };
  const Message visit = encodeVisit({job().descriptor->model_name});
  add(Kind::Visit, visit.toString());
  add(Kind::Frame,
      joinFrame({MessageKind::Visit, 0, 0, 0, 0, 0}, visit).toString());
  for (const bool withParameters : {false, true}) {
    const Message read = encodeRead(wantedRead(withParameters));
    add(Kind::Read, read.toString());
    add(Kind::Frame,
        joinFrame({MessageKind::Read, 0, 0, jobId, 0, 0}, read).toString());
    add(Kind::Answers,
        responsesOf(contentsOfJob(),
                    job().server->respondToRead(read)->toString()));
  }
  return seeds;
}

/// Fuzzes reads. The client must accept the server's response.
static void fuzzRead(const Message &payload) {
  const Expected<Decoded<ReadRequest>> read = decodeRead(payload);
  const Expected<Message> response = job().server->respondToRead(payload);
  if (!read) {
    if (response)
      __builtin_trap();
    return;
  }
  // Except unused bits of the first number.
  if (encodeRead(read->content).toString().substr(8) !=
      payload.toString().substr(8))
    __builtin_trap();
  if (response &&
      !decodeReadResponse(*response, read->content,
                          *decodeContents(Message::ofString(contentsOfJob()))))
    __builtin_trap();
}

/// Fuzzes frames in the way in which a transport passes them to a server.
static void fuzzFrame(const Message &message) {
  static NoClock clock;
  ServerCoreOptions options;
  options.jobId = jobId;
  ServerCore core(options, *job().server, clock);
  const Expected<Frame> frame = splitFrame(message);
  // Other kinds are covered by FrameFuzzer and PayloadFuzzer.
  if (!frame || (frame->head.kind != MessageKind::Visit &&
                 frame->head.kind != MessageKind::Read))
    return;
  if (core.screen(message, message.size()))
    return;
  core.handle(message, Responder());
  if (core.status().state != JobState::Running)
    __builtin_trap();
}

/// Fuzzes responses. A library must write only to its output buffers, whatever
/// servers respond.
static void fuzzResponses(const std::string &bytes) {
  if (bytes.size() < 2)
    return;
  const size_t size = uint8_t(bytes[0]) | size_t(uint8_t(bytes[1])) << 8;
  const std::string contents = bytes.substr(2, size);
  const std::string read = bytes.substr(2 + contents.size());
  ConnectOptions options;
  options.servers = {"server"};
  options.cacheBytes = 1 << 16;
  auto clock = std::make_unique<NoClock>();
  auto network = std::make_unique<Told>(*clock, contents, read);
  bool isUnavailable = false;
  const auto rows =
      ServerRows::connect(*job().descriptor, options, std::move(clock),
                          std::move(network), isUnavailable);
  if (!rows)
    return;
  std::vector<std::byte> found(keys.size() * (*rows)->rowBytesOf(SymbolTable));
  std::array<uint8_t, keys.size()> unknown = {};
  const WantedRows wanted = {SymbolTable, int64_t(keys.size()), keys.data(),
                             found.data(), unknown.data()};
  const auto scratch = (*rows)->makeScratch();
  (void)(*rows)->read({&wanted, 1}, *scratch, isUnavailable);
  std::vector<float> weights(handWrittenDense), bias(1);
  const std::array<void *, 3> parameters = {weights.data(), bias.data(),
                                            nullptr};
  int64_t updates = 0;
  (void)(*rows)->readParameters(parameters, updates, isUnavailable);
}

void fuzzOne(const std::string &bytes) {
  if (bytes.empty())
    return;
  const std::string rest = bytes.substr(1);
  const auto rowsBefore = job().table().size();
  switch (Kind(uint8_t(bytes[0]) % kindCount)) {
  case Kind::Visit: {
    const Expected<Visitor> visitor = decodeVisit(inSlices(rest));
    const bool isRespondedTo =
        job().server->respondToVisit(inSlices(rest)).ok();
    if (isRespondedTo && !visitor)
      __builtin_trap();
    break;
  }
  case Kind::Read:
    fuzzRead(inSlices(rest));
    break;
  case Kind::Frame:
    fuzzFrame(inSlices(rest));
    break;
  case Kind::Answers:
    fuzzResponses(rest);
    break;
  }
  if (job().table().size() != rowsBefore)
    __builtin_trap();
}
