//===- ServerGroup.h - Sessions to all servers of a job ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_RPC_SERVERGROUP_H
#define PDLRT_RPC_SERVERGROUP_H

#include "pdlrt/Rpc/ServerSession.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

struct ServerGroupOptions {
  RetryOptions retry;
  /// Asked about ten times a second while a call waits; true ends the call with
  /// an error. May be empty.
  std::function<bool()> shouldStop;
  /// Gets a line for the user, such as "server a:1: waiting for trainer 1 to
  /// join (5 s)", each time a call has waited for another `reportInterval`. May
  /// be empty.
  std::function<void(const std::string &line)> report;
  std::chrono::milliseconds reportInterval{5000};
  /// After one server's error, others are waited for that long.
  std::chrono::milliseconds errorPatience{1000};
  /// Whether a start of a trainer goes on where an earlier one ended; without,
  /// joining servers that know an earlier start is an error.
  bool mayContinue = false;
};

/// Sessions to all servers of a job, for a thread that waits. Needs a transport
/// whose clock runs by itself. One thread at a time. Slices of payloads without
/// an owner must stay until the call has ended, and after an error until the
/// group has.
class ServerGroup {
public:
  /// An error where an address is malformed. `transport` outlives the group.
  static Expected<std::unique_ptr<ServerGroup>>
  connect(Transport &transport, const std::vector<std::string> &addresses,
          const SenderName &sender, const ServerGroupOptions &options);
  ~ServerGroup();
  ServerGroup(const ServerGroup &) = delete;
  ServerGroup &operator=(const ServerGroup &) = delete;

  size_t size() const { return sessions.size(); }
  ServerSession &session(size_t server) { return *sessions[server]; }

  /// Joins all servers, with one handshake each. Returns their answers by
  /// server, or the error of the first server that has one. Before all else.
  Expected<std::vector<Message>> joinAll(std::vector<Message> handshakes);

  /// Sends one request to each server at once and waits for all answers. An
  /// error, or a stop, ends the group: only `leaveAll` may follow.
  Expected<std::vector<Message>> sendAll(MessageKind kind,
                                         std::vector<Message> payloads);

  /// Tells the servers that were joined that this trainer is done (an empty
  /// sentence) or why it failed, and waits for their answers, `limit` at most.
  /// Without a failure, servers that did not answer until then are reported.
  void leaveAll(const std::string &sentence,
                std::chrono::milliseconds limit = std::chrono::seconds(2));

private:
  class Wave;
  explicit ServerGroup(const ServerGroupOptions &given) : options(given) {}
  Expected<std::vector<Message>> waitFor(Wave &wave);
  std::string waitingLine(Wave &wave) const;

  const ServerGroupOptions options;
  std::vector<std::unique_ptr<ServerSession>> sessions;
  std::vector<bool> joined;
};

} // namespace pdlrt

#endif // PDLRT_RPC_SERVERGROUP_H
