//===- HttpApi.cpp - The V2 protocol in JSON ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpApi.h"
#include "JsonRequest.h"
#include "Metadata.h"
#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace pdlserve;
using Json = nlohmann::ordered_json;

static unsigned statusOf(Code code) {
  switch (code) {
  case Code::Ok:
    return 200;
  case Code::BadRequest:
    return 400;
  case Code::NotFound:
    return 404;
  case Code::TooLarge:
    return 413;
  case Code::Unavailable:
  case Code::Cancelled:
    return 503;
  case Code::Internal:
    return 500;
  }
  return 500;
}

HttpAnswer pdlserve::refusal(unsigned status, std::string_view sentence) {
  return {status, "application/json", errorJson(sentence), std::nullopt};
}

HttpAnswer pdlserve::refusal(const Outcome &outcome) {
  return refusal(statusOf(outcome.code), outcome.sentence);
}

static HttpAnswer jsonAnswer(const Json &json) {
  HttpAnswer answer;
  // A client may have put bytes into a name that are no UTF-8.
  answer.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return answer;
}

//===----------------------------------------------------------------------===//
// Scores as JSON
//===----------------------------------------------------------------------===//

/// The shortest text that is read as the same number. JSON has no name for
/// what is none, and no infinity, but readers make that of 1e999.
template <typename Number>
static void appendNumber(std::string &json, Number number) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(number)) {
      json += "null";
      return;
    }
    if (std::isinf(number)) {
      json += number < 0 ? "-1e999" : "1e999";
      return;
    }
  }
  char text[32];
  json.append(text, std::to_chars(text, text + sizeof(text), number).ptr);
}

template <typename Number>
static void appendNumbers(std::string &json, const std::byte *at,
                          int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, at + size_t(i) * sizeof(number), sizeof(number));
    if (i)
      json += ',';
    appendNumber(json, number);
  }
}

static void appendNumbers(std::string &json, DataType type, const std::byte *at,
                          int64_t count) {
  if (type == DataType::Fp32)
    appendNumbers<float>(json, at, count);
  else if (type == DataType::Fp64)
    appendNumbers<double>(json, at, count);
  else
    appendNumbers<int64_t>(json, at, count);
}

namespace {

class HttpJob final : public Job {
public:
  HttpJob(std::shared_ptr<HttpClient> client, Metrics &metrics)
      : client(std::move(client)), metrics(metrics) {}

  /// Reads the request; not ok: it is refused.
  Outcome read(const Repository &repository, std::string_view name,
               std::string_view wantedVersion, std::optional<size_t> jsonSize);
  void finish() override;

  std::string body;

private:
  void makeAnswer(HttpAnswer &answer) const;

  std::shared_ptr<HttpClient> client;
  Metrics &metrics;
  JsonRequest request;
  std::string name;
  /// By wanted output, that of the program.
  std::vector<int32_t> wanted;
};

} // namespace

Outcome HttpJob::read(const Repository &repository, std::string_view asked,
                      std::string_view wantedVersion,
                      std::optional<size_t> jsonSize) {
  Found found;
  if (Outcome outcome = repository.find(asked, wantedVersion, found);
      !outcome.ok())
    return outcome;
  name = asked;
  version = std::move(found.version);
  programIndex = found.program;
  if (Outcome outcome = parseJsonRequest(body, jsonSize, request);
      !outcome.ok())
    return outcome;
  const pdl_serving_program &called = program();
  for (const WantedOutput &output : request.outputs) {
    int32_t index = 0;
    while (index < called.output_count &&
           output.name != called.outputs[index].name)
      ++index;
    if (index == called.output_count)
      return Outcome::bad(fmt::format("the model has no output '{}'; see its "
                                      "metadata, /v2/models/{}",
                                      output.name, name));
    if (std::ranges::find(wanted, index) != wanted.end())
      return Outcome::bad(
          fmt::format("output '{}' is asked for twice", output.name));
    wanted.push_back(index);
  }
  if (request.outputs.empty())
    for (int32_t i = 0; i < called.output_count; ++i) {
      wanted.push_back(i);
      request.outputs.emplace_back();
    }
  return bindTensors(std::move(request.inputs), *this);
}

