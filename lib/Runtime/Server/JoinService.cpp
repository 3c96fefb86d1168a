//===- JoinService.cpp - Greets and joins of trainers ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/JoinService.h"

#include "pdlrt/Protocol/JoinResponse.h"
#include "pdlrt/Protocol/ReplayGuard.h"

#include <string>
#include <utility>

using namespace pdlrt;

/// Maximum number of queued joins. Without a limit, unknown processes could
/// queue any number of them while the application is busy.
static constexpr size_t maxOpenJoins = 1024;

void JoinService::handle(const Frame &frame, Responder responder, Outbox &out) {
  const Envelope &head = frame.head;
  const auto start = decodeStartSign(frame.note);
  if (!start) {
    out.refuse(std::move(responder), head, start.status().message());
    return;
  }
  if (!enqueues(head, *start, responder, out))
    return;
  core.enqueue(head, [this, frame, start = *start,
                      responder = std::move(responder)](Outbox &box) mutable {
    join(frame, start, std::move(responder), box);
  });
}

/// Returns true if the request must be queued. Otherwise the sender has got a
/// response: a refusal if the job has ended, otherwise the reason to wait. A
/// closed core does not respond.
bool JoinService::enqueues(const Envelope &head, const StartSign &start,
                           Responder &responder, Outbox &out) {
  const MutexLock lock(core.mutex);
  if (core.closed)
    return false;
  Roster &roster = core.liveness.roster();
  roster.asks(head.trainer, start.process);
  if (const Status fault = core.job.endFault(); !fault.ok()) {
    roster.noteNotified(head.trainer);
    out.refuse(std::move(responder), head, fault);
    return false;
  }
  std::string wait;
  if (!core.job.isOpen())
    wait = core.job.progress();
  else if (core.job.pendingLoss())
    wait = "the job ends, and servers save its state";
  else if (core.job.isStopping() && !roster.hasJoined(head.trainer))
    wait = "told to stop";
  else if (openJoins.size() >= maxOpenJoins + core.options.trainers ||
           !openJoins.insert(openJoinOf(head, start)).second)
    wait = "busy with another request";
  else
    return true;
  core.respondWait(head, std::move(wait), std::move(responder), out);
  return false;
}

void JoinService::join(const Frame &frame, const StartSign &start,
                       Responder responder, Outbox &out) {
  const Envelope &head = frame.head;
  const MutexLock applicationLock(core.applicationMutex);
  {
    const MutexLock lock(core.mutex);
    openJoins.erase(openJoinOf(head, start));
    if (core.closed)
      return;
  }
  const auto reply = head.kind == MessageKind::Greet
                         ? core.application->greet(head, frame.payload)
                         : core.application->join(head, frame.payload);
  if (reply) {
    admit(frame, start, *reply, std::move(responder), out);
    return;
  }
  out.refuse(std::move(responder), head, reply.status());
  noteRefusal(frame, reply.status(), out);
}

/// Records that a process was refused, if it belongs or may belong to this job,
/// so that other trainers do not wait for it in vain. Does nothing if a trainer
/// of this rank has joined.
void JoinService::noteRefusal(const Frame &frame, const Status &why,
                              Outbox &out) {
  const uint32_t rank = frame.head.trainer;
  const MutexLock lock(core.mutex);
  Liveness &liveness = core.liveness;
  if (liveness.roster().hasJoined(rank))
    return;
  if (core.application->isOfJob(frame.payload))
    liveness.refuse(rank, why, out);
  else if (core.application->mayBeOfJob(frame.payload))
    liveness.roster().refusedForeign(rank, why.message());
}

/// Returns true if a process, which the application accepts, may take its rank.
/// Otherwise the process has got a response.
bool JoinService::isAdmissible(const Envelope &head, const StartSign &start,
                               Responder &responder, Outbox &out) {
  // The job may have ended meanwhile.
  if (const Status fault = core.job.endFault(); !fault.ok()) {
    out.refuse(std::move(responder), head, fault);
    return false;
  }
  Roster &roster = core.liveness.roster();
  JoinVerdict verdict = roster.judge(head, start);
  if (verdict.what == JoinVerdict::What::NotYet) {
    core.respondWait(head, std::move(verdict.message), std::move(responder),
                     out);
    return false;
  }
  if (verdict.what == JoinVerdict::What::Refused) {
    Envelope response = head;
    response.sequence = verdict.isTaken ? sequenceOfTaken : 0;
    out.refuse(std::move(responder), response, verdict.message);
    return false;
  }
  // If the mode or a flag does not permit restarts, the job fails. A restarted
  // process greets all servers, so all of them fail the job.
  if (roster.isAnother(head, start) &&
      !(head.kind == MessageKind::Greet && roster.isDone(head.trainer)) &&
      core.liveness.failsByRestart(head.trainer, out)) {
    out.refuse(std::move(responder), head, core.job.endFault());
    return false;
  }
  return true;
}

/// Responds with `reply` to a Greet or a Join that the application accepts, and
/// records it.
void JoinService::admit(const Frame &frame, const StartSign &start,
                        const Message &reply, Responder responder,
                        Outbox &out) {
  const Envelope &head = frame.head;
  const MutexLock lock(core.mutex);
  if (!isAdmissible(head, start, responder, out))
    return;
  Roster &roster = core.liveness.roster();
  Envelope response = head;
  if (head.kind == MessageKind::Greet) {
    roster.greeted(head.trainer);
    response.sequence = roster.nextIncarnation(head.trainer);
    out.add(std::move(responder), response, MessageKind::Response, reply,
            encodeJoinResponse({ProcessIdentity::ofThisProcess(),
                                core.options.jobId,
                                roster.isDone(head.trainer),
                                {}}));
    return;
  }
  const auto next = core.admission.join(head);
  if (!next) {
    out.refuse(std::move(responder), head, next.status().message());
    return;
  }
  // If this process replaces a previous incarnation, drops the pending
  // responses to it, because no sender waits for them.
  if (roster.join(head, start))
    core.admission.replace(head.trainer, roster, out);
  roster.heard(head.trainer);
  response.sequence = *next;
  out.add(
      std::move(responder), response, MessageKind::Response, reply,
      encodeJoinResponse({ProcessIdentity::ofThisProcess(), core.options.jobId,
                          /*previousIncarnationIsDone=*/false,
                          core.admission.notesOf(head)}));
}
