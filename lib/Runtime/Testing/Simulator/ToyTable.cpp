//===- ToyTable.cpp - Server application for simulations ------------------===//
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

Expected<StepFacts> ToyTable::check(const Envelope &request,
                                    const Message &payload) {
  const auto decoded = ToyRequest::decode(payload);
  if (!decoded)
    return decoded.status();
  return scenario.factsOf(request.worker, *decoded);
}

ToyRequest ToyTable::note(const Envelope &request, const Message &payload,
                          Turn turn) {
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
  event.turn = turn;
  if (decoded.ok())
    event.request = *decoded;
  event.step = event.request.step;
  history.push_back(event);
  return event.request;
}

ToyResponse ToyTable::read(const Envelope &request,
                           const ToyRequest &asked) const {
  ToyResponse response;
  response.trainer = request.trainer;
  response.step = asked.step;
  for (const int64_t key : asked.keys) {
    const auto found = values.counters.find(key);
    response.counters.emplace_back(
        key, found == values.counters.end() ? 0 : found->second);
  }
  response.dense = values.dense;
  return response;
}

Message ToyTable::tell(const Envelope &request, const ToyResponse &response) {
  Event event;
  event.what = Event::What::Responded;
  event.when = clock.now();
  event.server = rank;
  event.trainer = request.trainer;
  event.worker = request.worker;
  event.step = response.step;
  event.kind = request.kind;
  event.response = response;
  history.push_back(event);
  return response.encode();
}

void ToyTable::finishDense(const ToyBlock &given) {
  for (size_t i = 0; i < given.size(); ++i) {
    const float half = 0.5f * values.dense[i];
    values.dense[i] = half + given[i];
  }
}

Expected<Message> ToyTable::handle(const Envelope &request, Message payload) {
  return tell(request, read(request, note(request, payload, Turn::Alone)));
}

Status ToyTable::take(const Envelope &request, Message payload, Turn turn) {
  const ToyRequest taken = note(request, payload, turn);
  requests[{request.trainer, request.worker}] = taken;
  if (turn == Turn::Dropped)
    return {};
  if (scenario.mode == ToyMode::Geo && request.kind == MessageKind::Exchange) {
    newsOf[request.trainer] = news.exchange(request.trainer, taken, values);
    return {};
  }
  if (turn == Turn::Alone) {
    for (const auto &[key, increment] : taken.increments)
      values.counters[key] += increment;
    if (taken.hasPart)
      finishDense(taken.part);
    return {};
  }
  Sum &sum = request.kind == MessageKind::Reduce ? sums : steps;
  for (size_t i = 0; taken.hasPart && i < sum.dense.size(); ++i)
    sum.dense[i] = sum.hasPart ? sum.dense[i] + taken.part[i] : taken.part[i];
  sum.hasPart |= taken.hasPart;
  for (const auto &[key, increment] : taken.increments)
    sum.counters[key] += increment;
  return {};
}

Status ToyTable::closeRound(MessageKind kind) {
  const Sum sum = std::exchange(kind == MessageKind::Reduce ? sums : steps, {});
  if (sum.hasPart)
    finishDense(sum.dense);
  for (const auto &[key, increment] : sum.counters)
    values.counters[key] += increment;
  Event event;
  event.what = Event::What::Closed;
  event.when = clock.now();
  event.server = rank;
  event.step = rounds++;
  event.kind = kind;
  event.response.dense = values.dense;
  history.push_back(event);
  return {};
}

Expected<std::vector<Message>>
ToyTable::respond(std::span<const Envelope> asked) {
  std::vector<Message> responses;
  for (const Envelope &each : asked) {
    const bool isNews =
        scenario.mode == ToyMode::Geo && each.kind == MessageKind::Exchange;
    responses.push_back(
        tell(each, isNews ? newsOf[each.trainer]
                          : read(each, requests[{each.trainer, each.worker}])));
  }
  return responses;
}