void HttpJob::makeAnswer(HttpAnswer &answer) const {
  std::string &json = answer.body;
  std::string binary;
  json.reserve(256);
  json += "{\"model_name\":";
  appendQuoted(json, name);
  json += ",\"model_version\":\"";
  json += version->number();
  json += '"';
  if (request.hasId) {
    json += ",\"id\":";
    appendQuoted(json, request.id);
  }
  json += ",\"outputs\":[";
  for (size_t i = 0; i < wanted.size(); ++i) {
    const pdl_serving_tensor &output = program().outputs[wanted[i]];
    const DataType type = valueTypeOf(output);
    const int64_t count = batch * output.width;
    json += i ? ",{\"name\":" : "{\"name\":";
    appendQuoted(json, output.name);
    json += ",\"datatype\":\"";
    json += nameOf(type);
    json += "\",\"shape\":[";
    appendNumber(json, batch);
    json += ',';
    appendNumber(json, output.width);
    json += ']';
    const std::byte *at = outputAt(wanted[i]);
    if (request.outputs[i].isBinary.value_or(
            request.areOutputsBinary.value_or(false))) {
      const size_t size = size_t(count) * sizeOf(type);
      json += ",\"parameters\":{\"binary_data_size\":";
      appendNumber(json, size);
      json += "}}";
      binary.append(reinterpret_cast<const char *>(at), size);
      answer.jsonSize = 0;
    } else {
      json += ",\"data\":[";
      appendNumbers(json, type, at, count);
      json += "]}";
    }
  }
  json += "]}";
  if (answer.jsonSize) {
    answer.jsonSize = json.size();
    answer.contentType = "application/octet-stream";
    json += binary;
  }
}

void HttpJob::finish() {
  ProgramMetrics *counts =
      version ? &version->metricsOf(programIndex) : nullptr;
  HttpAnswer answer;
  if (outcome.ok())
    outcome = withMemory([&] {
      makeAnswer(answer);
      return Outcome();
    });
  if (!outcome.ok()) {
    metrics.countFailure(counts, Protocol::Http, outcome.code);
    client->answer(refusal(outcome));
    return;
  }
  counts->answered[int(Protocol::Http)]->Increment();
  counts->seconds[int(Protocol::Http)]->Observe(
      std::chrono::duration<double>(Clock::now() - arrived).count());
  client->answer(std::move(answer));
}

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

/// A part of a path, with %XX put back; none where that is wrong.
static std::optional<std::string> unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned code = 0;
    const char *end = text.data() + std::min(i + 3, text.size());
    const auto [rest, error] =
        std::from_chars(text.data() + i + 1, end, code, 16);
    if (error != std::errc() || rest != text.data() + i + 3)
      return std::nullopt;
    plain += char(code);
    i += 2;
  }
  return plain;
}

static Json tensorsJson(const std::vector<TensorMetadata> &tensors) {
  Json json = Json::array();
  for (const TensorMetadata &tensor : tensors)
    json.push_back({{"name", tensor.name},
                    {"datatype", tensor.dataType},
                    {"shape", tensor.shape}});
  return json;
}

HttpAnswer HttpApi::metadataOf(const std::string &name,
                               const std::string &version) {
  Found found;
  if (Outcome outcome = repository.find(name, version, found); !outcome.ok())
    return refusal(outcome);
  const pdl_serving_program &program = found.version->program(found.program);
  return jsonAnswer(
      {{"name", name},
       {"versions", repository.versionsOf(found.version->model())},
       {"platform", platformName},
       {"inputs", tensorsJson(inputsOf(program))},
       {"outputs", tensorsJson(outputsOf(program))}});
}

HttpAnswer HttpApi::indexOf(const std::string &body) {
  bool onlyReady = false;
  if (!body.empty()) {
    const Json json = Json::parse(body, nullptr, false);
    if (!json.is_object())
      return refusal(400, "the request is no JSON object");
    if (const auto ready = json.find("ready");
        ready != json.end() && ready->is_boolean())
      onlyReady = ready->get<bool>();
  }
  Json index = Json::array();
  for (const IndexLine &line : pdlserve::indexOf(repository, onlyReady))
    index.push_back({{"name", line.name},
                     {"version", line.version},
                     {"state", line.state},
                     {"reason", line.reason}});
  return jsonAnswer(index);
}

