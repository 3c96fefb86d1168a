//===- HttpApi.cpp - The V2 protocol in JSON ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpApi.h"
#include "HttpHead.h"
#include "JsonRequest.h"
#include "Metadata.h"
#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cctype>
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

HttpResponse pdlserve::refusal(unsigned status, std::string_view message) {
  return {status, "application/json", errorJson(message)};
}

HttpResponse pdlserve::refusal(const Outcome &outcome) {
  return refusal(statusOf(outcome.code), outcome.message);
}

static HttpResponse jsonResponse(const Json &json) {
  HttpResponse response;
  // Names from clients may contain bytes that are not UTF-8.
  response.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

//===----------------------------------------------------------------------===//
// Results as JSON
//===----------------------------------------------------------------------===//

/// Appends the shortest text that is parsed as the same number. JSON has
/// neither NaN nor infinity. NaN becomes null, and infinity becomes 1e999,
/// which parsers read as infinity.
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

class HttpInferenceRequest final : public InferenceRequest {
public:
  /// Approximate size of a response without its numbers.
  static constexpr uint64_t maxHeadBytes = 1024;

  HttpInferenceRequest(std::shared_ptr<HttpClient> client,
                       ServingMetrics &metrics)
      : client(std::move(client)), metrics(metrics) {}

  bool isCancelled() const override { return client->isGone(); }
  void abandon() noexcept override { client->abandon(); }
  uint64_t responseBytes(uint64_t elements, uint64_t valueBytes) const override;

  /// Parses the request. Returns an error if it is rejected.
  Outcome read(const Repository &repository, std::string_view name,
               std::string_view wantedVersion, std::optional<size_t> jsonSize);
  void finish() override;

  std::string body;

private:
  void makeResponse(HttpResponse &response);

  std::shared_ptr<HttpClient> client;
  ServingMetrics &metrics;
  JsonRequest request;
  std::string name;
};

} // namespace

Outcome HttpInferenceRequest::read(const Repository &repository,
                                   std::string_view asked,
                                   std::string_view wantedVersion,
                                   std::optional<size_t> jsonSize) {
  Found found;
  if (Outcome outcome = repository.find(asked, wantedVersion, found);
      !outcome.ok())
    return outcome;
  name = asked;
  version = std::move(found.version);
  programIndex = found.program;
  if (Outcome outcome = parseJsonRequest(body, jsonSize, memory, request);
      !outcome.ok())
    return outcome;
  for (const WantedOutput &output : request.outputs)
    if (Outcome outcome = want(output.name, "its metadata, /v2/models/" + name);
        !outcome.ok())
      return outcome;
  if (request.outputs.empty()) {
    wantAll();
    request.outputs.resize(wanted.size());
  }
  if (Outcome outcome = bindTensors(std::move(request.inputs), *this);
      !outcome.ok())
    return outcome;
  return reserveResponse();
}

/// Maximum length of a number in JSON, including a comma.
static constexpr uint64_t maxNumberBytes = 26;

uint64_t HttpInferenceRequest::responseBytes(uint64_t elements,
                                             uint64_t valueBytes) const {
  // Binary outputs are collected before they are appended to the JSON.
  return std::max(elements * maxNumberBytes, 2 * valueBytes) + maxHeadBytes;
}

void HttpInferenceRequest::makeResponse(HttpResponse &response) {
  std::string &json = response.body;
  std::string binary;
  json.reserve(maxHeadBytes);
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
      response.jsonSize = 0;
    } else {
      json += ",\"data\":[";
      json.reserve(json.size() + size_t(count) * maxNumberBytes + 2);
      appendNumbers(json, type, at, count);
      json += "]}";
    }
  }
  json += "]}";
  if (response.jsonSize) {
    response.jsonSize = json.size();
    response.contentType = "application/octet-stream";
    json += binary;
  }
  response.memory = std::move(memory);
  response.memory.shrink(response.memory.size() -
                         std::min(response.memory.size(), json.capacity()));
}

