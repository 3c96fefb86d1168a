//===- ServerClient.cpp - A trainer's state on servers --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/ServerClient.h"

#include "pdlrt/Core/Trace.h"
#include "pdlrt/Engine/OwnNorms.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"

#include <algorithm>

using namespace pdlrt;

/// Who forms the norms of its gradients by itself must know which of them a
/// clip takes.
static Status checkOwnNorms(const pdl_descriptor &descriptor,
                            const ExchangeLayout &layout) {
  if (!modeOf(descriptor).sendersFormNorms)
    return {};
  for (int32_t n = 0; n < layout.channelCount(); ++n) {
    if (layout.channel(n).kind != PDL_CHANNEL_NORM)
      continue;
    bool known = false;
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      known |= (layout.channel(c).kind == PDL_CHANNEL_GRADIENT ||
                layout.channel(c).kind == PDL_CHANNEL_ROW_GRADIENT) &&
               layout.channel(c).clip == layout.channel(n).clip;
    if (!known)
      return Status::invalid(
          std::string("this program does not say which gradients clip @") +
          descriptor.clips[layout.channel(n).clip].name +
          " takes, so that mode " + modeOf(descriptor).name +
          " cannot clip them; translate the model with --mode=sync, or "
          "without the clip");
  }
  return {};
}

Expected<std::unique_ptr<ServerClient>>
ServerClient::create(const pdl_descriptor &descriptor, int32_t program,
                     const Placement &placement, ServerGroup &servers,
                     Model &mirror) {
  std::unique_ptr<ServerClient> client(
      new ServerClient(descriptor, placement, servers, mirror));
  Expected<Traffic *> traffic = client->trafficOf(program);
  if (!traffic)
    return traffic.status();
  client->trained = *traffic;
  PDLRT_RETURN_IF_ERROR(checkOwnNorms(descriptor, (*traffic)->layout));
  return client;
}

Expected<ServerClient::Traffic *> ServerClient::trafficOf(int32_t program) {
  std::unique_ptr<Traffic> &traffic = traffics[program];
  if (!traffic) {
    Expected<ExchangeLayout> layout =
        ExchangeLayout::create(descriptor, program, placement);
    if (!layout)
      return layout.status();
    traffic = std::make_unique<Traffic>(std::move(*layout));
    traffic->next.resize(descriptor.programs[program].lookup_count);
    traffic->current.resize(descriptor.programs[program].lookup_count);
    traffic->costs.servers = pdlrt::trafficOf(placement);
  }
  return traffic.get();
}

void ServerClient::route(Traffic &traffic,
                         std::span<const RowRequest> requests) {
  for (size_t l = 0; l < requests.size(); ++l)
    traffic.next[l].assign(placement,
                           traffic.layout.program().lookups[l].symbol,
                           requests[l].keyCount, requests[l].keys);
}

/// One for each server. `sum`, `norms` by channel: null and empty where there
/// are none; `withKeys`: those of the next step.
std::vector<Message> ServerClient::payloadsOf(Traffic &traffic,
                                              const ExchangeHead &head,
                                              const Contribution *sum,
                                              std::span<const double> norms,
                                              bool withKeys) {
  const ExchangeLayout &layout = traffic.layout;
  std::vector<Message> payloads;
  for (int32_t s = 0; s < placement.serverCount(); ++s) {
    ExchangeWriter writer(layout, head);
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      const pdl_channel &channel = layout.channel(c);
      const PartPlace *left =
          sum && earlySender ? earlySender->placeOf(s, c) : nullptr;
      if (left)
        writer.addPart(c, *left);
      else if (sum && !(ownRules && channel.kind == PDL_CHANNEL_GRADIENT))
        sumWriter.add(layout, s, c, *sum, traffic.current, /*owner=*/nullptr,
                      writer);
      if (!norms.empty() && channel.kind == PDL_CHANNEL_NORM)
        writer.addCopy(c, &norms[c], sizeof(double));
      if (withKeys && channel.kind == PDL_CHANNEL_KEYS)
        writer.addKeys(c,
                       traffic.next[layout.lookupOf(channel.symbol)].keysOf(s));
    }
    payloads.push_back(writer.finish());
    if (!writer.partPlaces().empty())
      servers.placeParts(size_t(s), writer.partPlaces());
    for (const PartPlace &place : writer.partPlaces())
      traffic.costs.servers[s].bytesSent += int64_t(place.size);
  }
  return payloads;
}

void ServerClient::begin(MessageKind kind, Traffic &traffic,
                         std::vector<Message> payloads) {
  for (size_t s = 0; s < payloads.size(); ++s)
    traffic.costs.servers[s].noteRequest(payloads[s].size());
  traffic.costs.serialise += stopwatch.lap();
  groupOf(kind).beginAll(kind, std::move(payloads));
}

