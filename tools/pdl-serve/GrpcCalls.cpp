//===- GrpcCalls.cpp - gRPC calls of the V2 protocol ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GrpcCalls.h"
#include "JsonRequest.h"
#include "Metadata.h"
#include "WireCost.h"

#include <cstring>
#include <fmt/format.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <vector>

using namespace pdlserve;

/// Maximum size of messages other than inference requests.
static constexpr size_t maxSmallMessage = size_t(64) << 10;
/// Maximum number of concurrent calls.
static constexpr size_t maxCalls = 16384;

/// Shortens an error message. Clients accept only some KiB in a status, and the
/// names in a message may have any length.
static std::string shortened(const std::string &message) {
  constexpr size_t most = 2048;
  if (message.size() <= most)
    return message;
  size_t end = most;
  // Do not cut within a UTF-8 character.
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80)
    --end;
  return message.substr(0, end) + "...";
}

static grpc::Status statusOf(const Outcome &outcome) {
  const std::string message = shortened(outcome.message);
  switch (outcome.code) {
  case Code::Ok:
    return grpc::Status::OK;
  case Code::BadRequest:
    return {grpc::StatusCode::INVALID_ARGUMENT, message};
  case Code::NotFound:
    return {grpc::StatusCode::NOT_FOUND, message};
  case Code::TooLarge:
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, message};
  case Code::Unavailable:
    return {grpc::StatusCode::UNAVAILABLE, message};
  case Code::Cancelled:
    return {grpc::StatusCode::CANCELLED, message};
  case Code::Internal:
    break;
  }
  return {grpc::StatusCode::INTERNAL, message};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

bool Calls::add(Call *call) {
  const pdlrt::RecursiveLock lock(mutex);
  if (all.size() >= maxCalls)
    return false;
  reading.emplace(call, Clock::now());
  all.insert(call);
  return true;
}

void Calls::setRead(Call *call) {
  const pdlrt::RecursiveLock lock(mutex);
  reading.erase(call);
}

void Calls::remove(Call *call) {
  const pdlrt::RecursiveLock lock(mutex);
  reading.erase(call);
  all.erase(call);
}

void Calls::cancelReading(Clock::time_point since) {
  const pdlrt::RecursiveLock lock(mutex);
  std::vector<Call *> late;
  for (const auto &[call, begun] : reading)
    if (begun < since)
      late.push_back(call);
  for (Call *call : late)
    if (reading.erase(call))
      call->cancel();
}

void Call::fail(const Outcome &outcome) { Finish(statusOf(outcome)); }

void Call::OnReadDone(bool ok) {
  handlers.calls.setRead(this);
  if (!ok) {
    fail(Outcome::bad("the call has no message"));
    return;
  }
  const Outcome outcome = guarded([&] {
    handlers.handle(*this, context.method());
    return Outcome();
  });
  // The call must be ended last, because no exception may be thrown afterwards.
  if (!outcome.ok())
    fail(outcome);
}

//===----------------------------------------------------------------------===//
// ModelInfer
//===----------------------------------------------------------------------===//

/// Returns the number of elements of all types.
static int countOf(const inference::InferTensorContents &contents) {
  return contents.bool_contents_size() + contents.int_contents_size() +
         contents.int64_contents_size() + contents.uint_contents_size() +
         contents.uint64_contents_size() + contents.fp32_contents_size() +
         contents.fp64_contents_size() + contents.bytes_contents_size();
}

