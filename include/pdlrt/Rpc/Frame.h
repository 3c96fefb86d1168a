//===- Frame.h - Head and payload as one message ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_RPC_FRAME_H
#define PDLRT_RPC_FRAME_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Rpc/Envelope.h"
#include "pdlrt/Rpc/Message.h"

namespace pdlrt {

/// A request or response, taken apart.
struct Frame {
  Envelope head;
  /// Shares the message's bytes.
  Message payload;
};

/// A message of a head, which it owns, and the payload's slices.
Message joinFrame(const Envelope &head, const Message &payload);

/// Takes a message apart, wherever its slices end; an error where it does not
/// start with a head. Any bytes are safe.
Expected<Frame> splitFrame(const Message &message);

} // namespace pdlrt

#endif // PDLRT_RPC_FRAME_H
