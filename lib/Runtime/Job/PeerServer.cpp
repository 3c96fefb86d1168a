//===- PeerServer.cpp - Requests between servers --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/PeerServer.h"

#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/FailureCode.h"
#include "pdlrt/Transport/Frame.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

using namespace pdlrt;

/// Deadline of one attempt. A server handles a request quickly.
static constexpr ClockTime attempt = std::chrono::seconds(5);
static constexpr std::chrono::milliseconds pauseBetween(100);

PeerServer::PeerServer(Transport &transport, std::string address,
                       int32_t sender)
    : transport(transport), address(std::move(address)), sender(sender) {}

Expected<Message> PeerServer::ask(const Message &payload, ClockTime patience,
                                  bool *wasRefused) {
  if (wasRefused)
    *wasRefused = false;
  Envelope head;
  head.kind = MessageKind::Peer;
  head.trainer = uint32_t(sender);
  const ClockTime end = transport.clock().now() + patience;
  while (true) {
    if (!connection) {
      auto connected = transport.connect(address);
      if (!connected)
        return connected.status();
      connection = std::move(*connected);
    }
    const auto result = std::make_shared<std::promise<CallResult>>();
    connection->call(
        joinFrame(head, payload),
        std::min(end, transport.clock().now() + attempt),
        [result](CallResult ended) { result->set_value(std::move(ended)); });
    const CallResult ended = result->get_future().get();
    if (ended.outcome == CallOutcome::Responded) {
      Expected<Frame> frame = splitFrame(ended.response);
      if (!frame)
        return frame.status();
      if (frame->head.kind == MessageKind::Response)
        return std::move(frame->payload);
      if (wasRefused)
        *wasRefused = true;
      return failureOf(*frame);
    }
    // If bytes of a connection were damaged, it may never respond again, so
    // replace it.
    if (ended.outcome == CallOutcome::DeadlineExceeded)
      connection.reset();
    if (transport.clock().now() >= end)
      return Status::unavailable("the server at " + address +
                                 " does not respond");
    std::this_thread::sleep_for(pauseBetween);
  }
}
