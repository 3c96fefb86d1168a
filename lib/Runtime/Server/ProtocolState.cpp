//===- ProtocolState.cpp - What the parts of a server share ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/ProtocolState.h"

#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Protocol/Heartbeat.h"

#include <utility>

using namespace pdlrt;

ProtocolState::~ProtocolState() = default;

static std::string workOn(const Envelope &head) {
  return "worked on the " + std::string(nameOf(head.kind)) + " of " +
         trainerName(head.trainer);
}

ProtocolState::Handling::Handling(std::shared_ptr<ProtocolState> of)
    : state(std::move(of)) {
  ProtocolState &core = *state;
  const MutexLock lock(core.mutex);
  ++core.handlers;
}

ProtocolState::Handling::~Handling() {
  ProtocolState &core = *state;
  const MutexLock lock(core.mutex);
  if (--core.handlers == 0 && !core.job.isRunning())
    core.changed.notify_all();
}

void ProtocolState::enqueue(const Envelope &head,
                            std::function<void(Outbox &out)> task) {
  executor.run([handling = std::make_shared<Handling>(shared_from_this()), head,
                task = std::move(task)] {
    Outbox out;
    try {
      task(out);
    } catch (const std::bad_alloc &error) {
      handling->state->failFor(error, workOn(head), out);
    }
    out.send();
  });
}

void ProtocolState::failFor(const std::bad_alloc &error, const std::string &did,
                            Outbox &out) {
  const MutexLock lock(mutex);
  job.fail(
      Status::outOfMemory("a server is " + describeOutOfMemory(error, did) +
                          "; use more servers, or machines with more memory"),
      out);
}

Message ProtocolState::heartbeat(std::string why) const {
  return encodeHeartbeat(
      {job.isStopping(), std::move(why), ProcessIdentity::ofThisProcess()});
}

void ProtocolState::respondWait(const Envelope &head, std::string why,
                                Responder responder, Outbox &out) {
  out.add(std::move(responder), head, MessageKind::Wait,
          heartbeat(std::move(why)));
}
