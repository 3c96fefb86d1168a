//===- LoggedApplication.cpp - A server that keeps a log ------------------===//
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
  Expected<Message> answer = PassingApplication::join(request, payload);
  if (!answer || knowsWorkers)
    return answer;
  // The answer is the server's own handshake.
  const Expected<Handshake> own = decodeHandshake(*answer);
  if (own && own->workers > 0) {
    log.appendWorkers(own->workers);
    knowsWorkers = true;
  }
  return answer;
}

Status LoggedApplication::take(const Envelope &request, Message payload,
                               Turn turn) {
  // Shares the bytes.
  const Message kept = payload;
  PDLRT_RETURN_IF_ERROR(
      PassingApplication::take(request, std::move(payload), turn));
  // Sums change nothing.
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
LoggedApplication::answer(std::span<const Envelope> requests) {
  Expected<std::vector<Message>> answers = PassingApplication::answer(requests);
  if (answers && requests.front().kind != MessageKind::Reduce)
    log.appendAnswered(requests);
  return answers;
}
