//===- GrpcCalls.h - gRPC calls of the V2 protocol --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_GRPCCALLS_H
#define PDL_TOOLS_PDL_SERVE_GRPCCALLS_H

#include "Batcher.h"
#include "GrpcServer.h"
#include "MemoryBudget.h"
#include "Repository.h"
#include "inference.pb.h"
#include "pdlrt/Core/RecursiveMutex.h"

#include <atomic>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace pdlserve {

class Call;

/// Set of all active calls. Thread-safe.
class Calls {
public:
  /// Returns false if the maximum number of calls is reached.
  bool add(Call *call);
  void remove(Call *call);
  /// Records that a call has received its message.
  void setRead(Call *call);
  /// Cancels calls that started before `since` and have not received their
  /// message.
  void cancelReading(Clock::time_point since);

private:
  /// Recursive mutex, because canceling a call may remove it on the same
  /// thread.
  pdlrt::RecursiveMutex mutex;
  std::unordered_set<Call *> all PDLRT_GUARDED_BY(mutex);
  std::unordered_map<Call *, Clock::time_point> reading PDLRT_GUARDED_BY(mutex);
};

/// Objects that handle calls.
struct Handlers {
  const Repository &repository;
  Batcher &batcher;
  MemoryBudget &budget;
  ServingMetrics &metrics;
  const std::atomic<bool> &isStopping;
  const GrpcOptions options;
  Calls calls;

  /// Handles a call that has received its message. The response may be sent
  /// later.
  void handle(Call &call, std::string_view method);
};

/// A gRPC call. Its message is received as bytes, and parsed only if the memory
/// budget allows it. gRPC calls OnDone when the call has ended, which deletes
/// the object.
class Call final : public grpc::ServerGenericBidiReactor {
public:
  Call(Handlers &handlers, grpc::GenericCallbackServerContext &context)
      : memory(handlers.budget), handlers(handlers), context(context) {
    if (!handlers.calls.add(this)) {
      Finish({grpc::StatusCode::UNAVAILABLE,
              "the server has as many calls as it may have; call it later"});
      return;
    }
    StartRead(&bytes);
  }
  ~Call() override { handlers.calls.remove(this); }

  void OnReadDone(bool ok) override;
  void OnDone() override { delete this; }

  bool isCancelled() const { return context.IsCancelled(); }
  void cancel() { context.TryCancel(); }
  /// Ends the call with an error.
  void fail(const Outcome &outcome);
  /// Ends the call with a message.
  template <typename Message> void reply(const Message &message) {
    bool isOwn = false;
    bytes.Clear();
    const grpc::Status status =
        grpc::SerializationTraits<Message>::Serialize(message, &bytes, &isOwn);
    if (status.ok())
      StartWriteAndFinish(&bytes, {}, grpc::Status::OK);
    else
      Finish(status);
  }
  /// Parses the bytes of the call. The memory that `message` needs must be
  /// reserved in the budget. Returns an error if the bytes are not a message of
  /// this type.
  template <typename Message> Outcome parse(Message &message) {
    const grpc::Status status =
        grpc::SerializationTraits<Message>::Deserialize(&bytes, &message);
    return status.ok() ? Outcome()
                       : Outcome::bad("the message is none of this method");
  }

  grpc::ByteBuffer bytes;
  /// Memory of the call, which is reserved in the budget of all requests until
  /// the call ends.
  Reservation memory;
  inference::ModelInferRequest request;

private:
  Handlers &handlers;
  grpc::GenericCallbackServerContext &context;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_GRPCCALLS_H
