//===- ServerQueues.h - Requests that are not waited for --------*- C++ -*-===//
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

/// A queue of requests for each server of a job: its first one is on its way,
/// and the next one leaves when that is answered. So each server gets all
/// requests in order, and a slow one holds up its own alone, until its queue is
/// full. The group is a sender of its own, of which nothing else sends. One
/// thread at a time.
class ServerQueues {
public:
  /// What a server answered.
  struct Answer {
    size_t server;
    Message payload;
  };

  /// `group` outlives the queues, and has joined. A queue holds `bound`
  /// requests at most, at least one, with the one on its way.
  ServerQueues(ServerGroup &group, size_t bound);
  ~ServerQueues();
  ServerQueues(const ServerQueues &) = delete;
  ServerQueues &operator=(const ServerQueues &) = delete;

  /// Puts one request into each queue, none of which is full. Slices have
  /// owners.
  void add(MessageKind kind, std::vector<Message> payloads);
  /// Some queue has no room.
  bool isFull() const;
  /// Some queue is empty: that server has nothing to do for this sender.
  bool hasIdleServer() const;
  /// All queues are empty.
  bool isEmpty() const;
  /// Blocks until no queue is full, or all are empty. The first error of any
  /// server, or why it waits no longer; then only the group's `leaveAll` may
  /// follow.
  Status waitForRoom();
  Status waitUntilEmpty();
  /// The first error so far.
  Status failure() const;
  /// What has been answered since the last call.
  std::vector<Answer> takeAnswers();
  /// Seconds so far in which some request was on its way or waited, up to the
  /// last answer.
  double busySeconds() const;

private:
  class State;
  Status waitUntil(const std::function<bool()> &isReached,
                   const ServerGroup::HasEnded &hasEnded);

  ServerGroup &group;
  /// Answers may come behind the end of this object.
  std::shared_ptr<State> state;
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERQUEUES_H
