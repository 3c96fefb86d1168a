//===- PeerServer.h - Requests between servers ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_PEERSERVER_H
#define LIB_RUNTIME_JOB_PEERSERVER_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Message.h"
#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <memory>
#include <string>

namespace pdlrt {

/// Connection from the server `sender` to another server of the job. Only one
/// thread may use it.
class PeerServer {
public:
  /// The transport must outlive this object.
  PeerServer(Transport &transport, std::string address, int32_t sender);

  /// Sends a request of kind Peer and waits for the response. If none arrives,
  /// repeats the request for `patience`. If `wasRefused` is not null, sets it
  /// to whether that server refused the request.
  Expected<Message> ask(const Message &payload, ClockTime patience,
                        bool *wasRefused = nullptr);

private:
  Transport &transport;
  const std::string address;
  const int32_t sender;
  std::unique_ptr<Connection> connection;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_PEERSERVER_H
