//===- Frame.cpp - Header and payload as one message ----------------------===//
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

/// Position of the kind in a header. Two bits of this byte announce what
/// follows the header, before the payload: `noteBit` a note, and `partsBit` a
/// table of parts after it.
static constexpr size_t kindPlace = 7;
static constexpr uint8_t noteBit = 0x80, partsBit = 0x40;
static constexpr size_t sizeBytes = 8;
/// Size of an entry in the table of parts.
static constexpr size_t placeBytes = 4 * sizeBytes;
static_assert(minFront >= envelopeSize, "a screen sees the head");

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

/// Payloads are aligned to 8, with or without a note.
static size_t paddingOf(size_t size) { return (sizeBytes - size % 8) % 8; }

Message pdlrt::joinFrame(const Envelope &head, const Message &payload,
                         const Message &note,
                         const std::vector<PartPlace> &parts) {
  std::string bytes;
  bytes.reserve(envelopeSize + sizeBytes);
  encodeEnvelope(head, bytes);
  if (note.size() > 0) {
    bytes[kindPlace] = static_cast<char>(bytes[kindPlace] | noteBit);
    appendNumber(note.size(), bytes);
  }
  if (!parts.empty())
    bytes[kindPlace] = static_cast<char>(bytes[kindPlace] | partsBit);
  Message message = Message::ofString(std::move(bytes));
  for (const MessageSlice &slice : note.slices())
    message.append(slice);
  if (const size_t padding = paddingOf(note.size()))
    message.append(Message::ofString(std::string(padding, 0)).slices().front());
  if (!parts.empty()) {
    std::string table;
    appendNumber(parts.size(), table);
    for (const PartPlace &place : parts) {
      appendNumber(place.position, table);
      appendNumber(place.part, table);
      appendNumber(place.offset, table);
      appendNumber(place.size, table);
    }
    message.append(Message::ofString(std::move(table)).slices().front());
  }
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

/// Removes the header from the front of `message` and returns it. Sets `bits`
/// to those of `noteBit` and `partsBit` that the header has.
static Expected<Envelope> takeHead(Message &message, uint8_t &bits) {
  std::string bytes =
      takeFront(message, std::min(envelopeSize, message.size())).toString();
  bits = 0;
  if (bytes.size() == envelopeSize) {
    bits = uint8_t(bytes[kindPlace]) & (noteBit | partsBit);
    bytes[kindPlace] = static_cast<char>(bytes[kindPlace] & ~bits);
  }
  std::string_view rest = bytes;
  return decodeEnvelope(rest);
}

Expected<Envelope> pdlrt::readHead(const Message &front) {
  Message rest = front;
  uint8_t bits = 0;
  return takeHead(rest, bits);
}

/// Removes an announced note from the front of a message.
static Status takeNote(Message &message, Message &note) {
  const Status damaged = Status::dataLoss(
      "the message is damaged: it claims a note that is longer "
      "than what is left");
  if (message.size() < sizeBytes)
    return damaged;
  const uint64_t size = numberAt(takeFront(message, sizeBytes).toString(), 0);
  if (size > message.size() || paddingOf(size) > message.size() - size)
    return damaged;
  note = takeFront(message, size);
  takeFront(message, paddingOf(size));
  return {};
}

/// Removes the table of parts from the front of a message. Returns an error if
/// the table or a part in it is empty.
static Status takePlaces(Message &message, std::vector<PartPlace> &places) {
  const Status damaged = Status::dataLoss(
      "the message is damaged: it claims a table of parts that "
      "is longer than what is left");
  if (message.size() < sizeBytes)
    return damaged;
  const uint64_t count = numberAt(takeFront(message, sizeBytes).toString(), 0);
  if (count == 0 || count > message.size() / placeBytes)
    return damaged;
  if (count > maxPlaces)
    return Status::dataLoss("the message is damaged: its table of parts has " +
                            std::to_string(count) + " places, of at most " +
                            std::to_string(maxPlaces));
  const std::string table = takeFront(message, count * placeBytes).toString();
  for (size_t at = 0; at < table.size(); at += placeBytes) {
    const PartPlace place = {numberAt(table, at),
                             numberAt(table, at + sizeBytes),
                             numberAt(table, at + 2 * sizeBytes),
                             numberAt(table, at + 3 * sizeBytes)};
    if (place.size == 0 || place.position > message.size() ||
        (!places.empty() && place.position < places.back().position))
      return Status::dataLoss(
          "the message is damaged: its table of parts names "
          "a place that it does not have");
    places.push_back(place);
  }
  return {};
}

Expected<Frame> pdlrt::splitFrame(const Message &message) {
  Frame frame;
  frame.payload = message;
  uint8_t bits = 0;
  auto head = takeHead(frame.payload, bits);
  if (!head)
    return std::move(head).status();
  frame.head = *head;
  if (bits & noteBit)
    PDLRT_RETURN_IF_ERROR(takeNote(frame.payload, frame.note));
  if (bits & partsBit)
    PDLRT_RETURN_IF_ERROR(takePlaces(frame.payload, frame.parts));
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
      return Status::dataLoss("the notes of an earlier start are damaged");
    const std::string head = takeFront(rest, 2 * sizeBytes).toString();
    const uint64_t size = numberAt(head, sizeBytes);
    if (size > rest.size())
      return Status::dataLoss("the notes of an earlier start are damaged");
    notes.push_back({numberAt(head, 0), takeFront(rest, size)});
  }
  return notes;
}
