//===- CopyExchange.h - Exchange of model deltas (GEO-SGD) ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mode geo: a trainer trains its own copy of the model. From time to time it
// sends its model deltas to the servers, divided by the number of trainers, and
// receives the changes of the other trainers (docs/Modes.md). Deltas of symbols
// of groups with `merge(sum)` are not divided. Slots and step counts are not
// exchanged. With one trainer, values are sent instead of differences, so
// nothing is rounded.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_COPYEXCHANGE_H
#define PDLRT_ENGINE_COPYEXCHANGE_H

#include "pdlrt/Core/BufferPool.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Engine/StepMetrics.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/Packing.h"
#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/Sum/PartialSum.h"
#include "pdlrt/Table/KeyIndex.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// Exchanges the changes that a training program makes to a model with the
/// servers. Not thread-safe. During a call, no other code may use the model,
/// except for a snapshot that is being saved.
class CopyExchange {
public:
  /// Number of trainers that share the state, and the encoding of keys in
  /// messages.
  struct Options {
    int trainers = 1;
    KeyPacking keyPacking = KeyPacking::None;
  };
  /// Creates an exchange. The references must outlive it. The servers have the
  /// current values of the model, or were told to send others in the first
  /// exchange, which must then be `settle`. `program`: index of a program with
  /// delta channels; otherwise returns an error. Throws std::bad_alloc.
  static Expected<std::unique_ptr<CopyExchange>>
  create(const pdl_descriptor &descriptor, int32_t program,
         const Placement &placement, ServerGroup &servers, Model &model,
         Scheduler &scheduler, const Options &options);

  /// Records that a step is about to apply this sum and will change its rows.
  /// Throws std::bad_alloc.
  void note(const PartialSum &sum);

  /// Sends the changes since the last exchange, and receives the changes of
  /// other trainers since then, in one message per server. Throws
  /// std::bad_alloc.
  Status exchange();

  /// Synchronizes all trainers; `meet` returns when all of them have called it.
  /// Afterwards all copies are bitwise equal to the servers' values. Changes of
  /// a trainer that it has not sent are lost; of divided deltas, all but
  /// 1/trainers. Throws std::bad_alloc.
  Status settle(const std::function<Status()> &meet);

  ExchangeCosts costs() const { return metrics.costs(); }

private:
  /// A table and its changed rows.
  struct Table {
    int32_t symbol = -1;
    EmbeddingTable *copy = nullptr;
    /// Divisor of deltas before they are sent.
    int divisor = 1;
    /// The last synchronized value of each row, without slots; a row that is
    /// not in it has its initial value. Null with one trainer, and for a table
    /// that is never trained.
    std::unique_ptr<EmbeddingTable> base;
    /// Keys that were changed since the last exchange, possibly with
    /// duplicates, and keys whose rows differ from their base.
    std::vector<int64_t> noted, drifted;
    size_t compactNotedAt = size_t(1) << 16;
    size_t compactDriftedAt = size_t(1) << 16;
    KeyRouter router;
    /// Rows of the keys that are exchanged.
    std::vector<void *> rows, baseRows;
    std::vector<TableScratch> scratch;
  };
  struct Parameter {
    int32_t symbol = -1;
    /// Divisor of deltas before they are sent.
    int divisor = 1;
    /// If true, `base` has the servers' values and `deltas` the changes to
    /// send. False with one trainer, and for parameters that are never trained.
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
  Status takeResponses(std::vector<Message> responses);
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
  /// True if a step was done since the last exchange.
  bool hasChanged = false;
  KeyIndex index;
  /// Memory of rows in messages.
  BufferPool pool;
  ExchangeMetrics metrics;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_COPYEXCHANGE_H
