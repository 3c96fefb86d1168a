//===- PartBox.cpp - Reassembly of requests sent in parts -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/PartBox.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace pdlrt;

/// Each part needs at least one position.
static constexpr uint64_t maxParts = maxPlaces;

Message pdlrt::encodePart(uint64_t number, const Message &bytes) {
  std::string head(partHeadSize, 0);
  std::memcpy(head.data(), &number, partHeadSize);
  Message payload = Message::ofString(std::move(head));
  for (const MessageSlice &slice : bytes.slices())
    payload.append(slice);
  return payload;
}

static std::string nameOfPart(const Envelope &head) {
  return "a part of request " + std::to_string(head.sequence) + " of trainer " +
         std::to_string(head.trainer);
}

std::string pdlrt::partSizeFault(uint64_t size, uint64_t maxBytes) {
  if (maxBytes == 0)
    return "this job takes no parts of requests: start trainers and servers of "
           "one translation of the model";
  const uint64_t most = envelopeSize + partHeadSize + maxBytes;
  if (size <= most)
    return {};
  return "a part of a request has " + std::to_string(size) +
         " bytes, more than the " + std::to_string(most) +
         " that all dense gradients here can have";
}

PartBox::Sender &PartBox::senderOf(const Envelope &head) {
  Sender &sender = senders[nameOf(head)];
  if (sender.incarnation != head.incarnation ||
      sender.sequence != head.sequence) {
    sender = Sender();
    sender.incarnation = head.incarnation;
    sender.sequence = head.sequence;
  }
  return sender;
}

Status PartBox::keep(const Envelope &head, const Message &payload) {
  if (payload.size() <= partHeadSize)
    return Status::dataLoss(nameOfPart(head) +
                            " is damaged: it brings no bytes");
  Message bytes = payload;
  const std::string front = takeFront(bytes, partHeadSize).toString();
  uint64_t number = 0;
  std::memcpy(&number, front.data(), partHeadSize);
  if (number >= maxParts)
    return Status::dataLoss(nameOfPart(head) + " is damaged: it has number " +
                            std::to_string(number) + ", of at most " +
                            std::to_string(maxParts));
  Sender &sender = senderOf(head);
  if (const auto known = sender.parts.find(number);
      known != sender.parts.end()) {
    if (known->second.size() == bytes.size())
      return {};
    return Status::dataLoss(nameOfPart(head) + " comes once more, with " +
                            std::to_string(bytes.size()) +
                            " bytes instead of " +
                            std::to_string(known->second.size()));
  }
  if (bytes.size() > maxBytes - sender.bytes)
    return Status::dataLoss(nameOfPart(head) + " brings it to more than the " +
                            std::to_string(maxBytes) +
                            " bytes that all dense gradients here have");
  sender.bytes += bytes.size();
  sender.parts.emplace(number, std::move(bytes));
  return {};
}

Status PartBox::add(const Envelope &head, const Message &payload) {
  Status status = keep(head, payload);
  if (!status.ok())
    forget(head);
  return status;
}

/// Appends `size` bytes of `from`, starting at `offset`.
static void appendRange(const Message &from, uint64_t offset, uint64_t size,
                        Message &to) {
  for (const MessageSlice &slice : from.slices()) {
    if (size == 0)
      return;
    if (offset >= slice.size) {
      offset -= slice.size;
      continue;
    }
    const uint64_t taken = std::min<uint64_t>(size, slice.size - offset);
    to.append({slice.data + offset, taken, slice.owner});
    offset = 0;
    size -= taken;
  }
}

Expected<bool> PartBox::putTogether(Frame &request) {
  const Sender &sender = senderOf(request.head);
  const auto damaged = [&](const std::string &what) {
    return Status::dataLoss(
        "request " + std::to_string(request.head.sequence) + " of trainer " +
        std::to_string(request.head.trainer) + " is damaged: " + what);
  };
  // Offset and size of each range that has a position, by part.
  std::map<uint64_t, std::vector<std::pair<uint64_t, uint64_t>>> placed;
  for (const PartPlace &place : request.parts) {
    if (place.part >= maxParts)
      return damaged("it names part " + std::to_string(place.part) +
                     ", of at most " + std::to_string(maxParts));
    placed[place.part].emplace_back(place.offset, place.size);
  }
  for (const auto &[number, ranges] : placed)
    if (!sender.parts.contains(number))
      return false;
  for (const PartPlace &place : request.parts) {
    const uint64_t size = sender.parts.at(place.part).size();
    if (place.offset > size || place.size > size - place.offset)
      return damaged("it names bytes that part " + std::to_string(place.part) +
                     " does not have");
  }
  for (const auto &[number, part] : sender.parts) {
    uint64_t covered = 0;
    std::ranges::sort(placed[number]);
    for (const auto &[offset, size] : placed[number]) {
      if (offset < covered)
        return damaged("it names bytes of part " + std::to_string(number) +
                       " twice");
      if (offset > covered)
        break;
      covered += size;
    }
    if (covered != part.size())
      return damaged("it has no place for all bytes of part " +
                     std::to_string(number));
  }
  Message whole, rest = std::move(request.payload);
  uint64_t position = 0;
  const auto appendOwn = [&](uint64_t end) {
    const Message own = takeFront(rest, end - position);
    for (const MessageSlice &slice : own.slices())
      whole.append(slice);
    position = end;
  };
  for (const PartPlace &place : request.parts) {
    appendOwn(place.position);
    appendRange(sender.parts.at(place.part), place.offset, place.size, whole);
  }
  appendOwn(position + rest.size());
  request.payload = std::move(whole);
  request.parts.clear();
  forget(request.head);
  return true;
}

void PartBox::wait(Frame request) {
  Sender &sender = senderOf(request.head);
  sender.waiting = std::move(request);
}

std::optional<Frame> PartBox::takeWaiting(const Envelope &head) {
  const auto found = senders.find(nameOf(head));
  if (found == senders.end() || !found->second.waiting)
    return std::nullopt;
  return std::exchange(found->second.waiting, std::nullopt);
}

void PartBox::forgetTrainer(uint32_t trainer) {
  std::erase_if(senders,
                [&](const auto &each) { return each.first.first == trainer; });
}
