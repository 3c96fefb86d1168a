//===- ReaderService.cpp - Requests of readers outside the job ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/ReaderService.h"

#include "pdlrt/Protocol/ReadCodec.h"

#include <new>
#include <utility>

using namespace pdlrt;

/// Maximum number of readers whose requests wait. Further readers must try
/// again later.
static constexpr size_t maxReaders = 64;

/// Returns the reason to refuse a request, or an empty text. Repeats the check
/// of `screen`, which the caller of `handle` may have skipped.
std::string ReaderService::fault(const Envelope &head, uint64_t size) const {
  const uint64_t largest =
      head.kind == MessageKind::Visit ? largestVisit : largestRead;
  if (size > largest)
    return std::string("a ") + nameOf(head.kind) + " has " +
           std::to_string(size) + " bytes, more than the " +
           std::to_string(largest) + " that one may have; ask for fewer rows";
  return core.job.endFault().message();
}

std::optional<Message> ReaderService::screen(Envelope head,
                                             uint64_t size) const {
  const auto response = [&](MessageKind kind, const Message &payload) {
    head.kind = kind;
    return joinFrame(head, payload);
  };
  const bool knowsTheJob = head.incarnation == core.options.jobId;
  const MessageKind asked = head.kind;
  head.sequence = 0;
  const MutexLock lock(core.mutex);
  if (const std::string why = fault(head, size); !why.empty())
    return response(MessageKind::Refusal, Message::ofString(why));
  if (asked == MessageKind::Read && !knowsTheJob) {
    head.sequence = sequenceOfStranger;
    return response(
        MessageKind::Refusal,
        Message::ofString("this server was started anew; connect again"));
  }
  if (!core.job.isOpen())
    return response(MessageKind::Wait, core.heartbeat(core.job.progress()));
  if (requests.size() >= maxReaders)
    return response(MessageKind::Wait,
                    core.heartbeat("busy with other readers"));
  return std::nullopt;
}

void ReaderService::handle(const Envelope &head, const Message &request,
                           Responder responder) {
  try {
    if (std::optional<Message> response = screen(head, request.size())) {
      responder.respond(std::move(*response));
      return;
    }
    Expected<Frame> frame = splitFrame(request);
    if (!frame) {
      Outbox out;
      out.refuse(std::move(responder), head, frame.status().message());
      out.send();
      return;
    }
    {
      const MutexLock lock(core.mutex);
      if (core.closed)
        return;
      requests.push_back(
          {frame->head, std::move(frame->payload), std::move(responder)});
      if (std::exchange(isServing, true))
        return;
    }
    serve();
  } catch (const std::bad_alloc &) {
    // The reader learns that its call has ended, and the job continues.
    responder = Responder();
  }
}

/// Schedules the request of the first waiting reader on the executor, after all
/// tasks that are queued there.
void ReaderService::serve() try {
  core.executor.run([this, alive = core.shared_from_this()] {
    try {
      serveOne();
    } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch)
      // The request was destroyed, so the reader's call has ended.
    }
    {
      const MutexLock lock(core.mutex);
      isServing = !core.closed && !requests.empty();
      if (!isServing)
        return;
    }
    serve();
  });
} catch (const std::bad_alloc &) {
  // Memory is exhausted: end the calls of all waiting readers. Remove them one
  // by one, because moving them to another queue would allocate memory.
  while (true) {
    Request gone;
    const MutexLock lock(core.mutex);
    if (requests.empty()) {
      isServing = false;
      return;
    }
    gone = std::move(requests.front());
    requests.pop_front();
  }
}

/// Returns the payload of a response, or the reason for a refusal.
Expected<Message> ReaderService::respondTo(const Request &request,
                                           const std::string &fault) {
  if (!fault.empty())
    return Status::failedPrecondition(fault);
  try {
    return request.head.kind == MessageKind::Visit
               ? core.application->respondToVisit(request.payload)
               : core.application->respondToRead(request.payload);
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory("this server has no memory for that read; "
                               "ask for fewer rows");
  }
}

void ReaderService::serveOne() {
  Outbox out;
  {
    const MutexLock applicationLock(core.applicationMutex);
    Request request;
    std::string why;
    uint64_t newestStart = 0;
    {
      const MutexLock lock(core.mutex);
      if (core.closed || requests.empty())
        return;
      request = std::move(requests.front());
      requests.pop_front();
      why = fault(request.head, 0);
      newestStart = core.liveness.roster().newestIncarnation();
    }
    Envelope head = request.head;
    head.sequence = 0;
    const Expected<Message> payload = respondTo(request, why);
    if (payload) {
      if (head.kind == MessageKind::Visit) {
        head.incarnation = core.options.jobId;
        // Tells the reader whether servers have the same trainers.
        head.sequence = newestStart;
      }
      out.add(std::move(request.responder), head, MessageKind::Response,
              *payload);
    } else {
      out.refuse(std::move(request.responder), head,
                 payload.status().message());
    }
  }
  out.send();
}

void ReaderService::close() {
  std::deque<Request> dropped;
  const MutexLock lock(core.mutex);
  dropped.swap(requests);
}
