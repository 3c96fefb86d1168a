//===- ServerClient.cpp - A trainer's client of the servers ---------------===//
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

/// If senders of this mode compute the norms of clips, checks that the program
/// says which gradients each clip covers.
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
      return Status::failedPrecondition(
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
    traffic = std::make_unique<Traffic>(std::move(*layout), placement);
    traffic->next.resize(descriptor.programs[program].lookup_count);
    traffic->current.resize(descriptor.programs[program].lookup_count);
  }
  return traffic.get();
}

ExchangeCosts ServerClient::Traffic::costs() const {
  ExchangeCosts result = metrics.costs();
  result.background = background.costs();
  return result;
}

void ServerClient::route(Traffic &traffic,
                         std::span<const RowRequest> requests) {
  for (size_t l = 0; l < requests.size(); ++l)
    traffic.next[l].assign(placement,
                           traffic.layout.program().lookups[l].symbol,
                           requests[l].keyCount, requests[l].keys);
}

/// Returns one message for each server. `sum` is null if there are no
/// gradients. Gradients that were sent early are replaced by the positions of
/// their parts. `norms` is indexed by channel, or empty if there are none.
/// `withKeys`: adds the keys of the next step.
std::vector<Message> ServerClient::payloadsOf(Traffic &traffic,
                                              const ExchangeHead &head,
                                              const PartialSum *sum,
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
      traffic.metrics.servers[s].noteParts(place.size);
  }
  return payloads;
}

void ServerClient::begin(MessageKind kind, Traffic &traffic,
                         std::vector<Message> payloads) {
  for (size_t s = 0; s < payloads.size(); ++s)
    traffic.metrics.servers[s].noteRequest(payloads[s].size());
  traffic.metrics.serialize += stopwatch.lap();
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
  Expected<std::vector<Message>> responses = [&] {
    const TraceSpan span("wait for servers");
    return groupOf(kind).awaitAll();
  }();
  traffic.metrics.wait += stopwatch.lap();
  if (!responses)
    return responses.status();
  for (size_t s = 0; s < responses->size(); ++s)
    traffic.metrics.servers[s].noteResponse((*responses)[s].size());
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
      return std::move(status).withContext("the response of " +
                                           servers.session(s).name());
    };
    Expected<ExchangeMessage> message =
        layout.takeResponse(form, s, (*responses)[s], rowCounts);
    if (!message)
      return refuse(message.status());
    const ExchangeHead &first =
        messages.empty() ? message->head() : messages.front().head();
    // In modes without rounds, another worker may have requested a shutdown
    // between this worker's requests to two servers. Then only `stopRequested`
    // differs.
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
    // In the order of (symbol, unit), independent of the placement.
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
                             std::span<const ExchangeMessage> responses) {
  const ExchangeLayout &layout = traffic.layout;
  for (int32_t s = 0; s < placement.serverCount(); ++s)
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      const pdl_channel &channel = layout.channel(c);
      if (channel.kind == PDL_CHANNEL_VALUE && !ownRules)
        layout.copyBlocks(s, c, responses[s], mirror.value(channel.symbol));
      if (channel.kind != PDL_CHANNEL_ROWS)
        continue;
      const int32_t lookup = layout.lookupOf(channel.symbol);
      layout.copyRows(s, c, responses[s], traffic.next[lookup].placesOf(s),
                      requests[lookup].rows);
    }
}

ExchangeCosts ServerClient::costsOf(const pdl_program &program) const {
  const auto found = traffics.find(int32_t(&program - descriptor.programs));
  if (found == traffics.end())
    return {};
  ExchangeCosts costs = found->second->costs();
  if (earlySender && found->second.get() == trained)
    costs.early = earlySender->costs();
  return costs;
}

Status ServerClient::beginPull(const RoundRequest &roundRequest) {
  const TraceSpan span("pull");
  Traffic &traffic = *trained;
  stopwatch.lap();
  route(traffic, roundRequest.next);
  ExchangeHead head;
  head.hasNextBatch = roundRequest.hasNextBatch;
  head.stopRequested = roundRequest.stop;
  head.allValues = roundRequest.first;
  head.keys = keyPacking;
  begin(MessageKind::Exchange, traffic,
        payloadsOf(traffic, head, /*sum=*/nullptr, /*norms=*/{},
                   /*withKeys=*/true));
  pullBegan = stopwatch.begin();
  return {};
}

Expected<RoundOutcome> ServerClient::endPull(const RoundRequest &roundRequest) {
  const TraceSpan span("pull");
  Traffic &traffic = *trained;
  stopwatch.lap();
  const double waitedBefore = traffic.metrics.wait.value();
  Expected<std::vector<ExchangeMessage>> responses =
      await(MessageKind::Exchange, traffic, ExchangeForm::State);
  if (!responses)
    return responses.status();
  BackgroundMetrics &background = traffic.background;
  background.pullWait += traffic.metrics.wait.value() - waitedBefore;
  background.pull +=
      std::chrono::duration<double>(servers.lastResponse() - pullBegan).count();
  takeState(traffic, roundRequest.next, *responses);
  RoundOutcome outcome;
  for (const ExchangeMessage &response : *responses)
    outcome.stop |= response.head().stopRequested;
  traffic.metrics.serialize += stopwatch.lap();
  return outcome;
}

