//===- CopyExchange.h - A trainer's copy among those of others --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mode geo: a trainer trains a copy of its own, and from time to time gives
// servers what it has changed, divided by the number of trainers, and takes
// what others have changed (docs/Modes.md); what symbols of groups with
// `merge(sum)` have changed is not divided. Slots and step counts stay where
// they are. With one trainer values travel instead of differences, and nothing
// is rounded.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_COPYEXCHANGE_H
#define PDLRT_ENGINE_COPYEXCHANGE_H

#include "pdlrt/Core/BufferPool.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Engine/StepCosts.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/Packing.h"
#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/Sum/Contribution.h"
#include "pdlrt/Table/KeyIndex.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// What a program that trains changes of a model, exchanged with servers. Not
/// thread-safe; nobody uses the model meanwhile, but for a save of a moment.
class CopyExchange {
public:
  /// How many trainers share the state, and how their keys travel.
  struct Options {
    int trainers = 1;
    KeyPacking keyPacking = KeyPacking::None;
  };
  /// All references outlive it. Servers have the values that the model has now,
  /// or have been told to say others with the first exchange, which `settle`
  /// then is. `program`: index of one with channels of changes; else an error.
  /// Throws std::bad_alloc.
  static Expected<std::unique_ptr<CopyExchange>>
  create(const pdl_descriptor &descriptor, int32_t program,
         const Placement &placement, ServerGroup &servers, Model &model,
         Scheduler &scheduler, const Options &options);

  /// A step is about to apply this sum: its rows will be changed. Throws
  /// std::bad_alloc.
  void note(const Contribution &sum);

  /// Gives what was changed since the last exchange, and takes what others have
  /// changed since then: one message for each server. Throws std::bad_alloc.
  Status exchange();

  /// All trainers: `meet` returns when all have called it. Behind it all copies
  /// are the servers' values, to the bit. What a trainer has changed and not
  /// given is lost: of what is divided, all but 1/trainers. Throws
  /// std::bad_alloc.
  Status settle(const std::function<Status()> &meet);

  const ExchangeCosts &costs() const { return ownCosts; }

private:
  /// A table, and what is known of its rows.
  struct Table {
    int32_t symbol = -1;
    EmbeddingTable *copy = nullptr;
    /// By what changes are divided before they are sent.
    int divisor = 1;
    /// The base of each row that is there, without slots; a row that is not
    /// there has its initial value. Null with one trainer, and of a table that
    /// nobody trains.
    std::unique_ptr<EmbeddingTable> base;
    /// Keys that were changed since the last exchange, some of them several
    /// times, and those that differ from their base.
    std::vector<int64_t> noted, drifted;
    size_t compactNotedAt = size_t(1) << 16;
    size_t compactDriftedAt = size_t(1) << 16;
    KeyRouter router;
    /// Of the keys that are exchanged.
    std::vector<void *> rows, baseRows;
    std::vector<TableScratch> scratch;
  };
  struct Parameter {
    int32_t symbol = -1;
    /// As of a table.
    int divisor = 1;
    /// Not with one trainer, nor of what nobody trains: else the values of
    /// servers, and what is sent.
    bool hasBase = false;
    AlignedBuffer base, deltas;
  };

  CopyExchange(const pdl_descriptor &descriptor, const Placement &placement,
               ServerGroup &servers, Model &model, Scheduler &scheduler,
               const Options &options, ExchangeLayout layout);
  bool needsBases() const { return options.trainers > 1; }
  int divisorOf(const pdl_symbol &symbol) const;
  Table *tableOf(int32_t symbol);
  Parameter *parameterOf(int32_t symbol);
  Status compact(std::vector<int64_t> &keys);
  Status compactAt(std::vector<int64_t> &keys, size_t &atLeast);
  Status insertRows(Table &table, std::span<const int64_t> keys);
  void forEachRow(int64_t count, TaskRef range);
  void takeDeltasOf(Parameter &parameter);
  void addRowDeltas(Table &table, int32_t server, int32_t channel,
                    ExchangeWriter &writer);
  std::vector<Message> writeChanges();
  Status takeAnswers(std::vector<Message> answers);
  void takeBlocks(Parameter &parameter, int32_t server,
                  const std::byte *values);
  Status takeRows(Table &table, std::span<const int64_t> keys,
                  const std::byte *values);
  void returnToBase();

  const pdl_descriptor &descriptor;
  const Placement &placement;
  ServerGroup &servers;
  Model &model;
  Scheduler &scheduler;
  const Options options;
  const ExchangeLayout layout;
  std::vector<Table> tables;
  std::vector<Parameter> parameters;
  /// Whether a step was done since the last exchange.
  bool hasChanged = false;
  KeyIndex index;
  /// Rows on their way.
  BufferPool pool;
  ExchangeCosts ownCosts;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_COPYEXCHANGE_H
