//===- PartBox.h - Requests whose bytes come in parts -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_PARTBOX_H
#define PDLRT_PROTOCOL_PARTBOX_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace pdlrt {

/// The payload of a Part: its number among those of its request, from 0, then
/// its bytes.
Message encodePart(uint64_t number, const Message &bytes);
/// What stands before the bytes.
inline constexpr size_t partHeadSize = sizeof(uint64_t);

/// The receiving end of requests that are sent in parts: keeps, of each sender
/// that has joined, the parts of the request that comes next, and the request
/// until all of them have come. Shares the bytes of messages. Any bytes are
/// safe. Not thread-safe.
class PartBox {
public:
  /// `mostBytes`: what the parts of one sender may have together; 0: nobody
  /// sends any.
  explicit PartBox(uint64_t mostBytes) : mostBytes(mostBytes) {}

  /// Why a Part of that many bytes, with its head, is not to be read; empty
  /// where it may be.
  std::string sizeFault(uint64_t size) const;
  /// Keeps a part of its sender's next request; once more does no harm. An
  /// error where it cannot be one: then all parts of that request are let go.
  Status add(const Envelope &head, const Message &payload);
  /// Puts the parts that `request`, its sender's next one, names into its
  /// payload, and lets them go; false where some have not come: then nothing
  /// has changed. An error where what it names does not fit what has come.
  Expected<bool> putTogether(Frame &request);
  /// Keeps a request until all of its parts have come, instead of an earlier
  /// copy; `takeWaiting` gives it back.
  void wait(Frame request);
  std::optional<Frame> takeWaiting(const Envelope &head);
  /// Lets everything of that sender, or of all senders of that trainer, go.
  void forget(const Envelope &head) { senders.erase(nameOf(head)); }
  void forgetTrainer(uint32_t trainer);

private:
  using SenderName = std::pair<uint32_t, uint32_t>;
  /// What one sender has sent of one request.
  struct Sender {
    uint64_t incarnation = 0;
    uint64_t sequence = 0;
    std::map<uint64_t, Message> parts;
    uint64_t bytes = 0;
    std::optional<Frame> waiting;
  };
  static SenderName nameOf(const Envelope &head) {
    return {head.trainer, head.worker};
  }
  Sender &senderOf(const Envelope &head);
  Status keep(const Envelope &head, const Message &payload);

  const uint64_t mostBytes;
  std::map<SenderName, Sender> senders;
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_PARTBOX_H
