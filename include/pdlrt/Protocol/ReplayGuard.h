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

/// Progress of a sender at one moment.
struct SenderMark {
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// Number of its last answered request; 0: none.
  uint64_t answered = 0;
  /// Number of its last received request.
  uint64_t received = 0;
  /// Notes of its last requests, oldest first.
  std::vector<NumberedNote> notes;
};

/// Distinguishes new requests from retried and duplicated ones, so that each is
/// applied once. For each (trainer, worker) that has joined, it stores the
/// incarnation, the last sequence number, and the responses to its last
/// requests with their notes. Not thread-safe.
class ReplayGuard {
public:
  /// Stored response without its head, for repeated sending.
  struct StoredResponse {
    MessageKind kind = MessageKind::Response;
    Message payload;
  };

  enum class Verdict {
    /// New; it is now the sender's last request. Handle it, then call
    /// `answered`.
    Fresh,
    /// The sender's last request, still being handled: wait for its response.
    Pending,
    /// The response is stored: send `responseTo` again, and do nothing else.
    Repeat,
    /// Older than the stored responses. Do nothing; the sender has the
    /// response.
    Stale,
    /// Neither the last nor the next request, or the next one before the last
    /// has a response. This is an error of the sender.
    Gap,
    /// From a previous incarnation of this trainer, which must not change
    /// anything any more.
    Fenced,
    /// This incarnation of the sender has not joined.
    Unknown,
  };

  /// `keptResponses` is the number of last requests of a sender whose responses
  /// and notes are stored (minimum 1). One suffices for a sender that never
  /// restarts; a restarted trainer can go back only as far as responses are
  /// stored. `keptOfProcess` is the same number for worker 0, if larger.
  explicit ReplayGuard(size_t keptResponses = 1, size_t keptOfProcess = 0)
      : kept(std::max<size_t>(keptResponses, 1)),
        keptOfProcess(std::max(kept, keptOfProcess)) {}

  /// Admits an incarnation and fences earlier ones. Joining again is harmless.
  /// Returns the next sequence number, from which a restarted trainer
  /// continues. Returns an error if a later incarnation has joined.
  Expected<uint64_t> join(const Envelope &request);
  /// Returns the verdict of `admit`, without a change.
  Verdict look(const Envelope &request) const;
  /// Classifies a request. Stores `note` with a new request.
  Verdict admit(const Envelope &request, const Message &note = {});
  /// Stores the response to the sender's last request. Ignored if `request` is
  /// not that one, or already has a response.
  void answered(const Envelope &request, Message payload,
                MessageKind kind = MessageKind::Response);
  /// Returns the stored response. Call only after the verdict Repeat for that
  /// request.
  const StoredResponse &responseTo(const Envelope &request) const;
  /// Returns true if any worker of that trainer, in any incarnation, has sent a
  /// request.
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
    /// The last requests up to `lastSequence`, newest last.
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
