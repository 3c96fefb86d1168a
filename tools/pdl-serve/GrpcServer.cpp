//===- GrpcServer.cpp - The V2 protocol by gRPC ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GrpcServer.h"
#include "Metadata.h"
#include "inference.grpc.pb.h"
#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/BindCheck.h"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <grpcpp/grpcpp.h>

using namespace pdlserve;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;
using pdlrt::Expected;

/// A client takes some KiB of a status, and names are as long as it wrote them.
static std::string shortened(const std::string &sentence) {
  constexpr size_t most = 2048;
  if (sentence.size() <= most)
    return sentence;
  size_t end = most;
  // Not within a letter.
  while (end > 0 && (static_cast<unsigned char>(sentence[end]) & 0xC0) == 0x80)
    --end;
  return sentence.substr(0, end) + "...";
}

static grpc::Status statusOf(const Outcome &outcome) {
  const std::string sentence = shortened(outcome.sentence);
  switch (outcome.code) {
  case Code::Ok:
    return grpc::Status::OK;
  case Code::BadRequest:
    return {grpc::StatusCode::INVALID_ARGUMENT, sentence};
  case Code::NotFound:
    return {grpc::StatusCode::NOT_FOUND, sentence};
  case Code::TooLarge:
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, sentence};
  case Code::Unavailable:
    return {grpc::StatusCode::UNAVAILABLE, sentence};
  case Code::Cancelled:
    return {grpc::StatusCode::CANCELLED, sentence};
  case Code::Internal:
    break;
  }
  return {grpc::StatusCode::INTERNAL, sentence};
}

//===----------------------------------------------------------------------===//
// ModelInfer
//===----------------------------------------------------------------------===//

/// Elements of all types.
static int countOf(const inference::InferTensorContents &contents) {
  return contents.bool_contents_size() + contents.int_contents_size() +
         contents.int64_contents_size() + contents.uint_contents_size() +
         contents.uint64_contents_size() + contents.fp32_contents_size() +
         contents.fp64_contents_size() + contents.bytes_contents_size();
}

/// Takes the elements where the message has them.
static Outcome takeContents(const inference::InferTensorContents &contents,
                            Tensor &tensor) {
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
  case DataType::Bytes:
    for (const std::string &text : contents.bytes_contents())
      tensor.texts.add(text);
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

/// A call. gRPC keeps request and response until it is finished.
class GrpcJob final : public Job {
public:
  GrpcJob(const CallbackServerContext &context,
          const inference::ModelInferRequest &request,
          inference::ModelInferResponse &response, ServerUnaryReactor &reactor,
          Metrics &metrics)
      : context(context), request(request), response(response),
        reactor(reactor), metrics(metrics) {
    metrics.connections(Protocol::Grpc).Increment();
  }

  /// Reads the request; not ok: it is refused.
  Outcome read(const Repository &repository);
  bool isCancelled() const override { return context.IsCancelled(); }
  void finish() override;

private:
  bool isRaw() const { return request.raw_input_contents_size() > 0; }
  Outcome readInputs(std::vector<Tensor> &tensors) const;
  void makeAnswer();
  void addOutput(int32_t index);

  const CallbackServerContext &context;
  const inference::ModelInferRequest &request;
  inference::ModelInferResponse &response;
  ServerUnaryReactor &reactor;
  Metrics &metrics;
};

} // namespace

Outcome GrpcJob::readInputs(std::vector<Tensor> &tensors) const {
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
                      "INT32, INT64 and BYTES",
                      input.name(), input.datatype()));
    Tensor &tensor = tensors.emplace_back();
    tensor.name = input.name();
    tensor.type = *type;
    tensor.shape.assign(input.shape().begin(), input.shape().end());
    if (isRaw() && input.has_contents())
      return Outcome::bad(fmt::format("input '{}' has contents, and there are "
                                      "raw_input_contents; give one of them",
                                      input.name()));
    if (Outcome outcome = isRaw()
                              ? tensor.takeRaw(request.raw_input_contents(i))
                              : takeContents(input.contents(), tensor);
        !outcome.ok())
      return outcome;
  }
  return {};
}

Outcome GrpcJob::read(const Repository &repository) {
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
  const pdl_serving_program &called = program();
  for (const auto &output : request.outputs())
    if (std::none_of(called.outputs, called.outputs + called.output_count,
                     [&](const pdl_serving_tensor &known) {
                       return output.name() == known.name;
                     }))
      return Outcome::bad(fmt::format("the model has no output '{}'; see its "
                                      "metadata",
                                      output.name()));
  return bindTensors(std::move(tensors), *this);
}

