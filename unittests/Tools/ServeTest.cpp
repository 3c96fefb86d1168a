//===- ServeTest.cpp - Loading and reading requests in pdl-serve ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batcher.h"
#include "HttpApi.h"
#include "JsonRequest.h"
#include "Library.h"
#include "MemoryBudget.h"
#include "Repository.h"
#include "ServedFolder.h"
#include "ServersFile.h"
#include "ServingMetrics.h"
#include "Support/HandWrittenProgram.h"
#include "Support/TestFolder.h"
#include "Version.h"
#include "VersionFolder.h"
#include "pdlrt/Core/Executor.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <future>
#include <gmock/gmock.h>
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

using namespace pdlrt;
using namespace pdlserve;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

namespace {

//===----------------------------------------------------------------------===//
// Memory budget
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
  // Old and new memory exist at the same time.
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
    EXPECT_THAT(outcome.message, HasSubstr("twice in one object")) << twice;
  }
}

TEST(ServeJson, NestedDataHaveTheFormOfTheShape) {
  const auto with = [](const std::string &shape, const std::string &data) {
    const std::string type = R"("name":"x","datatype":"BYTES",)";
    const std::string form = R"("shape":)" + shape, all = R"("data":)" + data;
    const Outcome first = parse(R"({"inputs":[{)" + type + form + "," + all +
                                "}]}"),
                  last = parse(R"({"inputs":[{)" + all + "," + type + form +
                               "}]}");
    EXPECT_EQ(first.message, last.message);
    return first;
  };
  for (const auto &[shape, data] :
       std::vector<std::pair<std::string, std::string>>{
           {"[2,1]", R"([["a"],["b"]])"},
           {"[2,1]", R"(["a","b"])"},
           {"[1,2,2]", R"([[["a","b"],["c",null]]])"},
           {"[1,2,2]", R"(["a","b","c",null])"},
           {"[2,0]", "[[],[]]"},
           {"[0,2]", "[]"}})
    EXPECT_TRUE(with(shape, data).ok()) << shape << data;
  for (const auto &[shape, data, expected] :
       std::vector<std::array<std::string, 3>>{
           {"[2,1]", R"([["a","b"],[]])",
            "inputs[0].data[0] (input 'x') has 2 elements"},
           {"[2,1]", R"([[],["a","b"]])",
            "inputs[0].data[0] (input 'x') has 0 elements"},
           {"[2,1]", R"([["a"],"b"])",
            "inputs[0].data[1] (input 'x') is no list"},
           {"[2,1]", R"(["a",["b"]])",
            "inputs[0].data[1] (input 'x') is a list"},
           {"[2]", R"([["a"],["b"]])",
            "inputs[0].data[0] (input 'x') is a list"},
           {"[1,2,2]", R"([["a","b"],["c","d"]])",
            "inputs[0].data[0][0] (input 'x') is no list"},
           {"[2,2]", R"([["a","b"],["c","d"],[]])",
            "inputs[0].data[2] (input 'x') has 0 elements"},
           {"[2,0]", "[[]]", "inputs[0].data (input 'x') has 1 elements"}}) {
    const Outcome outcome = with(shape, data);
    EXPECT_EQ(outcome.code, Code::BadRequest) << shape << data;
    EXPECT_THAT(outcome.message, HasSubstr(expected)) << shape << data;
  }
}

TEST(ServeJson, ParametersThatWouldChangeTheResponseAreRefused) {
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
      EXPECT_THAT(outcome.message, HasSubstr("'" + name + "'")) << with;
    }
  }
  // Parameters without an effect are allowed.
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
  // Each empty text needs 8 bytes, and 3 bytes in the message.
  EXPECT_EQ(parse(texts, 7 * texts.size()).code, Code::Unavailable);
  std::string inputs = R"({"inputs":[)", outputs = R"(,"outputs":[)";
  for (int i = 0; i < 1025; ++i) {
    inputs += R"({"name":"x","datatype":"INT64","shape":[1],"data":[1]},)";
    outputs += R"({"name":"a"},)";
  }
  inputs.back() = outputs.back() = ']';
  EXPECT_THAT(parse(inputs + "}", 1 << 24).message,
              HasSubstr("more than 1024 inputs"));
  EXPECT_THAT(parse(requestWith("", outputs), 1 << 24).message,
              HasSubstr("more than 1024 outputs"));
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

