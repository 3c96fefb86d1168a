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

/// Encodes the payload of a Part: its number within its request, from 0, then
/// its bytes.
Message encodePart(uint64_t number, const Message &bytes);
/// Size in bytes of the number before the bytes.
inline constexpr size_t partHeadSize = sizeof(uint64_t);
/// Returns why a Part of `size` bytes, including its head, must not be read;
/// empty if it may be. `maxBytes` is as in `PartBox`.
std::string partSizeFault(uint64_t size, uint64_t maxBytes);

/// Reassembles requests that are sent in parts. For each joined sender it keeps
/// the parts of the next request, and the request itself until all parts have
/// arrived. References the bytes of messages instead of copying them. Accepts
/// any bytes. Not thread-safe.
class PartBox {
public:
  /// `maxBytes` is the maximum total size of the parts of one sender; 0 if
  /// parts are not allowed.
  explicit PartBox(uint64_t maxBytes) : maxBytes(maxBytes) {}

  /// Returns `partSizeFault` for a Part of `size` bytes.
  std::string sizeFault(uint64_t size) const {
    return partSizeFault(size, maxBytes);
  }
  /// Stores a part of its sender's next request. Storing the same part again is
  /// harmless. Returns an error if the part is not valid; then all parts of
  /// that request are dropped.
  Status add(const Envelope &head, const Message &payload);
  /// Inserts the parts that `request`, the sender's next one, refers to into
  /// its payload, and drops them. Returns false, and changes nothing, if some
  /// parts have not arrived. Returns an error if the references do not match
  /// the parts.
  Expected<bool> putTogether(Frame &request);
  /// Stores a request until all its parts have arrived, replacing an earlier
  /// copy. `takeWaiting` returns it.
  void wait(Frame request);
  std::optional<Frame> takeWaiting(const Envelope &head);
  /// Drops everything of that sender, or of all senders of that trainer.
  void forget(const Envelope &head) { senders.erase(nameOf(head)); }
  void forgetTrainer(uint32_t trainer);

private:
  using SenderName = std::pair<uint32_t, uint32_t>;
  /// Data that one sender has sent of one request.
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
