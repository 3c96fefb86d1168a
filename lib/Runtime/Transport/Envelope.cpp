//===- Envelope.cpp - Header of requests and responses --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/Envelope.h"

#include <cstring>

using namespace pdlrt;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the wire is little-endian");

static constexpr uint32_t messageMark = 0x4d4c4450; // "PDLM"
static constexpr uint16_t wireVersion = 7;

template <typename T> static void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

template <typename T> static T take(const char *&position) {
  T value;
  std::memcpy(&value, position, sizeof(T));
  position += sizeof(T);
  return value;
}

const char *pdlrt::nameOf(MessageKind kind) {
  switch (kind) {
  case MessageKind::Join:
    return "join";
  case MessageKind::Exchange:
    return "exchange";
  case MessageKind::Norm:
    return "norm";
  case MessageKind::Pull:
    return "pull";
  case MessageKind::Reduce:
    return "reduce";
  case MessageKind::Save:
    return "save";
  case MessageKind::Leave:
    return "leave";
  case MessageKind::Heartbeat:
    return "beat";
  case MessageKind::Greet:
    return "greet";
  case MessageKind::Poll:
    return "ask";
  case MessageKind::Part:
    return "part";
  case MessageKind::Visit:
    return "visit";
  case MessageKind::Read:
    return "read";
  case MessageKind::Peer:
    return "request of a server";
  case MessageKind::Response:
    return "answer";
  case MessageKind::Refusal:
    return "refusal";
  case MessageKind::Wait:
    return "wait";
  }
  return "message";
}

void pdlrt::encodeEnvelope(const Envelope &envelope, std::string &out) {
  put(out, messageMark);
  put(out, wireVersion);
  put(out, static_cast<uint16_t>(envelope.kind));
  put(out, envelope.trainer);
  put(out, envelope.worker);
  put(out, envelope.incarnation);
  put(out, envelope.sequence);
  put(out, envelope.epoch);
}

Expected<Envelope> pdlrt::decodeEnvelope(std::string_view &bytes) {
  if (bytes.size() < envelopeSize)
    return Status::dataLoss("message of " + std::to_string(bytes.size()) +
                            " bytes: the head alone has " +
                            std::to_string(envelopeSize));
  const char *position = bytes.data();
  if (take<uint32_t>(position) != messageMark)
    return Status::failedPrecondition(
        "message does not start with the mark of a PDL "
        "message: is the address a PDL server's?");
  if (const auto version = take<uint16_t>(position); version != wireVersion)
    return Status::failedPrecondition(
        "message has wire version " + std::to_string(version) +
        ", this program speaks " + std::to_string(wireVersion) +
        ": translate both with one compiler");
  Envelope envelope;
  const auto kind = take<uint16_t>(position);
  const bool isRequest = kind >= static_cast<uint16_t>(MessageKind::Join) &&
                         kind <= static_cast<uint16_t>(MessageKind::Peer);
  const bool isResponse =
      kind >= static_cast<uint16_t>(MessageKind::Response) &&
      kind <= static_cast<uint16_t>(MessageKind::Wait);
  if (!isRequest && !isResponse)
    return Status::dataLoss("message has the unknown kind " +
                            std::to_string(kind));
  envelope.kind = static_cast<MessageKind>(kind);
  envelope.trainer = take<uint32_t>(position);
  envelope.worker = take<uint32_t>(position);
  envelope.incarnation = take<uint64_t>(position);
  envelope.sequence = take<uint64_t>(position);
  envelope.epoch = take<uint64_t>(position);
  bytes.remove_prefix(envelopeSize);
  return envelope;
}
