//===- PeerService.cpp - Requests of other servers of the job -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/PeerService.h"

#include <exception>
#include <new>
#include <utility>

using namespace pdlrt;

/// Maximum size, in bytes, of a request of another server. It has the path of a
/// folder and the progress of all senders.
static constexpr uint64_t maxPeerRequestBytes = uint64_t(1) << 20;

void PeerService::setHandler(ServerCore::PeerHandler to) {
  const MutexLock lock(core.mutex);
  handler = std::move(to);
}

std::string PeerService::fault(uint64_t size) const {
  if (size > maxPeerRequestBytes)
    return "a request of a server has " + std::to_string(size) +
           " bytes, more than the " + std::to_string(maxPeerRequestBytes) +
           " that one may have";
  const MutexLock lock(core.mutex);
  return handler ? "" : "this process takes no requests of servers";
}

void PeerService::handle(const Message &request, Responder responder) {
  Outbox out;
  try {
    const Expected<Frame> frame = splitFrame(request);
    if (!frame) {
      out.refuse(std::move(responder), {}, frame.status().message());
    } else if (const std::string why = fault(request.size()); !why.empty()) {
      out.refuse(std::move(responder), frame->head, why);
    } else {
      ServerCore::PeerHandler handle;
      {
        const MutexLock lock(core.mutex);
        handle = handler;
      }
      const Expected<Message> response = handle(frame->payload);
      if (response)
        out.add(std::move(responder), frame->head, MessageKind::Response,
                *response);
      else
        out.refuse(std::move(responder), frame->head, response.status());
    }
    out.send();
  } catch (const std::bad_alloc &) {
    // The sender learns that its call has ended, and repeats the request.
    responder = Responder();
  }
}

namespace {

/// Calls `ended` once with the result of a task between requests. If the task
/// is dropped, the destructor calls it with an error.
class PendingEnd {
public:
  explicit PendingEnd(ServerCore::BetweenEnd ended) : ended(std::move(ended)) {}
  ~PendingEnd() { report(std::move(dropped)); }
  PendingEnd(const PendingEnd &) = delete;
  PendingEnd &operator=(const PendingEnd &) = delete;

  void report(Status status) {
    if (ended)
      std::exchange(ended, nullptr)(std::move(status));
  }
  void reportNoMemory() { report(std::move(noMemory)); }

private:
  // Constructed now, because there may be no memory later.
  Status dropped = Status::unavailable("the server ends");
  Status noMemory = Status::outOfMemory(
      "a server is out of memory for work without trainers");
  ServerCore::BetweenEnd ended;
};

} // namespace

void PeerService::betweenRequests(ServerCore::BetweenTask task,
                                  ServerCore::BetweenEnd ended) {
  const auto pending = std::make_shared<PendingEnd>(std::move(ended));
  core.executor.run([this,
                     handling = std::make_shared<ProtocolState::Handling>(
                         core.shared_from_this()),
                     task = std::move(task), pending] {
    try {
      Outbox out;
      Status status = rounds.runBetween(task, out);
      out.send();
      pending->report(std::move(status));
    } catch (const std::bad_alloc &) {
      pending->reportNoMemory();
    } catch (const std::exception &exception) {
      pending->report(Status::internal(exception.what()));
    }
  });
}
