//===- Frame.cpp - Head and payload as one message ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Rpc/Frame.h"

#include <algorithm>

using namespace pdlrt;

Message pdlrt::joinFrame(const Envelope &head, const Message &payload) {
  std::string bytes;
  bytes.reserve(envelopeSize);
  encodeEnvelope(head, bytes);
  Message message = Message::ofString(std::move(bytes));
  for (const MessageSlice &slice : payload.slices())
    message.append(slice);
  return message;
}

Expected<Frame> pdlrt::splitFrame(const Message &message) {
  std::string bytes;
  bytes.reserve(envelopeSize);
  Frame frame;
  for (const MessageSlice &slice : message.slices()) {
    const size_t taken = std::min(envelopeSize - bytes.size(), slice.size);
    bytes.append(reinterpret_cast<const char *>(slice.data), taken);
    if (taken < slice.size)
      frame.payload.append(
          {slice.data + taken, slice.size - taken, slice.owner});
  }
  std::string_view rest = bytes;
  auto head = decodeEnvelope(rest);
  if (!head)
    return std::move(head).status();
  frame.head = *head;
  return frame;
}
