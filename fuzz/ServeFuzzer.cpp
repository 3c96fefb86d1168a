//===- ServeFuzzer.cpp - Fuzzes HTTP requests -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A server without sockets handles arbitrary requests with a loaded library.
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "HttpApi.h"
#include "Support/HandWrittenProgram.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/State/Model.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace pdlrt;
using namespace pdlserve;
namespace fs = std::filesystem;

namespace {

class Client final : public HttpClient {
public:
  // A second answer throws and ends the process.
  void respond(HttpResponse response) override {
    answered.set_value(std::move(response));
  }
  std::promise<HttpResponse> answered;
};

/// The server, with a model `m`.
struct Server {
  Server() {
    const std::string folder = asFolder({}) + ".models";
    removeAtEnd(folder);
    fs::create_directories(folder + "/m/1");
    fs::copy_file(PDL_FUZZ_LIBRARY, folder + "/m/1/library.so");
    const Model model(*handWrittenProgram({}), 3);
    (void)dumpModel(model, folder + "/m/1/values.safetensors", false);
    // The library was not made by pdl-translate, so it has no checksum.
    LoadOptions load;
    load.takesUnchecked = true;
    repository.emplace(folder, load, std::vector<std::string>(), metrics);
    std::string why;
    for (int look = 0; !repository->isReady(why); ++look) {
      if (look == 1000)
        std::abort();
      repository->look();
      repository->waitForChange(std::chrono::milliseconds(100));
    }
    BatchOptions options;
    options.maxWaiting = 4;
    batcher.emplace(options, metrics);
    api.emplace(*repository, *batcher, budget, metrics, isStopping,
                ApiOptions());
  }

  ServingMetrics metrics;
  MemoryBudget budget{uint64_t(1) << 30};
  std::optional<Repository> repository;
  std::optional<Batcher> batcher;
  const std::atomic<bool> isStopping = false;
  std::optional<HttpApi> api;
};

} // namespace

/// An input begins with a line: method, path, size of the JSON and encoding,
/// each possibly `-`. The body follows.
std::vector<std::string> fuzzSeeds() {
  const std::string json =
      R"({"id":"7","inputs":[)"
      R"({"name":"dense","datatype":"FP32","shape":[2,3],"data":[1,2,3,-4,5e1,0]},)"
      R"({"name":"ids.values","datatype":"BYTES","shape":[3],"data":["a","","\u00e9"]},)"
      R"({"name":"ids.splits","datatype":"INT32","shape":[5],"data":[0,1,1,2,3]}],)"
      R"("outputs":[{"name":"output0","parameters":{"binary_data":true}}]})";
  const std::string binary =
      R"({"inputs":[)"
      R"({"name":"dense","shape":[1,3],"datatype":"FP32","parameters":{"binary_data_size":12}},)"
      R"({"name":"ids","shape":[1,2,2],"datatype":"INT64","parameters":{"binary_data_size":32}}],)"
      R"("parameters":{"binary_data_output":true}})";
  const std::array<float, 3> numbers = {1, 2, 3};
  const std::array<int64_t, 4> keys = {10, -1, 0, 10};
  const std::string post = "POST /v2/models/m/infer ";
  return {post + "- -\n" + json,
          "POST /v2/models/m@predict/versions/1/infer " +
              std::to_string(binary.size()) + " identity\n" + binary +
              std::string(reinterpret_cast<const char *>(numbers.data()),
                          sizeof(numbers)) +
              std::string(reinterpret_cast<const char *>(keys.data()),
                          sizeof(keys)),
          "GET /v2/models/m%40predict/ready - -\n",
          "GET /v2/models/m - -\n",
          "POST /v2/repository/index - -\n{\"ready\":true}",
          "GET /metrics - -\n"};
}

/// Returns the text up to the next blank, and skips the blank.
static std::string_view takeWord(std::string_view &line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word == "-" ? std::string_view() : word;
}

void fuzzOne(const std::string &bytes) {
  static Server server;
  const std::string_view all = bytes;
  std::string_view line = all.substr(0, all.find('\n'));
  HttpRequest request;
  request.body = all.substr(std::min(all.size(), line.size() + 1));
  request.method = takeWord(line);
  request.target = takeWord(line);
  request.jsonSize = takeWord(line);
  request.encoding = takeWord(line);
  request.memory = Reservation(server.budget);
  const auto client = std::make_shared<Client>();
  std::future<HttpResponse> answered = client->answered.get_future();
  server.api->handle(std::move(request), client);
  const HttpResponse response = answered.get();
  // No request may cause an internal error.
  if (response.status == 500)
    __builtin_trap();
  if (response.jsonSize.value_or(0) > response.body.size())
    __builtin_trap();
}
