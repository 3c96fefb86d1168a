//===- GrpcCalls.h - Calls of the V2 protocol by gRPC --------- -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_GRPCCALLS_H
#define PDLSERVE_GRPCCALLS_H

#include "Batcher.h"
#include "GrpcServer.h"
#include "MemoryBudget.h"
#include "Repository.h"
#include "inference.pb.h"

#include <atomic>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace pdlserve {

class Call;

/// The calls that there are. Threads may share it.
class Calls {
public:
  /// Returns false if there are as many as may be.
  bool add(Call *call);
  void remove(Call *call);
  /// Notes that a call has its message.
  void setRead(Call *call);
  /// Ends calls whose message has not come since `since`.
  void cancelReading(Clock::time_point since);

private:
  /// Ending a call may remove it in the same thread.
  std::recursive_mutex mutex;
  std::unordered_set<Call *> all;
  std::unordered_map<Call *, Clock::time_point> reading;
};

/// What answers calls.
struct Handlers {
  const Repository &repository;
  Batcher &batcher;
  MemoryBudget &budget;
  Metrics &metrics;
  const std::atomic<bool> &isStopping;
  const GrpcOptions options;
  Calls calls;

  /// Answers a call with its message, now or later.
  void handle(Call &call, std::string_view method);
};

/// A call. Its message comes as bytes, which are parsed when the budget has
/// room for them. gRPC deletes it, by OnDone.
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
  /// Ends the call without a message.
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
  /// Parses a message, of which the budget has taken the cost. Not ok: the
  /// bytes are none.
  template <typename Message> Outcome parse(Message &message) {
    const grpc::Status status =
        grpc::SerializationTraits<Message>::Deserialize(&bytes, &message);
    return status.ok() ? Outcome()
                       : Outcome::bad("the message is none of this method");
  }

  grpc::ByteBuffer bytes;
  /// What the call takes of the bytes of all requests in flight, to its end.
  Reservation memory;
  inference::ModelInferRequest request;

private:
  Handlers &handlers;
  grpc::GenericCallbackServerContext &context;
};

} // namespace pdlserve

#endif // PDLSERVE_GRPCCALLS_H