/// Uses the elements in the message without copying numbers.
static Outcome takeContents(const inference::InferTensorContents &contents,
                            Tensor &tensor, Reservation &memory) {
  const auto take = [&](const auto &elements) {
    tensor.borrowed = elements.data();
    tensor.count = elements.size();
  };
  switch (tensor.type) {
  case DataType::Fp32:
    take(contents.fp32_contents());
    break;
  case DataType::Fp64:
    take(contents.fp64_contents());
    break;
  case DataType::Int32:
    take(contents.int_contents());
    break;
  case DataType::Int64:
    take(contents.int64_contents());
    break;
  case DataType::Uint64:
    take(contents.uint64_contents());
    break;
  case DataType::Bytes:
    for (const std::string &text : contents.bytes_contents())
      if (!tensor.texts.add(text, memory))
        return noBudget();
    tensor.count = contents.bytes_contents_size();
    break;
  }
  if (tensor.count == countOf(contents))
    return {};
  return Outcome::bad(
      fmt::format("input '{}' has contents of another type than its datatype "
                  "{}; give those of {} alone",
                  tensor.name, nameOf(tensor.type), nameOf(tensor.type)));
}

namespace {

/// Inference request of a gRPC call. The call keeps its message until the
/// request is finished.
class GrpcInferenceRequest final : public InferenceRequest {
public:
  GrpcInferenceRequest(Call &call, ServingMetrics &metrics)
      : call(call), request(call.request), metrics(metrics) {
    memory = std::move(call.memory);
    metrics.connections(Protocol::Grpc).add(1);
  }
  ~GrpcInferenceRequest() override {
    metrics.connections(Protocol::Grpc).add(-1);
  }

  /// Parses the request. Returns an error if it is rejected.
  Outcome read(const Repository &repository);
  bool isCancelled() const override { return call.isCancelled(); }
  void finish() override;
  void abandon() noexcept override;
  uint64_t responseBytes(uint64_t, uint64_t valueBytes) const override {
    // The message, and its serialized bytes.
    return 2 * valueBytes + 1024;
  }

private:
  bool isRaw() const { return request.raw_input_contents_size() > 0; }
  Outcome readInputs(std::vector<Tensor> &tensors);
  void makeResponse();
  void addOutput(int32_t index);

  Call &call;
  const inference::ModelInferRequest &request;
  ServingMetrics &metrics;
  inference::ModelInferResponse response;
};

} // namespace

/// Returns an error if a parameter is set that would change the response.
static Outcome checkParameters(
    const google::protobuf::Map<std::string, inference::InferParameter> &all) {
  for (const auto &[name, value] : all) {
    const bool isSet = value.bool_param() || value.int64_param() != 0 ||
                       value.uint64_param() != 0 || value.double_param() != 0 ||
                       !value.string_param().empty();
    if (Outcome outcome = checkParameter(name, isSet); !outcome.ok())
      return outcome;
  }
  return {};
}

Outcome GrpcInferenceRequest::readInputs(std::vector<Tensor> &tensors) {
  if (isRaw() && request.raw_input_contents_size() != request.inputs_size())
    return Outcome::bad(fmt::format("there are {} raw_input_contents for {} "
                                    "inputs; each input has one",
                                    request.raw_input_contents_size(),
                                    request.inputs_size()));
  for (int i = 0; i < request.inputs_size(); ++i) {
    const auto &input = request.inputs(i);
    const std::optional<DataType> type = parseDataType(input.datatype());
    if (!type)
      return Outcome::bad(
          fmt::format("input '{}': its datatype '{}' is none of FP32, FP64, "
                      "INT32, INT64, UINT64 and BYTES",
                      input.name(), input.datatype()));
    Tensor &tensor = tensors.emplace_back();
    tensor.name = input.name();
    tensor.type = *type;
    if (Outcome outcome = checkParameters(input.parameters()); !outcome.ok())
      return outcome;
    tensor.shape.assign(input.shape().begin(), input.shape().end());
    if (isRaw() && input.has_contents())
      return Outcome::bad(fmt::format("input '{}' has contents, and there are "
                                      "raw_input_contents; give one of them",
                                      input.name()));
    if (Outcome outcome =
            isRaw() ? tensor.takeRaw(request.raw_input_contents(i), memory)
                    : takeContents(input.contents(), tensor, memory);
        !outcome.ok())
      return outcome;
  }
  return {};
}

