//===- ReplayGuard.h - Deduplication of retried requests --------*- C++ -*-===//
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

/// Progress of a sender at one time.
struct SenderMark {
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// Sequence number of its last request that has a response; 0: none.
  uint64_t answered = 0;
  /// Sequence number of its last received request.
  uint64_t received = 0;
  /// Notes that were attached to its last requests, oldest first.
  std::vector<NumberedNote> notes;
};

/// Detects retried and duplicated requests, so that each request is applied
/// once. A sender is a (trainer, worker). For each sender that has joined,
/// stores its incarnation, its last sequence number, and the responses and
/// notes of its last requests. Not thread-safe.
class ReplayGuard {
public:
  /// Stored response without its head, to be sent again.
  struct StoredResponse {
    MessageKind kind = MessageKind::Response;
    Message payload;
  };

  enum class Verdict {
    /// The request is new, and is now the sender's last request. Handle it,
    /// then call `answered`.
    Fresh,
    /// The request is the sender's last one and is still being handled. Its
    /// copy gets the same response later.
    Pending,
    /// The request was answered and its response is stored. Send `responseTo`
    /// again, and do nothing else.
    Repeat,
    /// The request is older than the stored responses. Do nothing; the sender
    /// has got the response.
    Stale,
    /// Error of the sender: the sequence number is not the last or the next
    /// one, or it is the next one although the last request has no response
    /// yet.
    Gap,
    /// The request is from a previous incarnation of the trainer, which must
    /// not change anything any more. Reject it.
    Fenced,
    /// This incarnation of the sender has not joined. Reject the request.
    Unknown,
  };

  /// `keptResponses` is the number of last requests of each sender whose
  /// responses and notes are stored; at least 1. One is enough for a sender
  /// that never restarts. A restarted trainer can only repeat requests whose
  /// responses are stored. `keptOfProcess` is the number for worker 0, if it is
  /// larger.
  explicit ReplayGuard(size_t keptResponses = 1, size_t keptOfProcess = 0)
      : kept(std::max<size_t>(keptResponses, 1)),
        keptOfProcess(std::max(kept, keptOfProcess)) {}

  /// Admits the incarnation of a sender, and rejects requests of its earlier
  /// incarnations from now on. Joining again has no effect. Returns the next
  /// sequence number, with which a restarted trainer continues. Returns an
  /// error if a later incarnation has joined.
  Expected<uint64_t> join(const Envelope &request);
  /// Returns the verdict that `admit` would return, without a change.
  Verdict look(const Envelope &request) const;
  /// Classifies a request. If it is new, stores it with `note` as the sender's
  /// last request.
  Verdict admit(const Envelope &request, const Message &note = {});
  /// Stores the response to `request`. Does nothing if `request` is not the
  /// sender's last request, or already has a response.
  void answered(const Envelope &request, Message payload,
                MessageKind kind = MessageKind::Response);
  /// Returns the stored response to `request`. Call only after the verdict
  /// Repeat for the same request.
  const StoredResponse &responseTo(const Envelope &request) const;
  /// Returns true if any worker of trainer `trainer`, in any incarnation, has
  /// sent a request.
  bool hasRequestsOf(uint32_t trainer) const;
  /// Returns the notes of the sender's last requests, oldest first.
  std::vector<NumberedNote> notesOf(const Envelope &request) const;
  /// Returns the progress of all joined senders, by trainer and worker.
  std::vector<SenderMark> marks() const;

private:
  struct Request {
    Message note;
    std::optional<StoredResponse> response;
  };
  struct Sender {
    uint64_t incarnation = 0;
    uint64_t lastSequence = 0;
    /// The last requests, up to sequence number `lastSequence`. The newest is
    /// the last element.
    std::deque<Request> requests;

    bool isRespondedTo() const {
      return requests.empty() || requests.back().response;
    }
    uint64_t firstSequence() const {
      return lastSequence + 1 - requests.size();
    }
  };
  static std::vector<NumberedNote> notesOf(const Sender &sender);
  static std::pair<uint32_t, uint32_t> nameOf(const Envelope &request) {
    return {request.trainer, request.worker};
  }
  size_t kept, keptOfProcess;
  std::map<std::pair<uint32_t, uint32_t>, Sender> senders;
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_REPLAYGUARD_H
