//===- ToyTable.cpp - A server of integers and four floats ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/ToyTable.h"

using namespace pdlrt;

Expected<Message> ToyTable::greet(const Envelope &, const Message &) {
  return Message();
}

Expected<Message> ToyTable::join(const Envelope &, const Message &) {
  return Message();
}

Status ToyTable::check(const Envelope &, const Message &payload) {
  return ToyRequest::decode(payload).status();
}

/// Decodes and writes down.
ToyRequest ToyTable::take(const Envelope &request, const Message &payload) {
  auto decoded = ToyRequest::decode(payload);
  Event event;
  event.what = Event::What::Applied;
  event.when = clock.now();
  event.server = rank;
  event.trainer = request.trainer;
  event.worker = request.worker;
  event.incarnation = request.incarnation;
  event.epoch = request.epoch;
  event.kind = request.kind;
  if (decoded.ok())
    event.request = *decoded;
  event.step = event.request.step;
  history.push_back(event);
  return event.request;
}

ToyAnswer ToyTable::read(const Envelope &request,
                         const ToyRequest &asked) const {
  ToyAnswer answer;
  answer.trainer = request.trainer;
  answer.step = asked.step;
  for (const int64_t key : asked.keys) {
    const auto found = values.counters.find(key);
    answer.counters.emplace_back(
        key, found == values.counters.end() ? 0 : found->second);
  }
  answer.dense = values.dense;
  return answer;
}

void ToyTable::finishDense(const ToyBlock &given) {
  for (size_t i = 0; i < given.size(); ++i) {
    const float half = 0.5f * values.dense[i];
    values.dense[i] = half + given[i];
  }
}

Expected<Message> ToyTable::handle(const Envelope &request, Message payload) {
  const ToyRequest taken = take(request, payload);
  for (const auto &[key, increment] : taken.increments)
    values.counters[key] += increment;
  if (taken.hasPart)
    finishDense(taken.part);
  return read(request, taken).encode();
}

void ToyTable::contribute(const Envelope &request, Message payload) {
  ToyRequest taken = take(request, payload);
  for (size_t i = 0; taken.hasPart && i < sum.size(); ++i)
    sum[i] = hasSum ? sum[i] + taken.part[i] : taken.part[i];
  hasSum |= taken.hasPart;
  for (const auto &[key, increment] : taken.increments)
    roundCounters[key] += increment;
  roundRequests[request.trainer] = {request, std::move(taken)};
}

Expected<std::vector<Message>> ToyTable::closeRound(MessageKind kind) {
  if (hasSum)
    finishDense(sum);
  hasSum = false;
  for (const auto &[key, increment] : roundCounters)
    values.counters[key] += increment;
  roundCounters.clear();
  Event event;
  event.what = Event::What::Closed;
  event.when = clock.now();
  event.server = rank;
  event.step = rounds++;
  event.kind = kind;
  event.answer.dense = values.dense;
  history.push_back(event);
  std::vector<Message> answers;
  for (const auto &[request, taken] : roundRequests)
    answers.push_back(read(request, taken).encode());
  return answers;
}