void HttpInferenceRequest::finish() {
  ProgramMetrics *counts =
      version ? &version->metricsOf(programIndex) : nullptr;
  HttpResponse response;
  // If the client has left, the response does not count as sent.
  if (client->isGone())
    outcome = clientLeft();
  if (outcome.ok())
    outcome = guarded([&] {
      makeResponse(response);
      return Outcome();
    });
  if (!outcome.ok()) {
    metrics.countFailure(counts, Protocol::Http, outcome.code);
    client->respond(refusal(outcome));
    return;
  }
  counts->answered[int(Protocol::Http)].add(1);
  counts->seconds[int(Protocol::Http)].observe(
      std::chrono::duration<double>(Clock::now() - arrived).count());
  client->respond(std::move(response));
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Decodes %XX in a part of a path. Returns none if the encoding is invalid.
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
  for (const TensorMetadata &tensor : tensors) {
    Json entry = {{"name", tensor.name},
                  {"datatype", tensor.dataType},
                  {"shape", tensor.shape}};
    if (tensor.isOptional)
      entry["parameters"]["optional"] = true;
    if (tensor.missingNumber)
      entry["parameters"]["missing"] = *tensor.missingNumber;
    if (tensor.missingText)
      entry["parameters"]["missing"] = *tensor.missingText;
    json.push_back(std::move(entry));
  }
  return json;
}

HttpResponse HttpApi::metadataOf(const ModelPath &path) {
  Found found;
  if (Outcome outcome = repository.find(path.model, path.version, found);
      !outcome.ok())
    return refusal(outcome);
  const pdl_serving_program &program = found.version->program(found.program);
  return jsonResponse(
      {{"name", path.model},
       {"versions", repository.versionsOf(found.version->model())},
       {"platform", platformName},
       {"inputs", tensorsJson(inputsOf(*found.version, found.program))},
       {"outputs", tensorsJson(outputsOf(program))}});
}

/// Maximum size of a body that a connection thread parses itself.
static constexpr size_t maxSmallBody = size_t(64) << 10;

HttpResponse HttpApi::indexOf(const std::string &body) {
  bool onlyReady = false;
  if (body.size() > maxSmallBody)
    return refusal(
        413, fmt::format("the body has more than {} bytes", maxSmallBody));
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
  return jsonResponse(index);
}

/// Returns the response to a liveness or readiness probe, in the form of
/// KServe.
static HttpResponse health(Json json, const char *key, const std::string &why) {
  json[key] = why.empty();
  if (!why.empty())
    json["error"] = why;
  HttpResponse response = jsonResponse(json);
  response.status = why.empty() ? 200 : 503;
  return response;
}

/// Returns the response to a request with a wrong method: an error, or a list
/// of allowed methods.
static HttpResponse otherMethod(std::string_view method, const char *right) {
  const std::string_view known[] = {"GET",     "HEAD",   "POST",
                                    "PUT",     "DELETE", "CONNECT",
                                    "OPTIONS", "TRACE",  "PATCH"};
  HttpResponse response;
  if (std::ranges::find(known, method) == std::end(known))
    response =
        refusal(501, "this method is none of HTTP's that the server knows");
  else if (method != "OPTIONS")
    response = refusal(405, fmt::format("this path takes {}", right));
  response.allow = right;
  return response;
}

static constexpr const char *onlyGet = "GET, HEAD", *onlyPost = "POST";

HttpResponse HttpApi::responseOf(const HttpRequest &request,
                                 std::string_view path) {
  if (path == "v2/repository/index")
    return request.method == "POST" ? indexOf(request.body)
                                    : otherMethod(request.method, onlyPost);
  const std::string_view known[] = {"v2", "v2/health/live", "v2/health/ready",
                                    "metrics"};
  if (std::ranges::find(known, path) == std::end(known))
    return refusal(404, "there is nothing at this path; see /v2, /metrics, and "
                        "/v2/models/NAME");
  if (request.method != "GET")
    return otherMethod(request.method, onlyGet);
  if (path == "v2/health/live")
    return health(Json::object(), "live", "");
  if (path == "v2/health/ready") {
    std::string why;
    if (isStopping)
      why = "the server ends";
    else if (!repository.isReady(why) && why.empty())
      why = "no model answers yet";
    return health(Json::object(), "ready", why);
  }
  return jsonResponse({{"name", serverName},
                       {"version", serverVersion},
                       {"extensions", serverExtensions}});
}

HttpResponse HttpApi::metricsResponse() {
  metrics.setMemory(budget.taken(), budget.limit());
  HttpResponse response;
  response.contentType = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics.text();
  return response;
}

HttpResponse HttpApi::modelResponse(std::string_view method,
                                    const ModelPath &path) {
  if (path.rest == "infer")
    return otherMethod(method, onlyPost);
  if (!path.rest.empty() && path.rest != "ready")
    return refusal(404, "a model has its metadata here, and below it /ready "
                        "and /infer");
  if (method != "GET")
    return otherMethod(method, onlyGet);
  if (path.rest.empty())
    return metadataOf(path);
  const Outcome outcome = repository.checkReady(path.model, path.version);
  if (!outcome.ok() && outcome.code != Code::Unavailable)
    return refusal(outcome);
  return health({{"name", path.model}}, "ready", outcome.message);
}

