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
/// queue is in flight; the next is sent when its response has arrived. So each
/// server gets all requests in order, and a slow server delays only its own
/// queue until that is full. The group must not be used for other requests
/// meanwhile. Only one thread may use this object at a time.
class ServerQueues {
public:
  /// Response of a server.
  struct Response {
    size_t server;
    Message payload;
  };

  /// `group` must have joined and must outlive the queues. `bound` is the
  /// maximum number of requests in a queue, including the one in flight; at
  /// least one.
  ServerQueues(ServerGroup &group, size_t bound);
  ~ServerQueues();
  ServerQueues(const ServerQueues &) = delete;
  ServerQueues &operator=(const ServerQueues &) = delete;

  /// Adds one request to each queue. No queue may be full. Slices must have
  /// owners.
  void add(MessageKind kind, std::vector<Message> payloads);
  /// Returns true if some queue is full.
  bool isFull() const;
  /// Returns true if some queue is empty, so that its server has no work from
  /// this sender.
  bool hasIdleServer() const;
  /// Returns true if all queues are empty.
  bool isEmpty() const;
  /// Block until no queue is full, or until all queues are empty. Return the
  /// first error of a server, or the reason to stop waiting. After an error,
  /// only the group's `leaveAll` may follow.
  Status waitForRoom();
  Status waitUntilEmpty();
  /// Returns the first error so far.
  Status failure() const;
  /// Returns the responses that arrived since the last call.
  std::vector<Response> takeResponses();
  /// Returns the number of seconds in which some request was queued or in
  /// flight, up to the last response.
  double busySeconds() const;

private:
  class State;
  Status waitUntil(const std::function<bool()> &isReached,
                   const ServerGroup::HasEnded &hasEnded);

  ServerGroup &group;
  /// Shared, because responses may arrive after the destruction of this object.
  std::shared_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERQUEUES_H
