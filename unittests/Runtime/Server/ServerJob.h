//===- ServerJob.h - Servers driven by payloads only ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SERVER_SERVERJOB_H
#define PDL_UNITTESTS_RUNTIME_SERVER_SERVERJOB_H

#include "Support/BlockProgram.h"
#include "pdlrt/Server/StateServer.h"

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace pdlrt::test {

/// Gradients of one trainer in one step: of @w and @b, and of rows of both
/// tables, with element type T.
template <typename T> struct Gradients {
  bool present = false;
  double loss = 0, weight = 0;
  std::vector<T> w, b;
  /// Keys of @lazy and @all in any order, and rows in key order.
  std::vector<int64_t> keys[2];
  std::vector<T> rows[2];
};

/// The servers of one job.
template <typename T> class ServerJob {
public:
  ServerJob(const BlockVariant &variant, int32_t servers, uint32_t trainers,
            PlacementPolicy policy, int threads);

  size_t size() const { return servers.size(); }
  StateServer &server(size_t index) { return *servers[index]; }
  const Placement &map() const { return *placement; }
  const pdl_descriptor &descriptor() const { return program.descriptor(); }
  const ExchangeLayout &layout(int32_t index) const { return *layouts[index]; }

  /// Runs one step of all trainers in mode sync. `gradients`: gradients of this
  /// step. `next`: gradients of the following step, whose keys are requested.
  /// An empty list means that no trainer has any.
  Status step(const std::vector<Gradients<T>> &gradients,
              const std::vector<Gradients<T>> &next, std::mt19937 &random);
  /// Sends the requests of `asyncStep` to `front`, which must forward them.
  void setFront(size_t index, ServerApplication &front) {
    fronts[index] = &front;
  }
  /// Sends one request of one worker in mode async.
  Status asyncStep(uint32_t trainer, const Gradients<T> &gradients,
                   const Gradients<T> *next);
  /// Sends a request of one worker in mode async for the state that its next
  /// step reads.
  Status asyncPull(uint32_t trainer, const Gradients<T> &next) {
    return asyncExchange(trainer, {}, &next, /*allValues=*/false);
  }
  /// Sends one push of one worker with its own keys. The push is the sum of
  /// `steps` steps. `sender` must differ from the sender of `asyncStep`.
  Status asyncPush(uint32_t trainer, const Gradients<T> &gradients,
                   uint32_t steps, double norm = 0, uint32_t sender = 1);
  /// Runs a round of requests of the kind `kind`, which arrive in random order.
  /// `payloads` is indexed by trainer and server.
  Status round(MessageKind kind,
               const std::vector<std::vector<Message>> &payloads,
               std::vector<std::vector<Message>> &responses,
               std::mt19937 &random);
  /// Returns the payloads of one trainer's Exchange, by server.
  std::vector<Message> exchange(const Gradients<T> &now,
                                const Gradients<T> *next, bool allValues,
                                double norm = 0);

  /// Values in the last responses to trainer 0: the parameters, and the rows of
  /// its keys.
  std::vector<T> mirrors[BlockSymbols];
  std::vector<T> rows[2];
  double lossSum = 0, weightSum = 0;
  uint32_t contributors = 0;
  bool wantsSave = false;

private:
  Status asyncExchange(uint32_t trainer, const Gradients<T> &gradients,
                       const Gradients<T> *next, bool allValues);
  void addGradients(int32_t server, const Gradients<T> &now,
                    ExchangeWriter &writer);
  void addKeys(int32_t server, const Gradients<T> &next, int32_t channel,
               ExchangeWriter &writer);
  double jointNorm(const std::vector<ExchangeMessage> &sums);
  Status take(const std::vector<Message> &responses, const Gradients<T> *next);
  Expected<ExchangeMessage> open(const Message &response, ExchangeForm form,
                                 int32_t server,
                                 const std::vector<int64_t> &counts);

  BlockProgram program;
  Scheduler scheduler;
  std::optional<Placement> placement;
  std::vector<std::unique_ptr<ExchangeLayout>> layouts;
  std::vector<std::unique_ptr<StateServer>> servers;
  std::vector<ServerApplication *> fronts;
  /// Numbers of requests of `asyncStep`, by trainer.
  std::map<uint32_t, uint64_t> sequences;
  /// Rows that messages refer to.
  std::vector<std::unique_ptr<std::vector<T>>> kept;
};

/// Returns random gradients of a step. About a fifth of the trainers are
/// absent, and some have no weight.
template <typename T>
std::vector<Gradients<T>> randomGradients(uint32_t trainers,
                                          std::mt19937 &random);

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SERVER_SERVERJOB_H
