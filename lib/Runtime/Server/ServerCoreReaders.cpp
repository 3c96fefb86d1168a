//===- ServerCoreReaders.cpp - Who reads and is not of the job ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers are in no roster: nothing is kept of them but what they asked for
// last, and nothing that they do, or that goes wrong with it, is an event of
// the job. Their requests stand in a queue of their own, of which the executor
// has one at a time: a request of a trainer waits for one of them at most.
//
//===----------------------------------------------------------------------===//

#include "Server/ServerCoreState.h"
#include "pdlrt/Protocol/LifeSign.h"
#include "pdlrt/Protocol/ReadCodec.h"

#include <exception>
#include <new>
#include <utility>

using namespace pdlrt;

/// Readers that wait; more are told to come again.
static constexpr size_t mostReaders = 64;

/// As of the screen, which whoever calls `handle` may have left out.
std::string ServerCore::State::readerFault(const Envelope &head,
                                           uint64_t size) const {
  const uint64_t largest =
      head.kind == MessageKind::Visit ? largestVisit : largestRead;
  if (size > largest)
    return std::string("a ") + nameOf(head.kind) + " has " +
           std::to_string(size) + " bytes, more than the " +
           std::to_string(largest) + " that one may have; ask for fewer rows";
  if (job.state == JobState::Failed)
    return job.sentence;
  if (job.state == JobState::Finished)
    return "the job is finished";
  return {};
}

std::optional<Message> ServerCore::State::screenReader(Envelope head,
                                                       uint64_t size) const {
  const auto response = [&](MessageKind kind, const Message &payload) {
    head.kind = kind;
    return joinFrame(head, payload);
  };
  const auto sign = [&](const std::string &sentence) {
    return encodeLifeSign(
        {isStopping(), sentence, ProcessIdentity::ofThisProcess()});
  };
  const bool knowsTheJob = head.incarnation == options.jobId;
  const MessageKind asked = head.kind;
  head.sequence = 0;
  const std::lock_guard lock(mutex);
  if (const std::string fault = readerFault(head, size); !fault.empty())
    return response(MessageKind::Refusal, Message::ofString(fault));
  if (asked == MessageKind::Read && !knowsTheJob) {
    head.sequence = sequenceOfStranger;
    return response(
        MessageKind::Refusal,
        Message::ofString("this server was started anew; connect again"));
  }
  if (!application)
    return response(MessageKind::Wait, sign(loading));
  if (readers.size() >= mostReaders)
    return response(MessageKind::Wait, sign("busy with other readers"));
  return std::nullopt;
}

void ServerCore::State::handleReader(const Envelope &head,
                                     const Message &request,
                                     Responder responder) {
  try {
    if (std::optional<Message> response = screenReader(head, request.size())) {
      responder.answer(std::move(*response));
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
      const std::lock_guard lock(mutex);
      if (closed)
        return;
      readers.push_back(
          {frame->head, std::move(frame->payload), std::move(responder)});
      if (std::exchange(servesReaders, true))
        return;
    }
    serveReaders();
  } catch (const std::bad_alloc &) {
    // Who asked hears that its call has ended, and the job goes on.
  }
}

/// Lets the executor serve the one that came first, behind all that it has.
void ServerCore::State::serveReaders() try {
  executor.run([self = shared_from_this()] {
    try {
      self->serveOneReader();
    } catch (const std::bad_alloc &) {
      // Its call has ended.
    }
    {
      const std::lock_guard lock(self->mutex);
      self->servesReaders = !self->closed && !self->readers.empty();
      if (!self->servesReaders)
        return;
    }
    self->serveReaders();
  });
} catch (const std::bad_alloc &) {
  // Their calls end, and who comes next finds nobody waiting. One by one, as a
  // queue to move them to would take memory.
  while (true) {
    Reader gone;
    const std::lock_guard lock(mutex);
    if (readers.empty()) {
      servesReaders = false;
      return;
    }
    gone = std::move(readers.front());
    readers.pop_front();
  }
}

void ServerCore::State::serveOneReader() {
  Outbox out;
  {
    const std::lock_guard applicationLock(applicationMutex);
    Reader reader;
    std::string fault;
    uint64_t newestStart = 0;
    {
      const std::lock_guard lock(mutex);
      if (closed || readers.empty())
        return;
      reader = std::move(readers.front());
      readers.pop_front();
      fault = readerFault(reader.head, 0);
      newestStart = roster.newestIncarnation();
    }
    Envelope head = reader.head;
    head.sequence = 0;
    Expected<Message> payload = Status::internal("");
    try {
      payload = !fault.empty() ? Expected<Message>(Status::invalid(fault))
                : head.kind == MessageKind::Visit
                    ? application->answerVisit(reader.payload)
                    : application->answerRead(reader.payload);
    } catch (const std::bad_alloc &) {
      payload = Status::outOfMemory("this server has no memory for that read; "
                                    "ask for fewer rows");
    }
    if (payload) {
      if (head.kind == MessageKind::Visit) {
        head.incarnation = options.jobId;
        // Tells whether servers have the same trainers.
        head.sequence = newestStart;
      }
      out.add(std::move(reader.responder), head, MessageKind::Answer, *payload);
    } else {
      out.refuse(std::move(reader.responder), head, payload.status().message());
    }
  }
  out.send();
}