Outcome GrpcInferenceRequest::read(const Repository &repository) {
  Found found;
  if (Outcome outcome =
          repository.find(request.model_name(), request.model_version(), found);
      !outcome.ok())
    return outcome;
  version = std::move(found.version);
  programIndex = found.program;
  std::vector<Tensor> tensors;
  if (Outcome outcome = readInputs(tensors); !outcome.ok())
    return outcome;
  if (Outcome outcome = checkParameters(request.parameters()); !outcome.ok())
    return outcome;
  for (const auto &output : request.outputs()) {
    if (Outcome outcome = want(output.name(), "its metadata"); !outcome.ok())
      return outcome;
    if (Outcome outcome = checkParameters(output.parameters()); !outcome.ok())
      return outcome;
  }
  if (wanted.empty())
    wantAll();
  if (Outcome outcome = bindTensors(std::move(tensors), *this); !outcome.ok())
    return outcome;
  return reserveResponse();
}

void GrpcInferenceRequest::addOutput(int32_t index) {
  const pdl_serving_tensor &output = program().outputs[index];
  const DataType type = valueTypeOf(output);
  const auto count = size_t(batch * output.width);
  const size_t size = count * sizeOf(type);
  const void *at = outputAt(index);
  auto &made = *response.add_outputs();
  made.set_name(output.name);
  made.set_datatype(nameOf(type));
  made.add_shape(batch);
  made.add_shape(output.width);
  // The response has its data in the same form as the request.
  if (isRaw()) {
    response.add_raw_output_contents(at, size);
    return;
  }
  auto &contents = *made.mutable_contents();
  const auto add = [&](auto &elements) {
    elements.Resize(int(count), 0);
    std::memcpy(elements.mutable_data(), at, size);
  };
  if (type == DataType::Fp32)
    add(*contents.mutable_fp32_contents());
  else if (type == DataType::Fp64)
    add(*contents.mutable_fp64_contents());
  else
    add(*contents.mutable_int64_contents());
}

void GrpcInferenceRequest::makeResponse() {
  response.set_model_name(request.model_name());
  response.set_model_version(version->number());
  response.set_id(request.id());
  for (const int32_t index : wanted)
    addOutput(index);
}

void GrpcInferenceRequest::finish() {
  ProgramMetrics *counts =
      version ? &version->metricsOf(programIndex) : nullptr;
  if (isCancelled())
    outcome = clientLeft();
  if (outcome.ok())
    outcome = guarded([&] {
      makeResponse();
      return Outcome();
    });
  // Move the memory first: the call may be destroyed before this request.
  call.memory = std::move(memory);
  if (!outcome.ok()) {
    metrics.countFailure(counts, Protocol::Grpc, outcome.code);
    call.fail(outcome);
    return;
  }
  counts->answered[int(Protocol::Grpc)].add(1);
  counts->seconds[int(Protocol::Grpc)].observe(
      std::chrono::duration<double>(Clock::now() - arrived).count());
  call.reply(response);
}

void GrpcInferenceRequest::abandon() noexcept {
  try {
    call.Finish(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, ""));
  } catch (...) {
    call.cancel();
  }
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

static void infer(Handlers &handlers, Call &call) {
  const uint64_t wireBytes = call.bytes.Length();
  uint64_t cost = 0;
  Outcome outcome;
  {
    grpc::ByteBuffer shared = call.bytes;
    grpc::ProtoBufferReader reader(&shared);
    outcome = findCost(reader, cost);
  }
  if (outcome.ok() && !call.memory.grow(wireBytes + cost))
    outcome = noBudget();
  if (outcome.ok())
    outcome = call.parse(call.request);
  if (!outcome.ok()) {
    handlers.metrics.countFailure(nullptr, Protocol::Grpc, outcome.code);
    call.fail(outcome);
    return;
  }
  call.memory.shrink(wireBytes);
  auto job = std::make_unique<GrpcInferenceRequest>(call, handlers.metrics);
  job->maxSamples = handlers.options.maxSamples;
  job->outcome = guarded([&] { return job->read(handlers.repository); });
  if (job->outcome.ok())
    handlers.batcher.submit(std::move(job));
  else
    finishRequest(std::move(job));
}