Expected<std::vector<ExchangeMessage>>
ServerClient::send(MessageKind kind, Traffic &traffic,
                   std::vector<Message> payloads, ExchangeForm form) {
  begin(kind, traffic, std::move(payloads));
  return await(kind, traffic, form);
}

Expected<std::vector<ExchangeMessage>>
ServerClient::await(MessageKind kind, Traffic &traffic, ExchangeForm form) {
  Expected<std::vector<Message>> answers = [&] {
    const TraceSpan span("wait for servers");
    return groupOf(kind).awaitAll();
  }();
  traffic.costs.wait += stopwatch.lap();
  if (!answers)
    return answers.status();
  for (size_t s = 0; s < answers->size(); ++s)
    traffic.costs.servers[s].noteAnswer((*answers)[s].size());
  const ExchangeLayout &layout = traffic.layout;
  std::vector<ExchangeMessage> messages;
  std::vector<int64_t> rowCounts(layout.channelCount());
  for (int32_t s = 0; s < placement.serverCount(); ++s) {
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_ROWS)
        rowCounts[c] =
            int64_t(traffic.next[layout.lookupOf(layout.channel(c).symbol)]
                        .keysOf(s)
                        .size());
    auto refuse = [&](Status status) {
      return std::move(status).withContext("the answer of " +
                                           servers.session(s).name());
    };
    Expected<ExchangeMessage> message =
        layout.takeAnswer(form, s, (*answers)[s], rowCounts);
    if (!message)
      return refuse(message.status());
    const ExchangeHead &first =
        messages.empty() ? message->head() : messages.front().head();
    // Without rounds another worker's request to stop may have come between
    // this one's requests to two servers.
    if (message->head().contributes != first.contributes ||
        message->head().contributors != first.contributors ||
        (modeOf(descriptor).stepsAreRounds &&
         message->head().stopRequested != first.stopRequested))
      return refuse(Status::internal("it differs from that of " +
                                     servers.session(0).name() +
                                     " in who takes part"));
    messages.push_back(std::move(*message));
  }
  return messages;
}

Expected<std::vector<double>>
ServerClient::jointNorms(const Traffic &traffic,
                         std::span<const ExchangeMessage> sums,
                         std::span<const ObjectiveSums> objectives) {
  const ExchangeLayout &layout = traffic.layout;
  std::vector<double> norms(layout.channelCount());
  std::vector<double> partials;
  for (int32_t n = 0; n < layout.channelCount(); ++n) {
    if (layout.channel(n).kind != PDL_CHANNEL_NORM)
      continue;
    // In the order of (symbol, unit), whichever server holds what.
    for (int32_t symbol = 0; symbol < descriptor.symbol_count; ++symbol) {
      const int32_t number = layout.find(PDL_CHANNEL_PARTIAL_NORM, symbol);
      if (number < 0 || layout.channel(number).clip != layout.channel(n).clip)
        continue;
      const bool isTable = descriptor.symbols[symbol].kind == PDL_SYMBOL_TABLE;
      const int64_t rows = descriptor.symbols[symbol].row_count;
      partials.assign(isTable ? descriptor.symbols[symbol].unit_count
                              : (rows + pdlabi::rowsInNormUnit - 1) /
                                    pdlabi::rowsInNormUnit,
                      0);
      for (int32_t s = 0; s < placement.serverCount(); ++s) {
        const double *from = sums[s].sectionOf<double>(number).data();
        if (isTable)
          for (int64_t shard : placement.unitsOf(symbol, s))
            partials[shard] = *from++;
        else
          for (const RowBlock &block : placement.rowsOf(symbol, s))
            for (int64_t row = 0; row < block.rowCount;
                 row += pdlabi::rowsInNormUnit)
              partials[(block.firstRow + row) / pdlabi::rowsInNormUnit] =
                  *from++;
      }
      if (ownRules && !isTable) {
        const Expected<std::span<const double>> own =
            ownRules->partialNorms(layout.updateOf(symbol), objectives);
        if (!own)
          return own.status();
        partials.assign(own->begin(), own->end());
      }
      for (double partial : partials)
        norms[n] += partial;
    }
  }
  return norms;
}

void ServerClient::takeState(Traffic &traffic,
                             std::span<const RowRequest> requests,
                             std::span<const ExchangeMessage> answers) {
  const ExchangeLayout &layout = traffic.layout;
  for (int32_t s = 0; s < placement.serverCount(); ++s)
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      const pdl_channel &channel = layout.channel(c);
      if (channel.kind == PDL_CHANNEL_VALUE && !ownRules)
        layout.copyBlocks(s, c, answers[s], mirror.value(channel.symbol));
      if (channel.kind != PDL_CHANNEL_ROWS)
        continue;
      const int32_t lookup = layout.lookupOf(channel.symbol);
      layout.copyRows(s, c, answers[s], traffic.next[lookup].placesOf(s),
                      requests[lookup].rows);
    }
}

