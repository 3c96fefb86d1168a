//===- ReplayGuard.h - A push is applied once -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_REPLAYGUARD_H
#define PDLRT_PROTOCOL_REPLAYGUARD_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Message.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace pdlrt {

/// Tells new requests from retried and duplicated ones: keeps, for each
/// (trainer, worker) that joined, its incarnation, its last sequence, the
/// answers to its last requests and the notes that came with them. Not
/// thread-safe.
class ReplayGuard {
public:
  /// An answer without its head, to be sent again.
  struct StoredAnswer {
    MessageKind kind = MessageKind::Answer;
    Message payload;
  };

  enum class Verdict {
    /// New, and now the sender's last: handle it, then call `answered`.
    Fresh,
    /// The last one, and it is still being handled: wait for its answer.
    Pending,
    /// Its answer is kept: repeat `answerTo`, and do nothing else.
    Repeat,
    /// Before those whose answers are kept: do nothing. Its sender has the
    /// answer.
    Stale,
    /// Neither the last nor the next one, or the next one although the last
    /// has no answer yet: the sender is wrong.
    Gap,
    /// Of an earlier start of this trainer: it must not do anything any more.
    Fenced,
    /// The sender, in this incarnation, has not joined.
    Unknown,
  };

  /// Answers and notes of that many of a sender's last requests are stored, at
  /// least of one. One is enough for a sender that goes on where it was; a new
  /// start of a trainer may go back as far as answers are kept.
  /// `keptOfProcess`: the same of worker 0, if more.
  explicit ReplayGuard(size_t keptAnswers = 1, size_t keptOfProcess = 0)
      : kept(std::max<size_t>(keptAnswers, 1)),
        keptOfProcess(std::max(kept, keptOfProcess)) {}

  /// Lets an incarnation in and fences earlier ones; joining again is
  /// harmless. Returns the sequence that comes next: a trainer that started
  /// anew goes on from there. An error where a later incarnation has joined.
  Expected<uint64_t> join(const Envelope &request);
  /// What `admit` would say; changes nothing.
  Verdict look(const Envelope &request) const;
  /// The note of a new request is stored with it.
  Verdict admit(const Envelope &request, const Message &note = {});
  /// The answer to the sender's last request; ignored where `request` is not
  /// that one, or has an answer.
  void answered(const Envelope &request, Message payload,
                MessageKind kind = MessageKind::Answer);
  /// Valid after the verdict Repeat, for that request.
  const StoredAnswer &answerTo(const Envelope &request) const;
  /// Whether any worker of that trainer, in any incarnation, has sent a
  /// request.
  bool hasRequestsOf(uint32_t trainer) const;
  /// What the sender left with its last requests, the oldest first.
  std::vector<NumberedNote> notesOf(const Envelope &request) const;

private:
  struct Request {
    Message note;
    std::optional<StoredAnswer> answer;
  };
  struct Sender {
    uint64_t incarnation = 0;
    uint64_t lastSequence = 0;
    /// Up to `lastSequence`, the newest last.
    std::deque<Request> requests;

    bool isAnswered() const {
      return requests.empty() || requests.back().answer;
    }
    uint64_t firstSequence() const {
      return lastSequence + 1 - requests.size();
    }
  };
  static std::pair<uint32_t, uint32_t> nameOf(const Envelope &request) {
    return {request.trainer, request.worker};
  }
  size_t kept, keptOfProcess;
  std::map<std::pair<uint32_t, uint32_t>, Sender> senders;
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_REPLAYGUARD_H