static void respondToMetadata(Handlers &handlers, Call &call) {
  inference::ModelMetadataRequest request;
  inference::ModelMetadataResponse response;
  Found found;
  Outcome outcome = call.parse(request);
  if (outcome.ok())
    outcome =
        handlers.repository.find(request.name(), request.version(), found);
  if (!outcome.ok()) {
    call.fail(outcome);
    return;
  }
  response.set_name(request.name());
  response.set_platform(platformName);
  for (const std::string &version :
       handlers.repository.versionsOf(found.version->model()))
    response.add_versions(version);
  const auto add = [](const std::vector<TensorMetadata> &tensors, auto &to) {
    for (const TensorMetadata &tensor : tensors) {
      auto &made = *to.Add();
      made.set_name(tensor.name);
      made.set_datatype(tensor.dataType);
      made.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
      auto &parameters = *made.mutable_parameters();
      if (tensor.isOptional)
        parameters["optional"].set_bool_param(true);
      if (tensor.missingNumber)
        parameters["missing"].set_double_param(*tensor.missingNumber);
      if (tensor.missingText)
        parameters["missing"].set_string_param(*tensor.missingText);
    }
  };
  const pdl_serving_program &program = found.version->program(found.program);
  add(inputsOf(*found.version, found.program), *response.mutable_inputs());
  add(outputsOf(program), *response.mutable_outputs());
  call.reply(response);
}

static void respondToIndex(Handlers &handlers, Call &call) {
  inference::RepositoryIndexRequest request;
  if (Outcome outcome = call.parse(request); !outcome.ok()) {
    call.fail(outcome);
    return;
  }
  inference::RepositoryIndexResponse response;
  for (const IndexLine &line : indexOf(handlers.repository, request.ready())) {
    auto &made = *response.add_models();
    made.set_name(line.name);
    made.set_version(line.version);
    made.set_state(line.state);
    made.set_reason(line.reason);
  }
  call.reply(response);
}

static void respondToModelReady(Handlers &handlers, Call &call) {
  inference::ModelReadyRequest request;
  if (Outcome outcome = call.parse(request); !outcome.ok()) {
    call.fail(outcome);
    return;
  }
  inference::ModelReadyResponse response;
  response.set_ready(
      handlers.repository.checkReady(request.name(), request.version()).ok());
  call.reply(response);
}

void Handlers::handle(Call &call, std::string_view method) {
  constexpr std::string_view service = "/inference.GRPCInferenceService/";
  const std::string_view name =
      method.starts_with(service) ? method.substr(service.size()) : "";
  if (name == "ModelInfer") {
    infer(*this, call);
    return;
  }
  if (call.bytes.Length() > maxSmallMessage) {
    call.fail({Code::TooLarge, fmt::format("the message has more than {} bytes",
                                           maxSmallMessage)});
    return;
  }
  if (name == "ServerLive") {
    inference::ServerLiveResponse response;
    response.set_live(true);
    call.reply(response);
  } else if (name == "ServerReady") {
    std::string why;
    inference::ServerReadyResponse response;
    response.set_ready(!isStopping && repository.isReady(why));
    call.reply(response);
  } else if (name == "ServerMetadata") {
    inference::ServerMetadataResponse response;
    response.set_name(serverName);
    response.set_version(serverVersion);
    for (const std::string &extension : serverExtensions)
      response.add_extensions(extension);
    call.reply(response);
  } else if (name == "ModelReady") {
    respondToModelReady(*this, call);
  } else if (name == "ModelMetadata") {
    respondToMetadata(*this, call);
  } else if (name == "RepositoryIndex") {
    respondToIndex(*this, call);
  } else {
    call.Finish(
        {grpc::StatusCode::UNIMPLEMENTED, "the server has no such method"});
  }
}
