//===- ReadService.h - Reads without training -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads of frozen programs in trainers (Pull), and of readers outside the job.
// Both look up rows in the same way, and create none.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_READSERVICE_H
#define LIB_RUNTIME_SERVER_READSERVICE_H

#include "Server/ServedState.h"
#include "Server/ServerResponses.h"
#include "Server/StateServerRows.h"
#include "pdlrt/Protocol/ReadCodec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

/// Reads a server's state as a save of this time would store it. Changes
/// nothing that others can see. Not thread-safe.
class ReadService {
public:
  /// Everything must outlive this object.
  ReadService(ServedState &state, const StateServerRows &rows,
              ServerResponses &responses)
      : state(state), stepRows(rows), responses(responses) {}

  /// Returns the response to a checked Pull.
  Message pull(const ExchangeMessage &message, const ExchangeLayout &layout);
  // What the functions of these names of `ServerApplication` do.
  Expected<Message> respondToVisit(const Message &payload);
  Expected<Message> respondToRead(const Message &payload);

private:
  template <typename Found>
  void find(int32_t symbol, std::span<const int64_t> keys, Found found);
  const ServerContents &contents();
  std::vector<OwnedBytes> heldParameters();
  Status checkRead(const std::vector<KeysOfTable> &tables);
  OwnedBytes readTable(const KeysOfTable &asked, std::vector<uint64_t> &known);

  ServedState &state;
  const StateServerRows &stepRows;
  ServerResponses &responses;
  std::vector<TableScratch> scratch;
  /// The description for readers; created at the first use.
  std::optional<ServerContents> ownContents;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_READSERVICE_H
