//===- SentParts.h - Parts sent ahead of a request --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROTOCOL_SENTPARTS_H
#define LIB_RUNTIME_PROTOCOL_SENTPARTS_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Message.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace pdlrt {

/// A part that was sent. It may not have arrived yet.
struct SentPart {
  Envelope head;
  Message message;
  /// Called when the part has arrived. May be empty.
  std::function<void()> arrived;
  bool isThere = false;
  /// Pause and deadline of the next attempt.
  ClockTime pause{0};
  ClockTime attemptTime{0};
};

/// Parts of a request at one server: of the open request, or of the next one.
/// Not thread-safe.
class SentParts {
public:
  void add(uint64_t number, SentPart part) {
    parts.insert_or_assign(number, std::move(part));
  }
  /// Returns part `number` if it belongs to request `sequence` and has not
  /// arrived yet; otherwise null.
  SentPart *find(uint64_t sequence, uint64_t number) {
    const auto found = parts.find(number);
    return found != parts.end() && found->second.head.sequence == sequence &&
                   !found->second.isThere
               ? &found->second
               : nullptr;
  }
  /// Drops all parts, because the request has ended or will not be sent.
  void clear() { parts.clear(); }

  /// A call that carries a part. It is counted until it ends (`callEnds`). If
  /// `isUnderWay` was never called, because the call could not be started, the
  /// destructor ends it.
  class Call {
  public:
    explicit Call(SentParts &of) : parts(&of) { ++parts->calls; }
    ~Call() {
      if (parts)
        parts->callEnds();
    }
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
    /// Keeps the call counted until `callEnds`.
    void isUnderWay() { parts = nullptr; }

  private:
    SentParts *parts;
  };
  void callEnds() { --calls; }
  /// Returns true if a call may still read the bytes of a part.
  bool areRead() const { return calls > 0; }

private:
  std::map<uint64_t, SentPart> parts;
  size_t calls = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROTOCOL_SENTPARTS_H
