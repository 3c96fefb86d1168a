//===- PartBox.h - Reassembly of requests sent in parts ---------*- C++ -*-===//
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

/// Encodes the payload of a Part message, which has bytes of a later request:
/// the number of the part within the request, from 0, then the bytes.
Message encodePart(uint64_t number, const Message &bytes);
/// Size of the number at the start of the payload, in bytes.
inline constexpr size_t partHeadSize = sizeof(uint64_t);
/// Returns the reason why a Part of `size` bytes, including its head, must not
/// be read; empty if it is allowed. `maxBytes` is as in `PartBox`.
std::string partSizeFault(uint64_t size, uint64_t maxBytes);

/// Puts requests together whose sections were sent in advance as parts. For
/// each joined sender, stores the parts of the next request, and the request
/// itself until all its parts have arrived. Refers to the bytes of messages
/// without copying them. Accepts any bytes. Not thread-safe.
class PartBox {
public:
  /// `maxBytes` is the maximum total size of the parts of one sender; 0 if
  /// parts are not allowed.
  explicit PartBox(uint64_t maxBytes) : maxBytes(maxBytes) {}

  /// Returns `partSizeFault` for a Part of `size` bytes.
  std::string sizeFault(uint64_t size) const {
    return partSizeFault(size, maxBytes);
  }
  /// Stores a part of the sender's next request. Storing the same part again
  /// has no effect. Returns an error if the part is not valid; then all parts
  /// of the request are dropped.
  Status add(const Envelope &head, const Message &payload);
  /// Inserts the stored parts into the payload of `request`, the sender's next
  /// request, which refers to them. Then no longer stores them. If some parts
  /// have not arrived, returns false and changes nothing. Returns an error if
  /// the references do not match the parts.
  Expected<bool> putTogether(Frame &request);
  /// Stores a request whose parts have not all arrived, in place of an earlier
  /// copy of the same request. `takeWaiting` returns it.
  void wait(Frame request);
  std::optional<Frame> takeWaiting(const Envelope &head);
  /// Drops all data of the sender of `head`. The function below drops the data
  /// of all senders of a trainer.
  void forget(const Envelope &head) { senders.erase(nameOf(head)); }
  void forgetTrainer(uint32_t trainer);

private:
  using SenderName = std::pair<uint32_t, uint32_t>;
  /// Parts, and possibly the request, that one sender has sent of its next
  /// request.
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

  const uint64_t maxBytes;
  std::map<SenderName, Sender> senders;
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_PARTBOX_H
