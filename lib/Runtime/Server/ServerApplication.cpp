//===- ServerApplication.cpp - What requests do to a server ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ServerApplication.h"

using namespace pdlrt;

ServerApplication::~ServerApplication() = default;

static Status refuseReaders() {
  return Status::invalid("this server takes no readers");
}

Expected<Message> ServerApplication::answerVisit(const Message &) {
  return refuseReaders();
}

Expected<Message> ServerApplication::answerRead(const Message &) {
  return refuseReaders();
}