TEST_F(ServeLibrary, OneThatIsTornIsNotMapped) {
  const std::string whole = contentOfFile(path);
  EXPECT_EQ(whyNot(), "");
  // A block that was never written to disk, at any position.
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

TEST_F(ServeLibrary, OneWithoutChecksumIsTakenOnlyIfRequested) {
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

/// Resources that a process holds. A leak would increase them.
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

/// Runs tasks on one thread, like a server's workers: the thread outlives the
/// libraries whose functions it calls.
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
  ServingMetrics metrics;
  const std::string none = folder.file("none.safetensors");
  for (const char *library : {PDL_TEST_LIBRARY, PDL_TEST_NODELETE_LIBRARY}) {
    folder.write("m/1/library.so", seal(library));
    // A failed library stays in memory, but only once.
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
  ServingMetrics metrics;
  OldThread worker;
  // Two files with the same content are two libraries.
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
    // A failure leaves its error message in the thread.
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
// Model folder
//===----------------------------------------------------------------------===//

TEST_F(ServeLibrary, FilesThatChangeAreSeen) {
  const auto digest = [&] { return digestOfNames(folder.file("m/1")); };
  const uint64_t first = digest();
  EXPECT_EQ(digest(), first);
  folder.write("m/1/.hidden", "x");
  folder.write("m/1/step.tmp.7", "x");
  // The times of the files count, but not that of the folder itself.
  EXPECT_EQ(digest(), first);
  std::ofstream(values, std::ios::app) << "x";
  EXPECT_NE(digest(), first);
}

TEST_F(ServeLibrary, AVersionIsReadyOnceItIsLoaded) {
  ServingMetrics metrics;
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

/// Records the thread on which the response is sent.
class NotingClient final : public HttpClient {
public:
  void respond(HttpResponse answer) override {
    noted.set_value({std::this_thread::get_id(), answer.status});
  }
  std::promise<std::pair<std::thread::id, unsigned>> noted;
};

TEST_F(ServeLibrary, ThreadsOfConnectionsDoNoLongWork) {
  ServingMetrics metrics;
  Repository repository(folder.file(""), {}, {}, metrics);
  Batcher batcher({}, metrics);
  MemoryBudget budget(1 << 24);
  const std::atomic<bool> isStopping = false;
  HttpApi api(repository, batcher, budget, metrics, isStopping, {});
  const auto respondedHere = [&](const char *method, const char *target,
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
  EXPECT_TRUE(respondedHere("GET", "/v2/health/live", 0));
  EXPECT_TRUE(respondedHere("GET", "/v2/health/ready", 0));
  EXPECT_TRUE(respondedHere("POST", "/v2/models/m/infer", 100));
  EXPECT_FALSE(respondedHere("POST", "/v2/models/m/infer", 100000));
  EXPECT_FALSE(respondedHere("GET", "/metrics", 0));
}

TEST_F(ServeLibrary, MetricsOfARemovedVersionGo) {
  ServingMetrics metrics;
  Repository repository(folder.file(""), {}, {}, metrics);
  lookUntilReady(repository);
  Found found;
  ASSERT_TRUE(repository.find("m", "", found).ok());
  metrics.countFailure(&found.version->metricsOf(0), Protocol::Http,
                       Code::BadRequest);
  EXPECT_THAT(metrics.text(), HasSubstr("model=\"m\""));
  fs::remove_all(folder.file("m"));
  repository.look();
  // A request may still use it.
  EXPECT_THAT(metrics.text(), HasSubstr("outcome=\"bad_request\""));
  found = {};
  EXPECT_THAT(metrics.text(), Not(HasSubstr("model=\"m\"")));
}

TEST_F(ServeLibrary, RowsOfAReplacedVersionAreCounted) {
  ServingMetrics metrics;
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
  ASSERT_TRUE(run.ok()) << run.message;
  before = {};
  repository.look();
  const std::string counted = "outcome=\"unknown\",version=\"1\"} " +
                              std::to_string(handWrittenSlots) + "\n";
  EXPECT_THAT(metrics.text(), HasSubstr(counted));
  repository.look();
  EXPECT_THAT(metrics.text(), HasSubstr(counted));
}

} // namespace
