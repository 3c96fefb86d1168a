//===- ServerQueues.h - Asynchronous requests to all servers ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_SERVERQUEUES_H
#define PDLRT_PROTOCOL_SERVERQUEUES_H

#include "pdlrt/Protocol/ServerGroup.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace pdlrt {

/// Queues of requests, one for each server of a job. The first request of a
/// queue is in flight; the next one is sent when the response to the first has
/// arrived. So each server gets all requests in order. A slow server delays the
/// other servers only when its queue is full. Do not use `group` for other
/// requests during the lifetime of this object. Only one thread may use this
/// object at a time.
class ServerQueues {
public:
  /// Response of a server.
  struct Response {
    size_t server;
    Message payload;
  };

  /// `group` must have joined the servers, and must outlive the queues. `bound`
  /// is the maximum number of requests in a queue, including the one in flight;
  /// at least one.
  ServerQueues(ServerGroup &group, size_t bound);
  ~ServerQueues();
  ServerQueues(const ServerQueues &) = delete;
  ServerQueues &operator=(const ServerQueues &) = delete;

  /// Adds one request to each queue. No queue may be full. The memory of
  /// payloads must have owners.
  void add(MessageKind kind, std::vector<Message> payloads);
  /// Returns true if some queue is full.
  bool isFull() const;
  /// Returns true if some queue is empty, so that its server has no work from
  /// this sender.
  bool hasIdleServer() const;
  /// Returns true if all queues are empty.
  bool isEmpty() const;
  /// `waitForRoom` blocks until no queue is full, and `waitUntilEmpty` until
  /// all queues are empty. They return the first error of a server, or an error
  /// if the wait was ended (`ServerGroup::lookAround`). After an error, only
  /// `ServerGroup::leaveAll` may be called.
  Status waitForRoom();
  Status waitUntilEmpty();
  /// Returns the first error so far, otherwise success.
  Status failure() const;
  /// Returns the responses that arrived since the last call.
  std::vector<Response> takeResponses();
  /// Returns the time for which some request was queued or in flight, in
  /// seconds, up to the last moment at which all queues became empty.
  double busySeconds() const;

private:
  class State;
  Status waitUntil(const std::function<bool()> &isReached,
                   const ServerGroup::HasEnded &hasEnded);

  ServerGroup &group;
  /// The queues. Shared with callbacks, because responses may arrive after the
  /// destruction of this object.
  std::shared_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERQUEUES_H
