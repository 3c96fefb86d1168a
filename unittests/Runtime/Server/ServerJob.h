//===- ServerJob.h - Servers driven by payloads alone -----------*- C++ -*-===//
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

/// What one trainer gives in one step: whole gradients of @w and @b, rows of
/// both tables. Element type T.
template <typename T> struct Gradients {
  bool present = false;
  double loss = 0, weight = 0;
  std::vector<T> w, b;
  /// Of @lazy and @all: keys in any order, rows in the order of the keys.
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

  /// One step of all trainers: `gradients` of this step, `next` for the keys of
  /// the step after it; an empty list: nobody has any. In mode sync.
  Status step(const std::vector<Gradients<T>> &gradients,
              const std::vector<Gradients<T>> &next, std::mt19937 &random);
  /// Sends requests of `asyncStep` to `front`, which passes them on.
  void setFront(size_t index, ServerApplication &front) {
    fronts[index] = &front;
  }
  /// One request of one worker in mode async.
  Status asyncStep(uint32_t trainer, const Gradients<T> &gradients,
                   const Gradients<T> *next);
  /// A request of one worker in mode async for what its next step reads.
  Status asyncPull(uint32_t trainer, const Gradients<T> &next) {
    return asyncExchange(trainer, {}, &next, /*allValues=*/false);
  }
  /// One push of one worker that brings keys of its own, and is the sum of so
  /// many steps; by another sender than those of `asyncStep`, if it is given.
  Status asyncPush(uint32_t trainer, const Gradients<T> &gradients,
                   uint32_t steps, double norm = 0, uint32_t sender = 1);
  /// A round of one kind; payloads by trainer and server. Arrives in a random
  /// order.
  Status round(MessageKind kind,
               const std::vector<std::vector<Message>> &payloads,
               std::vector<std::vector<Message>> &answers,
               std::mt19937 &random);
  /// The payloads of one trainer's Exchange, by server.
  std::vector<Message> exchange(const Gradients<T> &now,
                                const Gradients<T> *next, bool allValues,
                                double norm = 0);

  /// From the last answers to trainer 0: the parameters, and the rows of the
  /// keys that it asked for.
  std::vector<T> mirrors[BlockSymbols];
  std::vector<T> rows[2];
  double lossSum = 0, weightSum = 0;
  uint32_t contributors = 0;

private:
  Status asyncExchange(uint32_t trainer, const Gradients<T> &gradients,
                       const Gradients<T> *next, bool allValues);
  void addGradients(int32_t server, const Gradients<T> &now,
                    ExchangeWriter &writer);
  void addKeys(int32_t server, const Gradients<T> &next, int32_t channel,
               ExchangeWriter &writer);
  double jointNorm(const std::vector<ExchangeMessage> &sums);
  Status take(const std::vector<Message> &answers, const Gradients<T> *next);
  Expected<ExchangeMessage> open(const Message &answer, ExchangeForm form,
                                 int32_t server,
                                 const std::vector<int64_t> &counts);

  BlockProgram program;
  Scheduler scheduler;
  std::optional<Placement> placement;
  std::vector<std::unique_ptr<ExchangeLayout>> layouts;
  std::vector<std::unique_ptr<StateServer>> servers;
  std::vector<ServerApplication *> fronts;
  /// By trainer: requests of `asyncStep`.
  std::map<uint32_t, uint64_t> sequences;
  /// Keeps rows that messages refer to.
  std::vector<std::unique_ptr<std::vector<T>>> kept;
};

/// Random gradients of a step: about a fifth of the trainers are absent, some
/// weigh nothing.
template <typename T>
std::vector<Gradients<T>> randomGradients(uint32_t trainers,
                                          std::mt19937 &random);

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SERVER_SERVERJOB_H
