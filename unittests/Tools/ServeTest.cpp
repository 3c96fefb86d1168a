//===- ServeTest.cpp - Loading and reading requests in pdl-serve ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batcher.h"
#include "GrpcServer.h"
#include "HttpApi.h"
#include "JsonRequest.h"
#include "Library.h"
#include "MemoryBudget.h"
#include "Metrics.h"
#include "Repository.h"
#include "ServersFile.h"
#include "Support/HandWrittenProgram.h"
#include "Support/TestFolder.h"
#include "Version.h"
#include "VersionFolder.h"
#include "inference.pb.h"
#include "pdlabi/library_checksum.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Executor.h"
#include "pdlrt/State/Model.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <future>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <utility>
#include <vector>
#include <xxhash.h>

using namespace pdlrt;
using namespace pdlserve;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

namespace {

//===----------------------------------------------------------------------===//
// The budget
//===----------------------------------------------------------------------===//

TEST(ServeBudget, GivesNoMoreThanItHas) {
  MemoryBudget budget(100);
  Reservation first(budget), second(budget), none;
  EXPECT_TRUE(first.grow(60));
  EXPECT_FALSE(second.grow(41));
  EXPECT_TRUE(second.grow(40));
  EXPECT_EQ(budget.taken(), 100U);
  first.shrink(1000);
  EXPECT_EQ(budget.taken(), 40U);
  first = std::move(second);
  EXPECT_EQ(first.size(), 40U);
  first.release();
  EXPECT_EQ(budget.taken(), 0U);
  EXPECT_FALSE(budget.take(UINT64_MAX));
  EXPECT_FALSE(none.grow(1));
}

TEST(ServeBudget, MemoryIsTakenBeforeItIsAllocated) {
  MemoryBudget budget(1 << 20);
  Reservation memory(budget);
  std::string text;
  size_t added = 0;
  while (makeRoom(text, 1000, memory)) {
    text.append(1000, 'x');
    added += 1000;
    ASSERT_GE(budget.taken(), text.capacity());
  }
  // Old and new memory are there at the same time.
  EXPECT_GT(added, size_t(1 << 20) / 3);
  EXPECT_LE(text.capacity(), size_t(1 << 20));
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Outcome parse(std::string body, uint64_t memoryBytes = 1 << 20) {
  MemoryBudget budget(memoryBytes);
  Reservation memory(budget);
  JsonRequest request;
  return parseJsonRequest(body, std::nullopt, memory, request);
}

std::string requestWith(const std::string &input,
                        const std::string &more = "") {
  return R"({"inputs":[{"name":"x","datatype":"INT64","shape":[1],"data":[1])" +
         input + "}]" + more + "}";
}

TEST(ServeJson, KeysStandOnce) {
  EXPECT_TRUE(parse(requestWith("")).ok());
  for (const std::string &twice :
       {requestWith(R"(,"name":"x")"), requestWith(R"(,"datatype":"INT64")"),
        requestWith(R"(,"shape":[1])"), requestWith(R"(,"data":[1])"),
        requestWith(R"(,"parameters":{},"parameters":{})"),
        requestWith("", R"(,"id":"a","id":"a")"),
        requestWith("", R"(,"inputs":[])"),
        requestWith("", R"(,"outputs":[],"outputs":[])"),
        requestWith("", R"(,"parameters":{},"parameters":{})"),
        requestWith("", R"(,"outputs":[{"name":"a","name":"b"}])"),
        requestWith(
            "", R"(,"outputs":[{"name":"a","parameters":{"binary_data":true,)"
                R"("binary_data":false}}])")}) {
    const Outcome outcome = parse(twice);
    EXPECT_EQ(outcome.code, Code::BadRequest) << twice;
    EXPECT_THAT(outcome.sentence, HasSubstr("twice in one object")) << twice;
  }
}

TEST(ServeJson, ParametersThatWouldChangeTheAnswerAreRefused) {
  for (const std::string name :
       {"classification", "shared_memory_region", "shared_memory_offset",
        "shared_memory_byte_size", "sequence_id", "sequence_start",
        "sequence_end"}) {
    const std::string parameters = R"("parameters":{")" + name + R"(":1})";
    for (const std::string &with :
         {requestWith("," + parameters), requestWith("", "," + parameters),
          requestWith("", R"(,"outputs":[{"name":"a",)" + parameters + "}]")}) {
      const Outcome outcome = parse(with);
      EXPECT_EQ(outcome.code, Code::BadRequest) << with;
      EXPECT_THAT(outcome.sentence, HasSubstr("'" + name + "'")) << with;
    }
  }
  // What changes nothing is allowed.
  EXPECT_TRUE(parse(requestWith("", R"(,"parameters":{"sequence_id":0,)"
                                    R"("sequence_start":false,"priority":7,)"
                                    R"("timeout":5,"mine":[{}]})"))
                  .ok());
}

TEST(ServeJson, MemoryAndCountsAreBounded) {
  std::string texts = R"({"inputs":[{"name":"x","datatype":"BYTES",)"
                      R"("shape":[1],"data":[)";
  for (int i = 0; i < 20000; ++i)
    texts += "\"\",";
  texts += "\"\"]}]}";
  EXPECT_TRUE(parse(texts, 10 * texts.size() + 300000).ok());
  // Each empty text takes 8 bytes, and 3 in the message.
  EXPECT_EQ(parse(texts, 7 * texts.size()).code, Code::Unavailable);
  std::string inputs = R"({"inputs":[)", outputs = R"(,"outputs":[)";
  for (int i = 0; i < 1025; ++i) {
    inputs += R"({"name":"x","datatype":"INT64","shape":[1],"data":[1]},)";
    outputs += R"({"name":"a"},)";
  }
  inputs.back() = outputs.back() = ']';
  EXPECT_THAT(parse(inputs + "}", 1 << 24).sentence,
              HasSubstr("more than 1024 inputs"));
  EXPECT_THAT(parse(requestWith("", outputs), 1 << 24).sentence,
              HasSubstr("more than 1024 outputs"));
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

std::string contentOfFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A library as pdl-translate writes it. `beside`: the names and contents of
/// libraries that it needs.
std::string
seal(const std::string &library,
     const std::vector<std::pair<std::string, std::string>> &beside = {}) {
  std::string content = contentOfFile(library);
  const size_t linked = content.size();
  for (const auto &[name, bytes] : beside)
    content +=
        fmt::format("{} {:x}\n", name, XXH3_64bits(bytes.data(), bytes.size()));
  pdl_library_checksum end = {};
  std::memcpy(end.magic, PDL_LIBRARY_CHECKSUM_MAGIC, sizeof(end.magic));
  end.companion_bytes = content.size() - linked;
  end.covered_bytes = content.size();
  end.xxh3 = XXH3_64bits(content.data(), content.size());
  content.append(reinterpret_cast<const char *>(&end), sizeof(end));
  return content;
}

class ServeLibrary : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directories(folder.file("m/1"));
    path = folder.write("m/1/library.so", seal(PDL_TEST_LIBRARY));
    values = folder.file("m/1/values.safetensors");
    const Model model(*handWrittenProgram({}), 3);
    ASSERT_TRUE(dumpModel(model, values, false).ok());
  }

  std::string whyNot(bool takesUnchecked = false) {
    auto library = Library::open(path, takesUnchecked);
    return library ? "" : library.status().message();
  }

  TestFolder folder;
  std::string path, values;
};

TEST_F(ServeLibrary, OneThatIsTornIsNotMapped) {
  const std::string whole = contentOfFile(path);
  EXPECT_EQ(whyNot(), "");
  // A block that never came to the disk, wherever it is.
  for (size_t i = 0; i < 16; ++i) {
    const size_t at = whole.size() / 16 * i / 4096 * 4096;
    std::string torn = whole;
    torn.replace(at, 4096, 4096, '\0');
    if (torn == whole)
      continue;
    folder.write("m/1/library.so", torn);
    EXPECT_THAT(whyNot(), HasSubstr("library.so")) << at;
    EXPECT_THAT(whyNot(true), HasSubstr("library.so")) << at;
  }
  folder.write("m/1/library.so", whole.substr(0, whole.size() - 1));
  EXPECT_THAT(whyNot(), HasSubstr("has no checksum at its end"));
  std::string torn = whole;
  torn.replace(whole.size() - 4096, 4096, 4096, '\0');
  folder.write("m/1/library.so", torn);
  EXPECT_THAT(whyNot(), HasSubstr("has no checksum at its end"));
  folder.write("m/1/library.so", whole + whole);
  EXPECT_THAT(whyNot(), HasSubstr("is damaged"));
}

TEST_F(ServeLibrary, OneWithoutChecksumIsTakenOnlyIfAsked) {
  path = PDL_TEST_LIBRARY;
  EXPECT_THAT(whyNot(), HasSubstr("--take-unchecked-libraries"));
  EXPECT_EQ(whyNot(true), "");
}

TEST_F(ServeLibrary, WhatItNeedsIsCheckedToo) {
  folder.write("m/1/library.so",
               seal(PDL_TEST_LIBRARY, {{"libneeded.so.2", "content"}}));
  EXPECT_EQ(whyNot(), "");
  folder.write("m/1/libneeded.so.2", "content");
  EXPECT_EQ(whyNot(), "");
  folder.write("m/1/libneeded.so.2", "c0ntent");
  EXPECT_THAT(whyNot(), HasSubstr("needs libneeded.so.2"));
}

TEST_F(ServeLibrary, OnlyRegularFilesAreOpened) {
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(whyNot(), HasSubstr("is no regular file"));
  const std::string servers = folder.file("servers.json");
  ASSERT_EQ(::mkfifo(servers.c_str(), 0600), 0);
  EXPECT_THAT(readServersFile(servers).status().message(),
              HasSubstr("is not a regular file"));
}

/// What a process has, of which a leak takes more and more.
struct Holdings {
  size_t descriptors = 0, mappings = 0, residentKiB = 0;
};

Holdings holdings() {
  Holdings now;
  now.descriptors = size_t(std::distance(
      fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
  std::ifstream maps("/proc/self/maps"), status("/proc/self/status");
  std::string line;
  while (std::getline(maps, line))
    ++now.mappings;
  while (std::getline(status, line))
    if (line.starts_with("VmRSS:"))
      now.residentKiB = std::stoul(line.substr(6));
  return now;
}

void expectFlat(const Holdings &before, const Holdings &after) {
  EXPECT_LE(after.descriptors, before.descriptors);
  // Arenas of malloc may be split.
  EXPECT_LE(after.mappings, before.mappings + 16);
  EXPECT_LE(after.residentKiB, before.residentKiB + (8 << 10));
}

/// Runs tasks in one thread, as workers of a server do: it lives longer than
/// the libraries whose functions it calls.
class OldThread {
public:
  void run(const std::function<void()> &task) {
    std::promise<void> done;
    thread.run([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

private:
  ThreadExecutor thread;
};

TEST_F(ServeLibrary, AThousandFailuresLeaveNothingBehind) {
  Metrics metrics;
  const std::string none = folder.file("none.safetensors");
  for (const char *library : {PDL_TEST_LIBRARY, PDL_TEST_NODELETE_LIBRARY}) {
    folder.write("m/1/library.so", seal(library));
    // Of the second kind: it stays in memory, once.
    Holdings before;
    for (int i = 0; i < 1000; ++i) {
      if (i == 100)
        before = holdings();
      ASSERT_FALSE(Version::open("m", 1, path, none, {}, metrics));
    }
    expectFlat(before, holdings());
  }
}

TEST_F(ServeLibrary, AThousandSwapsLeaveNothingBehind) {
  Metrics metrics;
  OldThread worker;
  // Two files of one content are two libraries.
  const std::string paths[] = {path,
                               folder.write("other.so", contentOfFile(path))};
  Holdings before;
  std::shared_ptr<Version> version;
  for (int i = 0; i < 1000; ++i) {
    if (i == 100)
      before = holdings();
    auto opened = Version::open("m", 1, paths[i % 2], values, {}, metrics);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    version = *std::move(opened);
    ASSERT_TRUE(version->reload(values, {}).ok());
    // A failure leaves its sentence in the thread.
    worker.run([&] {
      EXPECT_FALSE(version->run(0, 0, nullptr, nullptr, nullptr).ok());
    });
  }
  expectFlat(before, holdings());
}

TEST_F(ServeLibrary, OneFileIsLoadedOnce) {
  auto first = Library::open(path, false), second = Library::open(path, false);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->get(), second->get());
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

TEST_F(ServeLibrary, FilesThatChangeAreSeen) {
  const auto digest = [&] { return digestOfNames(folder.file("m/1")); };
  const uint64_t first = digest();
  EXPECT_EQ(digest(), first);
  folder.write("m/1/.hidden", "x");
  folder.write("m/1/step.tmp.7", "x");
  // The folder's own time is none of what lies in it.
  EXPECT_EQ(digest(), first);
  std::ofstream(values, std::ios::app) << "x";
  EXPECT_NE(digest(), first);
}

/// Looks at the folder until what is in it answers.
void lookUntilReady(Repository &repository) {
  std::string why;
  for (int i = 0; i < 1000 && !repository.isReady(why); ++i) {
    repository.look();
    repository.waitForChange(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(repository.isReady(why)) << why;
}

TEST_F(ServeLibrary, AVersionIsReadyOnceItIsLoaded) {
  Metrics metrics;
  Repository repository(folder.file(""), {}, {}, metrics);
  std::string why;
  EXPECT_FALSE(repository.isReady(why));
  EXPECT_THAT(why, HasSubstr("has not been read yet"));
  Found found;
  repository.look();
  for (int i = 0; i < 1000 && !repository.isReady(why); ++i) {
    EXPECT_THAT(why, HasSubstr("is being loaded"));
    EXPECT_EQ(repository.find("m", "", found).code, Code::Unavailable);
    repository.waitForChange(std::chrono::milliseconds(100));
    repository.look();
  }
  EXPECT_TRUE(repository.isReady(why)) << why;
  EXPECT_TRUE(repository.find("m", "1", found).ok());
}

/// Notes by which thread it is answered.
class NotingClient final : public HttpClient {
public:
  void answer(HttpAnswer answer) override {
    noted.set_value({std::this_thread::get_id(), answer.status});
  }
  std::promise<std::pair<std::thread::id, unsigned>> noted;
};

TEST_F(ServeLibrary, ThreadsOfConnectionsDoNoLongWork) {
  Metrics metrics;
  Repository repository(folder.file(""), {}, {}, metrics);
  Batcher batcher({}, metrics);
  MemoryBudget budget(1 << 24);
  const std::atomic<bool> isStopping = false;
  HttpApi api(repository, batcher, budget, metrics, isStopping, {});
  const auto answeredHere = [&](const char *method, const char *target,
                                size_t bodyBytes) {
    const auto client = std::make_shared<NotingClient>();
    HttpRequest request;
    request.method = method;
    request.target = target;
    request.body.assign(bodyBytes, ' ');
    request.memory = Reservation(budget);
    api.handle(std::move(request), client);
    return client->noted.get_future().get().first == std::this_thread::get_id();
  };
  EXPECT_TRUE(answeredHere("GET", "/v2/health/live", 0));
  EXPECT_TRUE(answeredHere("GET", "/v2/health/ready", 0));
  EXPECT_TRUE(answeredHere("POST", "/v2/models/m/infer", 100));
  EXPECT_FALSE(answeredHere("POST", "/v2/models/m/infer", 100000));
  EXPECT_FALSE(answeredHere("GET", "/metrics", 0));
}

TEST_F(ServeLibrary, MetricsOfARemovedVersionGo) {
  Metrics metrics;
  Repository repository(folder.file(""), {}, {}, metrics);
  lookUntilReady(repository);
  Found found;
  ASSERT_TRUE(repository.find("m", "", found).ok());
  metrics.countFailure(&found.version->metricsOf(0), Protocol::Http,
                       Code::BadRequest);
  EXPECT_THAT(metrics.text(), HasSubstr("model=\"m\""));
  fs::remove_all(folder.file("m"));
  repository.look();
  // A request may still be answered by it.
  EXPECT_THAT(metrics.text(), HasSubstr("outcome=\"bad_request\""));
  found = {};
  EXPECT_THAT(metrics.text(), Not(HasSubstr("model=\"m\"")));
}

TEST_F(ServeLibrary, RowsOfAReplacedVersionAreCounted) {
  Metrics metrics;
  Repository repository(folder.file(""), {}, {}, metrics);
  lookUntilReady(repository);
  Found before, now;
  ASSERT_TRUE(repository.find("m", "", before).ok());
  const std::string library = contentOfFile(path);
  fs::remove(path);
  folder.write("m/1/library.so", library);
  for (int i = 0; i < 1000; ++i) {
    repository.look();
    ASSERT_TRUE(repository.find("m", "", now).ok());
    if (now.version != before.version)
      break;
    repository.waitForChange(std::chrono::milliseconds(100));
  }
  ASSERT_NE(now.version, before.version);
  // A request that found the version before it was replaced.
  const std::vector<float> dense(handWrittenDense);
  const std::vector<int64_t> ids(handWrittenSlots);
  const int32_t splits[handWrittenSlots + 1] = {0, 1, 2};
  const pdl_serving_input inputs[] = {{dense.data(), nullptr, nullptr, nullptr},
                                      {ids.data(), splits, nullptr, nullptr}};
  const int32_t areKeys[] = {0, 1};
  float score = 0;
  void *const outputs[] = {&score};
  const Outcome run =
      before.version->run(before.program, 1, inputs, areKeys, outputs);
  ASSERT_TRUE(run.ok()) << run.sentence;
  before = {};
  repository.look();
  const std::string counted = "outcome=\"unknown\",version=\"1\"} " +
                              std::to_string(handWrittenSlots) + "\n";
  EXPECT_THAT(metrics.text(), HasSubstr(counted));
  repository.look();
  EXPECT_THAT(metrics.text(), HasSubstr(counted));
}

//===----------------------------------------------------------------------===//
// gRPC
//===----------------------------------------------------------------------===//

/// Returns the bytes of a message; none if there is none.
std::string bytesOf(const grpc::ByteBuffer &message) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (message.Dump(&slices).ok())
    for (const grpc::Slice &each : slices)
      bytes.append(reinterpret_cast<const char *>(each.begin()), each.size());
  return bytes;
}

/// Notes what gRPC's health service says of the server, until the call is
/// cancelled.
class HealthWatcher final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
public:
  explicit HealthWatcher(grpc::GenericStub &stub) {
    stub.PrepareBidiStreamingCall(&context, "/grpc.health.v1.Health/Watch", {},
                                  this);
    StartWriteLast(&request, {});
    StartRead(&response);
    StartCall();
  }
  void OnReadDone(bool ok) override {
    if (!ok)
      return;
    {
      const std::lock_guard lock(mutex);
      told.push_back(bytesOf(response));
    }
    StartRead(&response);
  }
  void OnDone(const grpc::Status &) override { done.set_value(); }

  /// Returns all messages as soon as there are `count`, and others had time to
  /// come.
  std::vector<std::string> waitFor(size_t count) {
    for (int i = 0; i < 1000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const std::lock_guard lock(mutex);
      if (told.size() >= count)
        return told;
    }
    return {};
  }
  void end() {
    context.TryCancel();
    done.get_future().wait();
  }

private:
  grpc::ClientContext context;
  const grpc::Slice slice;
  const grpc::ByteBuffer request{&slice, 1};
  grpc::ByteBuffer response;
  std::mutex mutex;
  std::vector<std::string> told;
  std::promise<void> done;
};

/// A client of a server by gRPC, at a free port.
class ServeGrpc : public ServeLibrary {
protected:
  void SetUp() override {
    ServeLibrary::SetUp();
    lookUntilReady(repository);
    GrpcOptions options;
    options.maxSamples = 10;
    server.emplace(repository, batcher, budget, metrics, isStopping, options);
    const auto places = server->start({"127.0.0.1:0"});
    ASSERT_TRUE(places.ok()) << places.status().message();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub.emplace(grpc::CreateCustomChannel(
        places->front(), grpc::InsecureChannelCredentials(), arguments));
  }

  /// What a method answers to bytes.
  grpc::Status callRaw(const std::string &method, const std::string &request,
                       std::string &response) {
    const grpc::Slice slice(request);
    const grpc::ByteBuffer sent(&slice, 1);
    grpc::ByteBuffer received;
    grpc::ClientContext context;
    std::promise<grpc::Status> done;
    stub->UnaryCall(
        &context, method, {}, &sent, &received,
        [&](grpc::Status status) { done.set_value(std::move(status)); });
    grpc::Status status = done.get_future().get();
    response = status.ok() ? bytesOf(received) : "";
    return status;
  }

  grpc::Status infer(const inference::ModelInferRequest &request,
                     inference::ModelInferResponse &response) {
    std::string bytes;
    const grpc::Status status =
        callRaw("/inference.GRPCInferenceService/ModelInfer",
                request.SerializeAsString(), bytes);
    EXPECT_TRUE(!status.ok() || response.ParseFromString(bytes));
    return status;
  }

  /// Calls end a little after their answer.
  bool isAllGivenBack() const {
    for (int i = 0; i < 1000 && budget.taken() > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return budget.taken() == 0;
  }

  /// A request of `samples` samples, whose ids are keys as the table has them.
  static inference::ModelInferRequest requestOf(int samples) {
    inference::ModelInferRequest request;
    request.set_model_name("m");
    auto &dense = *request.add_inputs();
    dense.set_name("dense");
    dense.set_datatype("FP32");
    dense.add_shape(samples);
    dense.add_shape(handWrittenDense);
    auto &ids = *request.add_inputs();
    ids.set_name("ids");
    ids.set_datatype("UINT64");
    ids.add_shape(samples);
    ids.add_shape(handWrittenSlots);
    for (int64_t i = 0; i < samples * handWrittenDense; ++i)
      dense.mutable_contents()->add_fp32_contents(float(i));
    for (int64_t i = 0; i < samples * handWrittenSlots; ++i)
      ids.mutable_contents()->add_uint64_contents(i);
    return request;
  }

  Metrics metrics;
  Repository repository{folder.file(""), {}, {}, metrics};
  Batcher batcher{{}, metrics};
  MemoryBudget budget{64 << 20};
  const std::atomic<bool> isStopping = false;
  std::optional<GrpcServer> server;
  std::optional<grpc::GenericStub> stub;
};

TEST_F(ServeGrpc, AnswersWhatItIsAsked) {
  inference::ModelInferResponse response;
  const inference::ModelInferRequest request = requestOf(3);
  for (int i = 0; i < 3; ++i) {
    const grpc::Status status = infer(request, response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.model_version(), "1");
    ASSERT_EQ(response.outputs_size(), 1);
    EXPECT_EQ(response.outputs(0).shape(0), 3);
  }
  std::string bytes;
  const std::string service = "/inference.GRPCInferenceService/";
  ASSERT_TRUE(callRaw(service + "ServerLive", "", bytes).ok());
  EXPECT_EQ(bytes, std::string("\x08\x01", 2));
  ASSERT_TRUE(callRaw(service + "ServerReady", "", bytes).ok());
  EXPECT_EQ(bytes, std::string("\x08\x01", 2));
  EXPECT_EQ(callRaw(service + "Other", "", bytes).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  // The standard service: 1 is SERVING.
  const std::string check = "/grpc.health.v1.Health/Check";
  for (const std::string &name : {"", "\x0a\x01m"}) {
    const grpc::Status status = callRaw(check, name, bytes);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(bytes, std::string("\x08\x01", 2));
  }
  EXPECT_EQ(callRaw(check, "\x0a\x01n", bytes).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(isAllGivenBack());
}

TEST_F(ServeGrpc, WatchersAreToldOfChangesOnly) {
  const std::string serving("\x08\x01", 2), notServing("\x08\x02", 2);
  HealthWatcher watcher(*stub);
  EXPECT_THAT(watcher.waitFor(1), ElementsAre(serving));
  for (int i = 0; i < 10; ++i) {
    server->updateHealth();
    EXPECT_THAT(watcher.waitFor(1), ElementsAre(serving));
  }
  fs::remove_all(folder.file("m"));
  repository.look();
  server->updateHealth();
  EXPECT_THAT(watcher.waitFor(2), ElementsAre(serving, notServing));
  watcher.end();
}

TEST_F(ServeGrpc, CountsOfAMessageAreBounded) {
  using Code = grpc::StatusCode;
  inference::ModelInferResponse response;
  const auto refused = [&](const inference::ModelInferRequest &request) {
    const grpc::Status status = infer(request, response);
    return std::pair(status.error_code(), status.error_message());
  };
  const grpc::Status first = infer(requestOf(1), response);
  ASSERT_TRUE(first.ok()) << first.error_message();
  ASSERT_EQ(response.outputs_size(), 1);
  const std::string output = response.outputs(0).name();
  inference::ModelInferRequest twice = requestOf(1);
  for (int i = 0; i < 2; ++i)
    twice.add_outputs()->set_name(output);
  EXPECT_EQ(refused(twice),
            std::pair(Code::INVALID_ARGUMENT,
                      "output '" + output + "' is asked for twice"));
  inference::ModelInferRequest many = requestOf(1);
  for (int i = 0; i < 100000; ++i)
    many.add_inputs();
  EXPECT_EQ(refused(many).first, Code::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused(requestOf(11)).first, Code::RESOURCE_EXHAUSTED);
  // Empty texts: 2 bytes each in the message, and some 64 when it is parsed.
  inference::ModelInferRequest texts = requestOf(1);
  for (int i = 0; i < 2000000; ++i)
    texts.mutable_inputs(1)->mutable_contents()->add_bytes_contents("");
  EXPECT_EQ(refused(texts).first, Code::UNAVAILABLE);
  inference::ModelInferRequest other = requestOf(1);
  (*other.mutable_parameters())["sequence_id"].set_int64_param(1);
  EXPECT_EQ(refused(other).first, Code::INVALID_ARGUMENT);
  std::string bytes;
  EXPECT_EQ(callRaw("/inference.GRPCInferenceService/ModelInfer", "\x0b", bytes)
                .error_code(),
            Code::INVALID_ARGUMENT);
  EXPECT_TRUE(infer(requestOf(10), response).ok());
  EXPECT_TRUE(isAllGivenBack());
}

} // namespace
