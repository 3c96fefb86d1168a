//===- LoggedApplication.cpp - A server that keeps a log ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/LoggedApplication.h"

using namespace pdlrt;

Expected<Message> LoggedApplication::handle(const Envelope &request,
                                            Message payload) {
  // Shares the bytes.
  const Message kept = payload;
  Expected<Message> answer =
      PassingApplication::handle(request, std::move(payload));
  // Pulls and saves change nothing.
  if (answer && request.kind == MessageKind::Exchange)
    log.append(request, kept);
  return answer;
}