Expected<RoundOutcome>
ServerClient::exchange(const RoundRequest &roundRequest) {
  const TraceSpan span("exchange");
  stopwatch.lap();
  const double waitedBefore = trained->metrics.wait.value();
  if (earlySender)
    PDLRT_RETURN_IF_ERROR(earlySender->endCompute());
  Expected<RoundOutcome> outcome = exchangeRound(*trained, roundRequest);
  trained->metrics.serialize += stopwatch.lap();
  if (earlySender)
    earlySender->endStep(/*contributed=*/roundRequest.sum != nullptr,
                         trained->metrics.wait.value() - waitedBefore);
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
                                                   RoundRequest roundRequest) {
  const ExchangeLayout &layout = traffic.layout;
  std::swap(traffic.current, traffic.next);
  route(traffic, roundRequest.next);
  std::vector<double> norms;
  if (roundRequest.sum && modeOf(descriptor).sendersFormNorms) {
    norms = ownNorms(descriptor, layout, *roundRequest.sum, traffic.current);
    if (modeOf(descriptor).sendersClip)
      roundRequest.sum = &clips.apply(layout, *roundRequest.sum, norms);
  }
  if (ownRules && !roundRequest.first)
    PDLRT_RETURN_IF_ERROR(ownRules->begin(roundRequest.sum));
  ExchangeHead head;
  head.withoutParameters = ownRules != nullptr;
  head.contributes = roundRequest.sum != nullptr;
  head.hasNextBatch = roundRequest.hasNextBatch;
  head.stopRequested = roundRequest.stop;
  head.saveRequested = roundRequest.save;
  head.allValues = roundRequest.first || requestsAllValues;
  head.keys = keyPacking;
  if (roundRequest.sum)
    sumWriter.begin(layout, *roundRequest.sum, head);
  // If the layout has Norm requests, a step has two requests, and the keys are
  // sent with the second one. The first request of a pass has no gradients;
  // then the Norm request is the only one.
  const bool withNorms = layout.hasNormRequest();
  RoundOutcome outcome;
  std::vector<ObjectiveSums> objectives;
  Expected<std::vector<ExchangeMessage>> responses =
      std::vector<ExchangeMessage>();
  if (!withNorms || !roundRequest.first) {
    {
      const TraceSpan span(roundRequest.sum ? "push" : "pull");
      begin(MessageKind::Exchange, traffic,
            payloadsOf(traffic, head, roundRequest.sum, norms,
                       /*withKeys=*/!withNorms));
    }
    responses = await(MessageKind::Exchange, traffic,
                      withNorms ? ExchangeForm::Sums : ExchangeForm::State);
    if (!responses)
      return responses.status();
    // The response to the first message of a step has the losses.
    const ExchangeMessage &first = responses->front();
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
          jointNorms(traffic, *responses, objectives);
      if (!joint)
        return joint.status();
      norms = std::move(*joint);
    }
    responses = send(MessageKind::Norm, traffic,
                     payloadsOf(traffic, head, /*sum=*/nullptr, norms,
                                /*withKeys=*/true),
                     ExchangeForm::State);
    if (!responses)
      return responses.status();
  }
  // All owners have applied the step.
  if (ownRules && !objectives.empty())
    PDLRT_RETURN_IF_ERROR(applyOwnRules(traffic, objectives, norms));
  {
    const TraceSpan span("pull");
    takeState(traffic, roundRequest.next, *responses);
  }
  const ExchangeMessage &first = responses->front();
  outcome.sendersWithNextBatch = first.head().contributors;
  for (const ExchangeMessage &response : *responses) {
    outcome.stop |= response.head().stopRequested;
    outcome.save |= response.head().saveRequested;
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
  const TraceSpan span("pull");
  stopwatch.lap();
  Status status = pullRows(**found, allValues, requests, unknown);
  (*found)->metrics.serialize += stopwatch.lap();
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
  Expected<std::vector<ExchangeMessage>> responses =
      send(MessageKind::Pull, traffic,
           payloadsOf(traffic, head, /*sum=*/nullptr, /*norms=*/{},
                      /*withKeys=*/true),
           ExchangeForm::State);
  if (!responses)
    return responses.status();
  takeState(traffic, requests, *responses);
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    if (layout.channel(c).kind != PDL_CHANNEL_KEYS)
      continue;
    const int32_t lookup = layout.lookupOf(layout.channel(c).symbol);
    for (int32_t s = 0; s < placement.serverCount(); ++s) {
      const std::span<const int32_t> places = traffic.next[lookup].placesOf(s);
      for (int64_t position : (*responses)[s].sectionOf<int64_t>(c))
        unknown[lookup][places[position]] = 1;
    }
  }
  return {};
}

Status pdlrt::sumOverTrainers(ServerGroup &servers, std::span<int64_t> counts,
                              std::span<double> sums) {
  // Only the first server adds up the numbers. The other servers take part
  // because a round includes all servers.
  ReduceVectors vectors;
  vectors.counts.assign(counts.begin(), counts.end());
  vectors.sums.assign(sums.begin(), sums.end());
  std::vector<Message> payloads = {encodeReduce(vectors)};
  payloads.resize(servers.size(), encodeReduce({}));
  Expected<std::vector<Message>> responses =
      servers.sendAll(MessageKind::Reduce, std::move(payloads));
  if (!responses)
    return responses.status();
  Expected<ReduceVectors> total = decodeReduce(responses->front());
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
