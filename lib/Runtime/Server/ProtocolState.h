//===- ProtocolState.h - What the parts of a server share -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There are two mutexes. `mutex` guards the state of the protocol. It is locked
// only briefly, so that heartbeats, Leave messages and copies of requests are
// handled at any time. `applicationMutex` serializes calls of the application.
// If both are needed, `applicationMutex` is locked first. Neither is locked
// while a responder runs.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_PROTOCOLSTATE_H
#define LIB_RUNTIME_SERVER_PROTOCOLSTATE_H

#include "Server/Admission.h"
#include "Server/JobLife.h"
#include "Server/Liveness.h"
#include "Server/OpenRound.h"
#include "Server/Outbox.h"
#include "pdlrt/Core/Executor.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Server/ServerCore.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string>

namespace pdlrt {

/// State of the protocol on one server. Its members have no locks of their own;
/// the services that use them lock `mutex`.
class ProtocolState : public std::enable_shared_from_this<ProtocolState> {
public:
  ProtocolState(const ServerCoreOptions &given, Clock &clock,
                Executor &executor)
      : options(given), clock(clock), executor(executor), admission(options),
        rounds(options.trainers), job(options, this->clock, admission, changed),
        liveness(options, this->clock, job, admission, rounds) {}
  virtual ~ProtocolState();

  /// Runs `task`, which handles a request, on the executor. Sends its responses
  /// afterwards. Keeps this object alive until then. Must be called without a
  /// lock.
  void enqueue(const Envelope &head, std::function<void(Outbox &out)> task);
  /// Fails the job because memory was exhausted. `did`: what this process did
  /// then, for the message. Must be called without `mutex`.
  void failFor(const std::bad_alloc &error, const std::string &did,
               Outbox &out);
  /// Responds to a request of a joined sender, unless the job has failed.
  void respond(const Envelope &head, MessageKind kind, const Message &payload,
               Outbox &out) PDLRT_REQUIRES(mutex) {
    if (!job.hasFailed())
      admission.respond(head, kind, payload, out);
  }
  /// Sends the response Wait: the request has arrived, but has no response yet.
  void respondWait(const Envelope &head, std::string why, Responder responder,
                   Outbox &out) PDLRT_REQUIRES(mutex);
  /// Returns the payload of a response to a heartbeat, or of a Wait.
  Message heartbeat(std::string why) const PDLRT_REQUIRES(mutex);

  /// Keeps the state alive while a request or a task is handled, until all its
  /// responses are sent or it is dropped.
  class Handling {
  public:
    explicit Handling(std::shared_ptr<ProtocolState> of);
    ~Handling();
    Handling(const Handling &) = delete;
    Handling &operator=(const Handling &) = delete;

    const std::shared_ptr<ProtocolState> state;
  };

  const ServerCoreOptions options;
  Clock &clock;
  Executor &executor;

  Mutex applicationMutex PDLRT_ACQUIRED_BEFORE(mutex);
  mutable Mutex mutex;
  /// Notified when the job ends, and when the last pending response is sent.
  mutable ConditionVariable changed;

  /// Null until `ServerCore::open`; then constant.
  ServerApplication *application PDLRT_GUARDED_BY(applicationMutex) = nullptr;
  /// True after the end of the core. From then on, no request is handled.
  bool closed PDLRT_GUARDED_BY(mutex) = false;
  /// Number of requests whose responses have not all been sent.
  size_t handlers PDLRT_GUARDED_BY(mutex) = 0;
  Admission admission PDLRT_GUARDED_BY(mutex);
  OpenRounds rounds PDLRT_GUARDED_BY(mutex);
  JobLife job PDLRT_GUARDED_BY(mutex);
  Liveness liveness PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_PROTOCOLSTATE_H
