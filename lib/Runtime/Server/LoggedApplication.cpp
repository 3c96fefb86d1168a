//===- LoggedApplication.cpp - Logs the requests of a server --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/LoggedApplication.h"

using namespace pdlrt;

Expected<Message> LoggedApplication::join(const Envelope &request,
                                          const Message &payload) {
  Expected<Message> response = PassingApplication::join(request, payload);
  if (!response || knowsWorkers)
    return response;
  // The response contains the server's handshake, which has the number of
  // workers after the first join.
  const Expected<Handshake> own = decodeHandshake(*response);
  if (own && own->workers > 0) {
    log.appendWorkers(own->workers);
    knowsWorkers = true;
  }
  return response;
}

Status LoggedApplication::take(const Envelope &request, Message payload,
                               Turn turn) {
  // This copy shares the bytes of `payload`.
  const Message kept = payload;
  PDLRT_RETURN_IF_ERROR(
      PassingApplication::take(request, std::move(payload), turn));
  // Sums do not change the state.
  if (request.kind != MessageKind::Reduce)
    log.append(request, kept, turn);
  return {};
}

Status LoggedApplication::closeRound(MessageKind kind) {
  PDLRT_RETURN_IF_ERROR(PassingApplication::closeRound(kind));
  if (kind != MessageKind::Reduce)
    log.appendClosed();
  return {};
}

Expected<std::vector<Message>>
LoggedApplication::respond(std::span<const Envelope> requests) {
  Expected<std::vector<Message>> responses =
      PassingApplication::respond(requests);
  if (responses && requests.front().kind != MessageKind::Reduce)
    log.appendResponded(requests);
  return responses;
}