ExchangeCosts ServerClient::costsOf(const pdl_program &program) const {
  const auto found = traffics.find(int32_t(&program - descriptor.programs));
  if (found == traffics.end())
    return {};
  ExchangeCosts costs = found->second->costs;
  if (earlySender && found->second.get() == trained)
    costs.early = earlySender->costs();
  return costs;
}

Status ServerClient::beginPull(const RoundOffer &offer) {
  const TraceSpan span("ask for rows");
  Traffic &traffic = *trained;
  stopwatch.lap();
  route(traffic, offer.next);
  ExchangeHead head;
  head.contributesNext = offer.contributesNext;
  head.stopRequested = offer.stop;
  head.allValues = offer.first;
  head.keys = keyPacking;
  begin(MessageKind::Exchange, traffic,
        payloadsOf(traffic, head, /*sum=*/nullptr, /*norms=*/{},
                   /*withKeys=*/true));
  pullBegan = stopwatch.begin();
  return {};
}

Expected<RoundOutcome> ServerClient::endPull(const RoundOffer &offer) {
  const TraceSpan span("take rows");
  Traffic &traffic = *trained;
  stopwatch.lap();
  const double waitedBefore = traffic.costs.wait;
  Expected<std::vector<ExchangeMessage>> answers =
      await(MessageKind::Exchange, traffic, ExchangeForm::State);
  if (!answers)
    return answers.status();
  BesideCosts &beside = traffic.costs.beside;
  beside.pullWait += traffic.costs.wait - waitedBefore;
  beside.pull +=
      std::chrono::duration<double>(servers.lastAnswer() - pullBegan).count();
  takeState(traffic, offer.next, *answers);
  RoundOutcome outcome;
  for (const ExchangeMessage &answer : *answers)
    outcome.stop |= answer.head().stopRequested;
  traffic.costs.serialise += stopwatch.lap();
  return outcome;
}

Expected<RoundOutcome> ServerClient::exchange(const RoundOffer &offer) {
  const TraceSpan span("exchange");
  stopwatch.lap();
  const double waitedBefore = trained->costs.wait;
  if (earlySender)
    PDLRT_RETURN_IF_ERROR(earlySender->endCompute());
  Expected<RoundOutcome> outcome = exchangeRound(*trained, offer);
  trained->costs.serialise += stopwatch.lap();
  if (earlySender)
    earlySender->endStep(/*contributed=*/offer.sum != nullptr,
                         trained->costs.wait - waitedBefore);
  return outcome;
}

/// `norms`: by channel, or empty.
Status ServerClient::applyOwnRules(const Traffic &traffic,
                                   std::span<const ObjectiveSums> objectives,
                                   std::span<const double> norms) {
  std::vector<double> byClip(size_t(descriptor.clip_count));
  for (size_t c = 0; c < norms.size(); ++c)
    if (const pdl_channel &channel = traffic.layout.channel(int32_t(c));
        channel.kind == PDL_CHANNEL_NORM)
      byClip[size_t(channel.clip)] = norms[c];
  return ownRules->finish(objectives, byClip);
}

