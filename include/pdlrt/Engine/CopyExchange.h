//===- CopyExchange.h - Exchange of model deltas (GEO-SGD) ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In mode geo, a trainer trains its own copy of the model. After some steps it
// sends its model deltas to the servers and receives the changes of the other
// trainers (docs/Modes.md). A model delta is the change of a value since the
// last exchange, divided by the number of trainers. It is not divided for
// symbols of groups with `merge(sum)`. Slots and step counts are not exchanged.
// A single trainer sends values in place of deltas, so nothing is rounded.
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

/// Sends the changes that a training program makes to a model to the servers,
/// and adds the changes of other trainers to the model. Not thread-safe. During
/// a call, no other code may use the model, except for a save that reads a
/// snapshot.
class CopyExchange {
public:
  /// Options of the exchange: the number of trainers that share the state, and
  /// the encoding of keys in messages.
  struct Options {
    int trainers = 1;
    KeyPacking keyPacking = KeyPacking::None;
  };
  /// Creates an exchange for the program with index `program`; returns an error
  /// if the program has no delta channels. The servers must have the current
  /// values of the model. If they have other values, the first exchange must be
  /// `settle`, in which they send them. The referenced objects must outlive
  /// this one. Throws std::bad_alloc.
  static Expected<std::unique_ptr<CopyExchange>>
  create(const pdl_descriptor &descriptor, int32_t program,
         const Placement &placement, ServerGroup &servers, Model &model,
         Scheduler &scheduler, const Options &options);

  /// Records the rows that a step is about to change by applying `sum`. Throws
  /// std::bad_alloc.
  void note(const PartialSum &sum);

  /// Sends this trainer's changes since the last exchange, and receives the
  /// changes of other trainers since then. Sends one message to each server.
  /// Throws std::bad_alloc.
  Status exchange();

  /// Exchanges all changes of all trainers. Afterwards all copies are bitwise
  /// equal to the servers' values. All trainers must call it; `meet` must
  /// return when all of them have called `meet`. If deltas are divided, a
  /// trainer's copy had its own changes in full; afterwards it has 1/trainers
  /// of them, as the servers have. Throws std::bad_alloc.
  Status settle(const std::function<Status()> &meet);

  ExchangeCosts costs() const { return metrics.costs(); }

private:
  /// A table and its changed rows.
  struct Table {
    int32_t symbol = -1;
    EmbeddingTable *copy = nullptr;
    /// Number by which deltas are divided before they are sent.
    int divisor = 1;
    /// The values that each row had after the last exchange, without slots. A
    /// row that is not in `base` had its initial value. Null if there is one
    /// trainer, and for a table that is not trained.
    std::unique_ptr<EmbeddingTable> base;
    /// `noted`: keys whose rows were changed since the last exchange, possibly
    /// with duplicates. `drifted`: keys whose rows differ from `base`.
    std::vector<int64_t> noted, drifted;
    size_t compactNotedAt = size_t(1) << 16;
    size_t compactDriftedAt = size_t(1) << 16;
    KeyRouter router;
    /// Rows of the keys of the current exchange, in `copy` and in `base`.
    std::vector<void *> rows, baseRows;
    std::vector<TableScratch> scratch;
  };
  struct Parameter {
    int32_t symbol = -1;
    /// Number by which deltas are divided before they are sent.
    int divisor = 1;
    /// True if `base` has the values after the last exchange, and `deltas` the
    /// changes to send. False if there is one trainer, and for parameters that
    /// are not trained.
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
  /// True if a step has changed the model since the last exchange.
  bool hasChanged = false;
  KeyIndex index;
  /// Memory for rows in messages.
  BufferPool pool;
  ExchangeMetrics metrics;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_COPYEXCHANGE_H
