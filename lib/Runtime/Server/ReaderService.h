//===- ReaderService.h - Requests of readers outside the job ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers are not in the roster. The server stores only requests that wait, at
// most 64, and neither requests nor failures of readers affect the job. Their
// requests have a queue of their own, from which the executor takes one at a
// time. So a trainer's request waits for at most one request of a reader.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_READERSERVICE_H
#define LIB_RUNTIME_SERVER_READERSERVICE_H

#include "Server/Outbox.h"
#include "Server/ProtocolState.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace pdlrt {

/// Responds to Visit and Read requests of readers outside of the job.
/// Thread-safe.
class ReaderService {
public:
  /// `core` must outlive this object.
  explicit ReaderService(ProtocolState &core) : core(core) {}

  /// If the first part of a request suffices for a response, returns the
  /// response. Otherwise returns nothing.
  std::optional<Message> screen(Envelope head, uint64_t size) const;
  /// Handles a request. If it needs the application, it is handled on the
  /// executor.
  void handle(const Envelope &head, const Message &request,
              Responder responder);
  /// Drops the waiting requests. `core` is closed already.
  void close();

private:
  struct Request {
    Envelope head;
    Message payload;
    Responder responder;
  };
  std::string fault(const Envelope &head, uint64_t size) const
      PDLRT_REQUIRES(core.mutex);
  void serve();
  void serveOne();
  Expected<Message> respondTo(const Request &request, const std::string &fault)
      PDLRT_REQUIRES(core.applicationMutex);

  ProtocolState &core;
  std::deque<Request> requests PDLRT_GUARDED_BY(core.mutex);
  /// True if the executor has a task for the waiting requests.
  bool isServing PDLRT_GUARDED_BY(core.mutex) = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_READERSERVICE_H