Expected<RoundOutcome> ServerClient::exchangeRound(Traffic &traffic,
                                                   RoundOffer offer) {
  const ExchangeLayout &layout = traffic.layout;
  std::swap(traffic.current, traffic.next);
  route(traffic, offer.next);
  std::vector<double> norms;
  if (offer.sum && modeOf(descriptor).sendersFormNorms) {
    norms = ownNorms(descriptor, layout, *offer.sum, traffic.current);
    if (modeOf(descriptor).sendersClip)
      offer.sum = &clips.apply(layout, *offer.sum, norms);
  }
  if (ownRules && !offer.first)
    PDLRT_RETURN_IF_ERROR(ownRules->begin(offer.sum));
  ExchangeHead head;
  head.withoutParameters = ownRules != nullptr;
  head.contributes = offer.sum != nullptr;
  head.contributesNext = offer.contributesNext;
  head.stopRequested = offer.stop;
  head.saveRequested = offer.save;
  head.allValues = offer.first || asksForAllValues;
  head.keys = keyPacking;
  if (offer.sum)
    sumWriter.begin(layout, *offer.sum, head);
  // With partial norms the keys travel with the second message of a step, which
  // is the only one of a first round.
  const bool withNorms = layout.hasNormRequest();
  RoundOutcome outcome;
  std::vector<ObjectiveSums> objectives;
  Expected<std::vector<ExchangeMessage>> answers =
      std::vector<ExchangeMessage>();
  if (!withNorms || !offer.first) {
    answers = send(MessageKind::Exchange, traffic,
                   payloadsOf(traffic, head, offer.sum, norms,
                              /*withKeys=*/!withNorms),
                   withNorms ? ExchangeForm::Sums : ExchangeForm::State);
    if (!answers)
      return answers.status();
    // The answer to the first message of a step has the losses.
    const ExchangeMessage &first = answers->front();
    head.contributes = first.head().contributes;
    for (int32_t c = 0; head.contributes && c < layout.channelCount(); ++c) {
      if (layout.channel(c).kind != PDL_CHANNEL_LOSS)
        continue;
      const std::span<const double> sums = first.sectionOf<double>(c);
      objectives.push_back({sums[0], sums[1]});
      if (layout.objectiveOf(c) > 0) {
        outcome.otherWeights += sums[1];
        continue;
      }
      outcome.lossSum = sums[0];
      outcome.weightSum = sums[1];
    }
  }
  if (withNorms) {
    norms.clear();
    if (head.contributes) {
      Expected<std::vector<double>> joint =
          jointNorms(traffic, *answers, objectives);
      if (!joint)
        return joint.status();
      norms = std::move(*joint);
    }
    answers = send(MessageKind::Norm, traffic,
                   payloadsOf(traffic, head, /*sum=*/nullptr, norms,
                              /*withKeys=*/true),
                   ExchangeForm::State);
    if (!answers)
      return answers.status();
  }
  // All owners have taken the step.
  if (ownRules && !objectives.empty())
    PDLRT_RETURN_IF_ERROR(applyOwnRules(traffic, objectives, norms));
  takeState(traffic, offer.next, *answers);
  const ExchangeMessage &first = answers->front();
  outcome.contributingNext = first.head().contributors;
  for (const ExchangeMessage &answer : *answers) {
    outcome.stop |= answer.head().stopRequested;
    outcome.save |= answer.head().saveRequested;
  }
  return outcome;
}

Status ServerClient::pull(const pdl_program &program, bool allValues,
                          std::span<const RowRequest> requests,
                          std::span<uint8_t *const> unknown) {
  Expected<Traffic *> found =
      trafficOf(int32_t(&program - descriptor.programs));
  if (!found)
    return found.status();
  stopwatch.lap();
  Status status = pullRows(**found, allValues, requests, unknown);
  (*found)->costs.serialise += stopwatch.lap();
  return status;
}

Status ServerClient::pullRows(Traffic &traffic, bool allValues,
                              std::span<const RowRequest> requests,
                              std::span<uint8_t *const> unknown) {
  const ExchangeLayout &layout = traffic.layout;
  route(traffic, requests);
  ExchangeHead head;
  head.allValues = allValues;
  head.withoutParameters = ownRules != nullptr;
  head.keys = keyPacking;
  Expected<std::vector<ExchangeMessage>> answers =
      send(MessageKind::Pull, traffic,
           payloadsOf(traffic, head, /*sum=*/nullptr, /*norms=*/{},
                      /*withKeys=*/true),
           ExchangeForm::State);
  if (!answers)
    return answers.status();
  takeState(traffic, requests, *answers);
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    if (layout.channel(c).kind != PDL_CHANNEL_KEYS)
      continue;
    const int32_t lookup = layout.lookupOf(layout.channel(c).symbol);
    for (int32_t s = 0; s < placement.serverCount(); ++s) {
      const std::span<const int32_t> places = traffic.next[lookup].placesOf(s);
      for (int64_t position : (*answers)[s].sectionOf<int64_t>(c))
        unknown[lookup][places[position]] = 1;
    }
  }
  return {};
}

Status pdlrt::sumOverTrainers(ServerGroup &servers, std::span<int64_t> counts,
                              std::span<double> sums) {
  // The first server adds; the others only take part in the round.
  ReduceVectors vectors;
  vectors.counts.assign(counts.begin(), counts.end());
  vectors.sums.assign(sums.begin(), sums.end());
  std::vector<Message> payloads = {encodeReduce(vectors)};
  payloads.resize(servers.size(), encodeReduce({}));
  Expected<std::vector<Message>> answers =
      servers.sendAll(MessageKind::Reduce, std::move(payloads));
  if (!answers)
    return answers.status();
  Expected<ReduceVectors> total = decodeReduce(answers->front());
  if (!total)
    return total.status();
  if (total->counts.size() != counts.size() ||
      total->sums.size() != sums.size())
    return Status::internal(servers.session(0).name() +
                            " answered with other numbers of sums than it was "
                            "sent");
  std::copy(total->counts.begin(), total->counts.end(), counts.begin());
  std::copy(total->sums.begin(), total->sums.end(), sums.begin());
  return {};
}
