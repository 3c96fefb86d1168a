//===- ServerApplication.cpp - Interface of protocol and state ------------===//
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
  return Status::failedPrecondition("this server takes no readers");
}

Expected<Message> ServerApplication::respondToVisit(const Message &) {
  return refuseReaders();
}

Expected<Message> ServerApplication::respondToRead(const Message &) {
  return refuseReaders();
}
