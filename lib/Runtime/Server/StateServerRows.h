//===- StateServerRows.h - Rows of the keys of a step -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_STATESERVERROWS_H
#define LIB_RUNTIME_SERVER_STATESERVERROWS_H

#include "Server/OwnedState.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/State/PreparedRows.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// Keys of a sender's last request, with their rows.
struct Pulled {
  int32_t program = -1;
  std::shared_ptr<const ExchangeMessage> message;
  /// Row addresses, indexed by channel. For KEYS: the row of each key. For
  /// ROW_GRADIENT: the row of each gradient.
  std::vector<std::vector<void *>> rows;
  /// Rows that were created for the keys of the request, by channel of KEYS.
  std::vector<std::vector<TableRow>> fresh;

  int64_t keyCount(int32_t channel) const {
    return int64_t(message->sectionOf<int64_t>(channel).size());
  }
};

/// Number of keys that one task looks up or copies.
inline constexpr int64_t keysInTask = 1024;

/// Finds and creates the rows that steps read and update. Not thread-safe.
class StateServerRows final : private PreparedRows {
public:
  /// Returns the keys of steps whose gradients have not been applied.
  using PendingKeys = std::function<std::vector<const Pulled *>()>;

  /// `state` gets a reference to this object as its prepared rows, and must
  /// outlive it.
  explicit StateServerRows(OwnedState &state);

  /// Sets the source of pending keys. Called once, before any request.
  void setPending(PendingKeys from) { pendingKeys = std::move(from); }

  /// Returns, for each channel, how many gradients of rows a request must have.
  /// `pulled`: keys of the sender's previous request, to which its gradients
  /// belong.
  static std::vector<int64_t> pushedRows(const ExchangeLayout &layout,
                                         const Pulled &pulled);
  /// Same for a request that contains its own keys, whose bytes have not been
  /// checked.
  static std::vector<int64_t> pushedRows(const ExchangeLayout &layout,
                                         const ExchangeMessage &message);
  /// Returns the gradients of a message, which must have been checked. The
  /// result refers to `message` and to `pulled`.
  PartialSum partialSumOf(const ExchangeLayout &layout,
                          const ExchangeMessage &message, Pulled &pulled) const;
  /// Finds or creates the rows of all keys, except in tables whose rows only
  /// updates create. If an error occurs, some rows may have been created, which
  /// no reader can observe.
  Status insert(const std::vector<Pulled *> &senders);
  /// Copies the values of all keys' rows to `out`, on several threads; for a
  /// key without a row, the initial value. `out` is indexed by sender, then by
  /// channel of KEYS; null pointers are skipped. Throws std::bad_alloc.
  void copyTo(const std::vector<Pulled *> &senders,
              const std::vector<std::vector<std::shared_ptr<std::byte>>> &out);
  /// Sets rows that were created for the next step to their initial values
  /// again. Needed after an update of a table whose rule changes all rows. Does
  /// not throw.
  void renew(const Pulled &pulled);
  /// Returns the rows of a table that were created for keys of pending steps,
  /// as lists that are not empty. Call only between requests. Throws
  /// std::bad_alloc.
  std::vector<std::span<const TableRow>> prepared(int32_t symbol) const;

private:
  /// Range of the keys of one channel of one sender.
  struct KeyTask {
    size_t sender;
    int32_t channel;
    int64_t begin, end;
    /// Rows that were created.
    std::vector<TableRow> fresh;
  };
  void split(const std::vector<Pulled *> &senders);
  void insertRange(KeyTask &task, Pulled &pulled, TableScratch &own,
                   Status &status);
  void copyRange(const KeyTask &task, Pulled &pulled, std::byte *out,
                 TableScratch &own);
  bool updatesAllRows(int32_t symbol) const;
  void listPrepared(const Visit &visit) const override;

  OwnedState &state;
  PendingKeys pendingKeys;
  std::vector<KeyTask> tasks;
  std::vector<TableScratch> scratch;
  std::vector<Status> statuses;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_STATESERVERROWS_H