void HttpApi::infer(HttpRequest &request, const ModelPath &path,
                    std::shared_ptr<HttpClient> client) {
  auto job = std::make_unique<HttpInferenceRequest>(std::move(client), metrics);
  job->outcome = guarded([&]() -> Outcome {
    job->body = std::move(request.body);
    job->memory = std::move(request.memory);
    job->maxSamples = options.maxSamples;
    if (job->isCancelled())
      return clientLeft();
    if (!request.encoding.empty() && request.encoding != "identity")
      return Outcome::bad(fmt::format(
          "the body is encoded as '{}'; send it as it is", request.encoding));
    std::optional<size_t> jsonSize;
    if (!request.jsonSize.empty()) {
      const auto size = pdlrt::parseWholeNumber(request.jsonSize);
      if (!size)
        return Outcome::bad("Inference-Header-Content-Length is no whole "
                            "number");
      jsonSize = *size;
    }
    return job->read(repository, path.model, path.version, jsonSize);
  });
  if (job->outcome.ok())
    batcher.submit(std::move(job));
  else
    finishRequest(std::move(job));
}

/// Returns the path of a request target without slashes at its ends. The target
/// may be an absolute URI (RFC 9112, 3.2). Returns none if it is not valid.
static std::optional<std::string_view> pathOf(std::string_view target) {
  std::string_view path = target.substr(0, target.find('?'));
  for (const std::string_view scheme : {"http://", "https://"})
    if (path.size() >= scheme.size() &&
        std::ranges::equal(path.substr(0, scheme.size()), scheme, {},
                           [](char c) { return char(std::tolower(c)); })) {
      path.remove_prefix(scheme.size());
      const size_t end = std::min(path.find('/'), path.size());
      if (end == 0 || !isHost(path.substr(0, end)))
        return std::nullopt;
      path.remove_prefix(end);
      if (path.empty())
        return path;
      break;
    }
  if (!path.starts_with("/") || target.find('#') != std::string_view::npos)
    return std::nullopt;
  path.remove_prefix(1);
  if (path.ends_with("/"))
    path.remove_suffix(1);
  return path;
}

/// Runs `body` on a thread of `threads`. If `body` throws, closes the
/// connection without a response.
template <typename Body>
static void runIn(boost::asio::thread_pool &threads,
                  std::shared_ptr<HttpClient> client, Body body) {
  boost::asio::post(
      threads, [client = std::move(client), body = std::move(body)]() mutable {
        try {
          body(client);
        } catch (...) {
          client->abandon();
        }
      });
}

void HttpApi::handle(HttpRequest request, std::shared_ptr<HttpClient> client) {
  if (request.method == "OPTIONS" && request.target == "*") {
    HttpResponse response;
    response.allow = "GET, HEAD, POST, OPTIONS";
    client->respond(std::move(response));
    return;
  }
  const std::optional<std::string_view> whole = pathOf(request.target);
  if (!whole) {
    client->respond(refusal(400, "the target is no path, such as /v2"));
    return;
  }
  std::string_view path = *whole;
  if (path == "metrics" && request.method == "GET") {
    runIn(metricsWriter, std::move(client),
          [this](const auto &to) { to->respond(metricsResponse()); });
    return;
  }
  constexpr std::string_view models = "v2/models/", versions = "/versions/";
  if (!path.starts_with(models)) {
    client->respond(responseOf(request, path));
    return;
  }
  path.remove_prefix(models.size());
  const std::string_view name = path.substr(0, path.find('/'));
  std::string_view rest = path.substr(name.size()), version;
  if (rest.starts_with(versions)) {
    rest.remove_prefix(versions.size());
    version = rest.substr(0, rest.find('/'));
    rest.remove_prefix(version.size());
  }
  if (rest.starts_with("/"))
    rest.remove_prefix(1);
  std::optional<std::string> plain = unescape(name);
  if (!plain || plain->empty()) {
    client->respond(refusal(400, "the path has no name of a model that can be "
                                 "read"));
    return;
  }
  const ModelPath model = {*std::move(plain), std::string(version), rest};
  if (rest != "infer" || request.method != "POST") {
    client->respond(modelResponse(request.method, model));
  } else if (request.body.size() <= maxSmallBody) {
    infer(request, model, std::move(client));
  } else {
    runIn(readers, std::move(client),
          [this, large = std::move(request), model](const auto &from) mutable {
            infer(large, model, from);
          });
  }
}
