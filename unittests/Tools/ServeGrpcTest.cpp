//===- ServeGrpcTest.cpp - Requests to pdl-serve over gRPC ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batcher.h"
#include "GrpcServer.h"
#include "MemoryBudget.h"
#include "Repository.h"
#include "ServedFolder.h"
#include "ServingMetrics.h"
#include "inference.pb.h"

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace pdlrt;
using namespace pdlserve;
using testing::ElementsAre;
namespace {

/// Returns the bytes of a message; none if there is none.
std::string bytesOf(const grpc::ByteBuffer &message) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (message.Dump(&slices).ok())
    for (const grpc::Slice &each : slices)
      bytes.append(reinterpret_cast<const char *>(each.begin()), each.size());
  return bytes;
}

/// Records the messages of gRPC's health service until the call is canceled.
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

  /// Returns all messages once there are `count`, after giving others time to
  /// arrive.
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

/// A client of a server over gRPC, at a free port.
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

  /// Returns the status and the response of a method for these bytes.
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

  /// Calls end a little after their response.
  bool isAllGivenBack() const {
    for (int i = 0; i < 1000 && budget.taken() > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return budget.taken() == 0;
  }

  /// Returns a request of `samples` samples, whose ids are keys of the table.
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

  ServingMetrics metrics;
  Repository repository{folder.file(""), {}, {}, metrics};
  Batcher batcher{{}, metrics};
  MemoryBudget budget{64 << 20};
  const std::atomic<bool> isStopping = false;
  std::optional<GrpcServer> server;
  std::optional<grpc::GenericStub> stub;
};

TEST_F(ServeGrpc, RespondsToRequests) {
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

TEST_F(ServeGrpc, WatchersAreNotifiedOfChangesOnly) {
  const std::string serving("\x08\x01", 2), notServing("\x08\x02", 2);
  HealthWatcher watcher(*stub);
  EXPECT_THAT(watcher.waitFor(1), ElementsAre(serving));
  for (int i = 0; i < 10; ++i) {
    server->updateHealth();
    EXPECT_THAT(watcher.waitFor(1), ElementsAre(serving));
  }
  std::filesystem::remove_all(folder.file("m"));
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
  // Empty texts: 2 bytes each in the message, and about 64 when parsed.
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
