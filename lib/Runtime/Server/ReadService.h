//===- ReadService.h - Reads without training -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Responds to frozen programs in trainers (Pull), and to readers outside of the
// job. In both cases rows are looked up, and none is created.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_READSERVICE_H
#define LIB_RUNTIME_SERVER_READSERVICE_H

#include "Server/OwnedState.h"
#include "Server/ServerResponses.h"
#include "Server/StateServerRows.h"
#include "pdlrt/Protocol/ReadCodec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

/// Reads a server's state for readers, as a save at this moment would store it.
/// Changes nothing that other requests can observe. Not thread-safe.
class ReadService {
public:
  /// The arguments must outlive this object.
  ReadService(OwnedState &state, const StateServerRows &rows,
              ServerResponses &responses)
      : state(state), stepRows(rows), responses(responses) {}

  /// Returns the response to a checked Pull.
  Message pull(const ExchangeMessage &message, const ExchangeLayout &layout);
  // Implement the functions of `ServerApplication` with the same names.
  Expected<Message> respondToVisit(const Message &payload);
  Expected<Message> respondToRead(const Message &payload);

private:
  template <typename Found>
  void find(int32_t symbol, std::span<const int64_t> keys, Found found);
  const ServerContents &contents();
  std::vector<OwnedBytes> heldParameters();
  Status checkRead(const std::vector<KeysOfTable> &tables);
  OwnedBytes readTable(const KeysOfTable &asked, std::vector<uint64_t> &known);

  OwnedState &state;
  const StateServerRows &stepRows;
  ServerResponses &responses;
  std::vector<TableScratch> scratch;
  /// The description for readers; created at the first use.
  std::optional<ServerContents> ownContents;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_READSERVICE_H
