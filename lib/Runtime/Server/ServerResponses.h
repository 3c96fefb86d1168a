//===- ServerResponses.h - Values and rows in responses ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_SERVERRESPONSES_H
#define LIB_RUNTIME_SERVER_SERVERRESPONSES_H

#include "Server/OwnedState.h"
#include "Server/StateServerRows.h"
#include "pdlrt/Protocol/ExchangeCodec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pdlrt {

/// Copies of the blocks of parameters, indexed by symbol. Responses with the
/// same state share them.
using ParameterCopies = std::vector<std::shared_ptr<std::byte>>;

/// Result of a step, to be sent in its responses.
struct StepOutcome {
  bool applied = false;
  /// Sums by objective; none: the response has no LOSS.
  std::optional<std::vector<ObjectiveSums>> sums;
  bool stop = false;
  bool save = false;
  uint32_t contributors = 0;

  void setSums(const PartialSum &merged) {
    if (merged.present)
      sums = merged.objectives;
  }
};

/// Values that a sender has read, from which it computes its next gradients.
/// Stored for symbols whose groups use delay compensation.
struct Seen {
  /// Request of the sender, with its keys.
  std::shared_ptr<const ExchangeMessage> message;
  /// Values of the rows, by channel of KEYS.
  std::vector<std::shared_ptr<std::byte>> rows;
  /// Blocks of each parameter, by symbol.
  ParameterCopies values;
  int64_t bytes = 0;
};

/// Receiver of a State response, and its content.
struct StateFor {
  Pulled *pulled;
  /// True if the receiver wants all blocks.
  bool allValues;
  const StepOutcome *outcome;
  /// Output: the values that the receiver reads. Null if they are not stored.
  Seen *seen = nullptr;
  /// True if the receiver holds all parameters itself.
  bool withoutParameters = false;
};

/// Builds responses from a server's state. Not thread-safe.
class ServerResponses {
public:
  /// The arguments must outlive this object.
  ServerResponses(OwnedState &state, StateServerRows &rows)
      : state(state), rows(rows) {}

  /// Returns the State responses to senders. The rows of their keys must have
  /// been inserted (`StateServerRows::insert`).
  std::vector<Message> stateResponses(const ExchangeLayout &layout,
                                      const std::vector<StateFor> &to);
  /// Adds the current blocks of a VALUE channel to a response.
  void addValues(const ExchangeLayout &layout, int32_t channel, bool frozen,
                 ParameterCopies &copies, ExchangeWriter &writer);

private:
  using RowCopies = std::vector<std::shared_ptr<std::byte>>;
  Message stateResponse(const ExchangeLayout &layout, const StateFor &to,
                        const RowCopies &rowCopies, ParameterCopies &copies);

  OwnedState &state;
  StateServerRows &rows;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_SERVERRESPONSES_H
