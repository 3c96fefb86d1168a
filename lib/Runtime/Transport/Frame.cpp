//===- Frame.cpp - A head and what follows it -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/Frame.h"

#include "pdlrt/Transport/Transport.h"

#include <algorithm>
#include <utility>

using namespace pdlrt;

/// Where the kind stands in a head, and its bit that says that a note stands
/// before the payload.
static constexpr size_t kindPlace = 7;
static constexpr uint8_t noteBit = 0x80;
static constexpr size_t sizeBytes = 8;
static_assert(leastFront == envelopeSize, "a screen sees the head");

static void appendNumber(uint64_t number, std::string &out) {
  for (size_t i = 0; i < sizeBytes; ++i)
    out.push_back(static_cast<char>(number >> (8 * i)));
}

static uint64_t numberAt(const std::string &bytes, size_t place) {
  uint64_t number = 0;
  for (size_t i = 0; i < sizeBytes; ++i)
    number |= uint64_t(static_cast<uint8_t>(bytes[place + i])) << (8 * i);
  return number;
}

/// Payloads are aligned to 8, as without a note.
static size_t paddingOf(size_t size) { return (sizeBytes - size % 8) % 8; }

Message pdlrt::joinFrame(const Envelope &head, const Message &payload,
                         const Message &note) {
  std::string bytes;
  bytes.reserve(envelopeSize + sizeBytes);
  encodeEnvelope(head, bytes);
  if (note.size() > 0) {
    bytes[kindPlace] = static_cast<char>(bytes[kindPlace] | noteBit);
    appendNumber(note.size(), bytes);
  }
  Message message = Message::ofString(std::move(bytes));
  for (const MessageSlice &slice : note.slices())
    message.append(slice);
  if (const size_t padding = paddingOf(note.size()))
    message.append(Message::ofString(std::string(padding, 0)).slices().front());
  for (const MessageSlice &slice : payload.slices())
    message.append(slice);
  return message;
}

Message pdlrt::takeFront(Message &message, size_t size) {
  Message front, rest;
  for (const MessageSlice &slice : message.slices()) {
    const size_t taken = std::min(size, slice.size);
    size -= taken;
    if (taken > 0)
      front.append({slice.data, taken, slice.owner});
    if (taken < slice.size)
      rest.append({slice.data + taken, slice.size - taken, slice.owner});
  }
  message = std::move(rest);
  return front;
}

/// Takes the head off the front of `message`, and says whether a note follows.
static Expected<Envelope> takeHead(Message &message, bool &hasNote) {
  std::string bytes =
      takeFront(message, std::min(envelopeSize, message.size())).toString();
  hasNote =
      bytes.size() == envelopeSize && (uint8_t(bytes[kindPlace]) & noteBit);
  if (hasNote)
    bytes[kindPlace] = static_cast<char>(bytes[kindPlace] & ~noteBit);
  std::string_view rest = bytes;
  return decodeEnvelope(rest);
}

Expected<Envelope> pdlrt::readHead(const Message &front) {
  Message rest = front;
  bool hasNote = false;
  return takeHead(rest, hasNote);
}

Expected<Frame> pdlrt::splitFrame(const Message &message) {
  Frame frame;
  frame.payload = message;
  bool hasNote = false;
  auto head = takeHead(frame.payload, hasNote);
  if (!head)
    return std::move(head).status();
  frame.head = *head;
  if (!hasNote)
    return frame;
  const Status damaged =
      Status::invalid("the message is damaged: it claims a note that is longer "
                      "than what is left");
  if (frame.payload.size() < sizeBytes)
    return damaged;
  const uint64_t size =
      numberAt(takeFront(frame.payload, sizeBytes).toString(), 0);
  if (size > frame.payload.size() ||
      paddingOf(size) > frame.payload.size() - size)
    return damaged;
  frame.note = takeFront(frame.payload, size);
  takeFront(frame.payload, paddingOf(size));
  return frame;
}

Message pdlrt::encodeNotes(const std::vector<NumberedNote> &notes) {
  Message list;
  for (const NumberedNote &each : notes) {
    std::string head;
    appendNumber(each.sequence, head);
    appendNumber(each.note.size(), head);
    list.append(Message::ofString(std::move(head)).slices().front());
    for (const MessageSlice &slice : each.note.slices())
      list.append(slice);
  }
  return list;
}

Expected<std::vector<NumberedNote>> pdlrt::decodeNotes(const Message &message) {
  std::vector<NumberedNote> notes;
  Message rest = message;
  while (rest.size() > 0) {
    if (rest.size() < 2 * sizeBytes)
      return Status::invalid("the notes of an earlier start are damaged");
    const std::string head = takeFront(rest, 2 * sizeBytes).toString();
    const uint64_t size = numberAt(head, sizeBytes);
    if (size > rest.size())
      return Status::invalid("the notes of an earlier start are damaged");
    notes.push_back({numberAt(head, 0), takeFront(rest, size)});
  }
  return notes;
}