void GrpcJob::addOutput(int32_t index) {
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
  // An answer has the form of the request.
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

void GrpcJob::makeAnswer() {
  response.set_model_name(request.model_name());
  response.set_model_version(version->number());
  response.set_id(request.id());
  const pdl_serving_program &called = program();
  for (const auto &output : request.outputs())
    for (int32_t i = 0; i < called.output_count; ++i)
      if (output.name() == called.outputs[i].name)
        addOutput(i);
  if (request.outputs().empty())
    for (int32_t i = 0; i < called.output_count; ++i)
      addOutput(i);
}

void GrpcJob::finish() {
  ProgramMetrics *counts =
      version ? &version->metricsOf(programIndex) : nullptr;
  metrics.connections(Protocol::Grpc).Decrement();
  if (outcome.ok())
    outcome = withMemory([&] {
      makeAnswer();
      return Outcome();
    });
  if (!outcome.ok()) {
    metrics.countFailure(counts, Protocol::Grpc, outcome.code);
    reactor.Finish(statusOf(outcome));
    return;
  }
  counts->answered[int(Protocol::Grpc)]->Increment();
  counts->seconds[int(Protocol::Grpc)]->Observe(
      std::chrono::duration<double>(Clock::now() - arrived).count());
  reactor.Finish(grpc::Status::OK);
}

//===----------------------------------------------------------------------===//
// The service
//===----------------------------------------------------------------------===//

class GrpcServer::Service final
    : public inference::GRPCInferenceService::CallbackService {
public:
  Service(const Repository &repository, Batcher &batcher, Metrics &metrics,
          const std::atomic<bool> &isStopping, size_t mostBody)
      : mostBody(mostBody), repository(repository), batcher(batcher),
        metrics(metrics), isStopping(isStopping) {}

  ServerUnaryReactor *
  ServerLive(CallbackServerContext *context,
             const inference::ServerLiveRequest *,
             inference::ServerLiveResponse *response) override {
    response->set_live(true);
    return finished(context, {});
  }
  ServerUnaryReactor *
  ServerReady(CallbackServerContext *context,
              const inference::ServerReadyRequest *,
              inference::ServerReadyResponse *response) override {
    response->set_ready(!isStopping && repository.isReady());
    return finished(context, {});
  }
  ServerUnaryReactor *
  ModelReady(CallbackServerContext *context,
             const inference::ModelReadyRequest *request,
             inference::ModelReadyResponse *response) override {
    Found found;
    response->set_ready(
        repository.find(request->name(), request->version(), found).ok());
    return finished(context, {});
  }
  ServerUnaryReactor *
  ServerMetadata(CallbackServerContext *context,
                 const inference::ServerMetadataRequest *,
                 inference::ServerMetadataResponse *response) override {
    response->set_name(serverName);
    response->set_version(serverVersion);
    for (const std::string &extension : serverExtensions)
      response->add_extensions(extension);
    return finished(context, {});
  }
  ServerUnaryReactor *
  ModelMetadata(CallbackServerContext *context,
                const inference::ModelMetadataRequest *request,
                inference::ModelMetadataResponse *response) override;
  ServerUnaryReactor *
  ModelInfer(CallbackServerContext *context,
             const inference::ModelInferRequest *request,
             inference::ModelInferResponse *response) override;
  ServerUnaryReactor *
  RepositoryIndex(CallbackServerContext *context,
                  const inference::RepositoryIndexRequest *request,
                  inference::RepositoryIndexResponse *response) override;

  const size_t mostBody;
  std::unique_ptr<grpc::Server> server;

private:
  static ServerUnaryReactor *finished(CallbackServerContext *context,
                                      const Outcome &outcome) {
    ServerUnaryReactor *reactor = context->DefaultReactor();
    reactor->Finish(statusOf(outcome));
    return reactor;
  }

  const Repository &repository;
  Batcher &batcher;
  Metrics &metrics;
  const std::atomic<bool> &isStopping;
};

ServerUnaryReactor *GrpcServer::Service::ModelMetadata(
    CallbackServerContext *context,
    const inference::ModelMetadataRequest *request,
    inference::ModelMetadataResponse *response) {
  Found found;
  const Outcome outcome =
      repository.find(request->name(), request->version(), found);
  if (!outcome.ok())
    return finished(context, outcome);
  response->set_name(request->name());
  response->set_platform(platformName);
  for (const std::string &version :
       repository.versionsOf(found.version->model()))
    response->add_versions(version);
  const auto add = [](const std::vector<TensorMetadata> &tensors, auto &to) {
    for (const TensorMetadata &tensor : tensors) {
      auto &made = *to.Add();
      made.set_name(tensor.name);
      made.set_datatype(tensor.dataType);
      made.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
    }
  };
  const pdl_serving_program &program = found.version->program(found.program);
  add(inputsOf(program), *response->mutable_inputs());
  add(outputsOf(program), *response->mutable_outputs());
  return finished(context, outcome);
}

ServerUnaryReactor *
GrpcServer::Service::ModelInfer(CallbackServerContext *context,
                                const inference::ModelInferRequest *request,
                                inference::ModelInferResponse *response) {
  ServerUnaryReactor *reactor = context->DefaultReactor();
  auto job = std::make_unique<GrpcJob>(*context, *request, *response, *reactor,
                                       metrics);
  job->outcome = withMemory([&] { return job->read(repository); });
  if (job->outcome.ok())
    batcher.submit(std::move(job));
  else
    job->finish();
  return reactor;
}

ServerUnaryReactor *GrpcServer::Service::RepositoryIndex(
    CallbackServerContext *context,
    const inference::RepositoryIndexRequest *request,
    inference::RepositoryIndexResponse *response) {
  for (const IndexLine &line : indexOf(repository, request->ready())) {
    auto &made = *response->add_models();
    made.set_name(line.name);
    made.set_version(line.version);
    made.set_state(line.state);
    made.set_reason(line.reason);
  }
  return finished(context, {});
}

GrpcServer::GrpcServer(const Repository &repository, Batcher &batcher,
                       Metrics &metrics, const std::atomic<bool> &isStopping,
                       size_t mostBody)
    : service(std::make_unique<Service>(repository, batcher, metrics,
                                        isStopping, mostBody)) {}

GrpcServer::~GrpcServer() {
  if (service->server)
    service->server->Shutdown(std::chrono::system_clock::now());
}

Expected<std::vector<std::string>>
GrpcServer::start(const std::vector<std::string> &addresses) {
  grpc::ServerBuilder builder;
  std::vector<pdlrt::Address> places;
  std::vector<int> ports(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    auto address = pdlrt::parseAddress(addresses[i]);
    if (!address)
      return std::move(address).status();
    places.push_back(*address);
    // gRPC would take a socket away from who listens there.
    auto claim = pdlrt::claimPath(*address);
    if (!claim)
      return std::move(claim).status();
    claims.push_back(std::move(*claim));
    // gRPC's word for a name that is no file.
    builder.AddListeningPort(address->kind == pdlrt::Address::Kind::UnixAbstract
                                 ? "unix-abstract:" + address->path
                                 : address->toString(),
                             grpc::InsecureServerCredentials(), &ports[i]);
  }
  // Two servers at one address would each get a part of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(
      int(std::min<size_t>(service->mostBody, INT32_MAX)));
  builder.SetMaxSendMessageSize(-1);
  // A bound on what is received is none on what it is unpacked to.
  for (int kind = GRPC_COMPRESS_NONE + 1; kind < GRPC_COMPRESS_ALGORITHMS_COUNT;
       ++kind)
    builder.SetCompressionAlgorithmSupportStatus(
        grpc_compression_algorithm(kind), false);
  builder.RegisterService(service.get());
  service->server = builder.BuildAndStart();
  std::vector<std::string> taken;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (!service->server || ports[i] == 0)
      return pdlrt::Status::invalid(
          addresses[i] + ": gRPC cannot listen there; is another process at "
                         "this address?");
    if (places[i].kind == pdlrt::Address::Kind::Tcp)
      places[i].port = uint16_t(ports[i]);
    taken.push_back(places[i].toString());
  }
  return taken;
}

bool GrpcServer::stop(Clock::time_point until) {
  if (!service->server)
    return true;
  const auto deadline =
      std::chrono::system_clock::now() +
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          until - Clock::now());
  // Behind its deadline gRPC still waits for calls that are being scored.
  std::promise<void> ended;
  std::future<void> end = ended.get_future();
  std::thread ending([server = std::move(service->server), deadline,
                      ended = std::move(ended)]() mutable {
    server->Shutdown(deadline);
    server.reset();
    ended.set_value();
  });
  const bool isDone = end.wait_until(until) == std::future_status::ready;
  // Else it ends with the process.
  isDone ? ending.join() : ending.detach();
  return isDone;
}