static HttpAnswer readiness(bool isReady, const char *sentence) {
  return isReady ? HttpAnswer{200, "application/json", "", std::nullopt}
                 : refusal(503, sentence);
}

static HttpAnswer wrongMethod(const char *right) {
  return refusal(405, fmt::format("this path takes {}", right));
}

HttpAnswer HttpApi::answerOf(const HttpRequest &request,
                             std::string_view path) {
  const bool isGet = request.method == "GET";
  if (path == "v2/repository/index")
    return request.method == "POST" ? indexOf(request.body)
                                    : wrongMethod("POST");
  for (const std::string_view known :
       {"v2", "v2/health/live", "v2/health/ready", "metrics"})
    if (path == known && !isGet)
      return wrongMethod("GET");
  if (path == "v2/health/live")
    return readiness(true, "");
  if (path == "v2/health/ready")
    return readiness(!isStopping && repository.isReady(),
                     isStopping ? "the server ends" : "no model answers yet");
  if (path == "v2")
    return jsonAnswer({{"name", serverName},
                       {"version", serverVersion},
                       {"extensions", serverExtensions}});
  if (path == "metrics") {
    HttpAnswer answer;
    answer.contentType = "text/plain; version=0.0.4; charset=utf-8";
    answer.body = metrics.text();
    return answer;
  }
  return refusal(404, "there is nothing at this path; see /v2, /metrics, and "
                      "/v2/models/NAME");
}

HttpAnswer HttpApi::modelAnswer(std::string_view method,
                                const std::string &name,
                                const std::string &version,
                                std::string_view rest) {
  if (rest.empty())
    return method == "GET" ? metadataOf(name, version) : wrongMethod("GET");
  if (rest != "ready")
    return refusal(404, "a model has its metadata here, and below it /ready "
                        "and /infer");
  if (method != "GET")
    return wrongMethod("GET");
  Found found;
  const Outcome outcome = repository.find(name, version, found);
  return outcome.ok() ? readiness(true, "") : refusal(outcome);
}

void HttpApi::infer(HttpRequest request, const std::string &name,
                    const std::string &version,
                    std::shared_ptr<HttpClient> client) {
  auto job = std::make_unique<HttpJob>(std::move(client), metrics);
  job->body = std::move(request.body);
  std::optional<size_t> jsonSize;
  if (!request.encoding.empty() && request.encoding != "identity") {
    job->outcome = Outcome::bad(fmt::format(
        "the body is encoded as '{}'; send it as it is", request.encoding));
  } else if (!request.jsonSize.empty()) {
    if (const auto size = pdlrt::parseWholeNumber(request.jsonSize))
      jsonSize = *size;
    else
      job->outcome = Outcome::bad("Inference-Header-Content-Length is no whole "
                                  "number");
  }
  if (job->outcome.ok())
    job->outcome = withMemory(
        [&] { return job->read(repository, name, version, jsonSize); });
  if (job->outcome.ok())
    batcher.submit(std::move(job));
  else
    job->finish();
}

void HttpApi::handle(HttpRequest request, std::shared_ptr<HttpClient> client) {
  std::string_view path = request.target.substr(0, request.target.find('?'));
  if (path.starts_with("/"))
    path.remove_prefix(1);
  if (path.ends_with("/"))
    path.remove_suffix(1);
  constexpr std::string_view models = "v2/models/", versions = "/versions/";
  if (!path.starts_with(models)) {
    client->answer(answerOf(request, path));
    return;
  }
  path.remove_prefix(models.size());
  std::string_view name = path.substr(0, path.find('/')), version;
  std::string_view rest = path.substr(name.size());
  if (rest.starts_with(versions)) {
    rest.remove_prefix(versions.size());
    version = rest.substr(0, rest.find('/'));
    rest.remove_prefix(version.size());
  }
  if (rest.starts_with("/"))
    rest.remove_prefix(1);
  const std::optional<std::string> plain = unescape(name);
  if (!plain || plain->empty()) {
    client->answer(refusal(400, "the path has no name of a model that can be "
                                "read"));
    return;
  }
  const std::string number(version);
  if (rest != "infer")
    client->answer(modelAnswer(request.method, *plain, number, rest));
  else if (request.method != "POST")
    client->answer(wrongMethod("POST"));
  else
    infer(std::move(request), *plain, number, std::move(client));
}
