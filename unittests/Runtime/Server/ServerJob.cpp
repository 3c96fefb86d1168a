//===- ServerJob.cpp - Servers driven by payloads only --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServerJob.h"

#include "pdlrt/Abi/Descriptor.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

using namespace pdlrt;
using namespace pdlrt::test;

constexpr int32_t tables[2] = {BlockLazy, BlockAll};
constexpr int64_t widths[2] = {4, 2};

template <typename T>
ServerJob<T>::ServerJob(const BlockVariant &variant, int32_t serverCount,
                        uint32_t trainers, PlacementPolicy policy, int threads)
    : program(variant), scheduler(threads) {
  const Status status = checkDescriptor(&descriptor());
  EXPECT_TRUE(status.ok()) << status.message();
  placement = *Placement::compute(descriptor(), serverCount, 1, policy);
  for (int32_t p = 0; p < BlockPrograms; ++p)
    layouts.push_back(std::make_unique<ExchangeLayout>(
        *ExchangeLayout::create(descriptor(), p, *placement)));
  for (int32_t rank = 0; rank < serverCount; ++rank) {
    Handshake handshake = Handshake::of(descriptor(), *placement);
    handshake.serverRank = rank;
    handshake.trainers = trainers;
    handshake.seed = 5;
    auto server =
        createStateServer({descriptor(), *placement, handshake, scheduler,
                           SaveFolder(testing::TempDir())});
    EXPECT_TRUE(server.ok()) << server.status().message();
    fronts.push_back(server->get());
    servers.push_back(std::move(*server));
  }
  mirrors[BlockW].resize(900);
  mirrors[BlockB].resize(7);
  mirrors[BlockC].resize(260);
}

//===----------------------------------------------------------------------===//
// Requests of trainers
//===----------------------------------------------------------------------===//

template <typename T>
void ServerJob<T>::addKeys(int32_t server, const Gradients<T> &next,
                           int32_t channel, ExchangeWriter &writer) {
  for (int i = 0; i < 2; ++i) {
    if (layout(BlockTrain).channel(channel).symbol != tables[i])
      continue;
    KeyRouter router;
    router.assign(*placement, tables[i], int64_t(next.keys[i].size()),
                  next.keys[i].data());
    const auto keys = router.keysOf(server);
    writer.addCopy(channel, keys.data(), keys.size_bytes());
  }
}

template <typename T>
void ServerJob<T>::addGradients(int32_t server, const Gradients<T> &now,
                                ExchangeWriter &writer) {
  const ExchangeLayout &layout = *layouts[BlockTrain];
  writer.addBlocks(server, layout.find(PDL_CHANNEL_GRADIENT, BlockW),
                   now.w.data());
  writer.addBlocks(server, layout.find(PDL_CHANNEL_GRADIENT, BlockB),
                   now.b.data());
  for (int i = 0; i < 2; ++i) {
    KeyRouter router;
    router.assign(*placement, tables[i], int64_t(now.keys[i].size()),
                  now.keys[i].data());
    std::vector<T> sorted;
    for (int32_t place : router.placesOf(server))
      sorted.insert(sorted.end(), now.rows[i].begin() + place * widths[i],
                    now.rows[i].begin() + (place + 1) * widths[i]);
    writer.addCopy(layout.find(PDL_CHANNEL_ROW_GRADIENT, tables[i]),
                   sorted.data(), sorted.size() * sizeof(T));
  }
  const double loss[] = {now.loss, now.weight};
  writer.addCopy(layout.find(PDL_CHANNEL_LOSS, -1), loss, sizeof(loss));
}

template <typename T>
std::vector<Message> ServerJob<T>::exchange(const Gradients<T> &now,
                                            const Gradients<T> *next,
                                            bool allValues, double norm) {
  const ExchangeLayout &layout = *layouts[BlockTrain];
  const bool withKeys = next && next->present && !layout.hasNormRequest();
  std::vector<Message> payloads;
  for (size_t s = 0; s < size(); ++s) {
    ExchangeWriter writer(layout, {.contributes = now.present,
                                   .hasNextBatch = withKeys,
                                   .allValues = allValues});
    for (int32_t c = 0; c < layout.channelCount() && withKeys; ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_KEYS)
        addKeys(int32_t(s), *next, c, writer);
    if (now.present)
      addGradients(int32_t(s), now, writer);
    if (const int32_t c = layout.find(PDL_CHANNEL_NORM, 0);
        c >= 0 && now.present && !layout.hasNormRequest())
      writer.addCopy(c, &norm, sizeof(norm));
    payloads.push_back(writer.finish());
  }
  return payloads;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

template <typename T>
Status ServerJob<T>::round(MessageKind kind,
                           const std::vector<std::vector<Message>> &payloads,
                           std::vector<std::vector<Message>> &responses,
                           std::mt19937 &random) {
  std::vector<uint32_t> arrival(payloads.size());
  std::iota(arrival.begin(), arrival.end(), 0);
  responses.clear();
  for (size_t s = 0; s < size(); ++s) {
    StateServer &server = *servers[s];
    EXPECT_TRUE(server.roundPolicy().formsRounds(kind, {}));
    std::shuffle(arrival.begin(), arrival.end(), random);
    for (uint32_t t : arrival)
      PDLRT_RETURN_IF_ERROR(
          server.check({kind, t, 0, 1, 1, 0}, payloads[t][s]).status());
    std::vector<Envelope> heads;
    for (uint32_t t = 0; t < payloads.size(); ++t) {
      heads.push_back({kind, t, 0, 1, 1, 0});
      PDLRT_RETURN_IF_ERROR(
          server.take(heads.back(), payloads[t][s], Turn::InRound));
    }
    PDLRT_RETURN_IF_ERROR(server.closeRound(kind));
    Expected<std::vector<Message>> given = server.respond(heads);
    if (!given)
      return given.status();
    responses.push_back(std::move(*given));
  }
  return {};
}

template <typename T>
Expected<ExchangeMessage>
ServerJob<T>::open(const Message &response, ExchangeForm form, int32_t server,
                   const std::vector<int64_t> &counts) {
  const ExchangeLayout &layout = *layouts[BlockTrain];
  auto message = ExchangeMessage::decode(response, layout.channelCount());
  if (!message)
    return message.status();
  PDLRT_RETURN_IF_ERROR(layout.check(form, server, *message, counts));
  return message;
}

/// Sums in (symbol, unit) order, as one process does.
template <typename T>
double ServerJob<T>::jointNorm(const std::vector<ExchangeMessage> &sums) {
  const ExchangeLayout &layout = *layouts[BlockTrain];
  double joint = 0;
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const pdl_channel &channel = layout.channel(c);
    if (channel.kind != PDL_CHANNEL_PARTIAL_NORM)
      continue;
    std::map<int64_t, double> byUnit;
    for (size_t s = 0; s < size(); ++s) {
      auto partials = sums[s].sectionOf<double>(c).begin();
      for (const RowBlock &run : placement->rowsOf(channel.symbol, int(s)))
        for (int64_t row = 0; row < run.rowCount; row += 64)
          byUnit[(run.firstRow + row) / 64] = *partials++;
      if (descriptor().symbols[channel.symbol].kind == PDL_SYMBOL_TABLE)
        for (int64_t shard : placement->unitsOf(channel.symbol, int(s)))
          byUnit[shard] = *partials++;
      EXPECT_EQ(partials, sums[s].sectionOf<double>(c).end());
    }
    for (const auto &[unit, partial] : byUnit)
      joint += partial;
  }
  return joint;
}

template <typename T>
Status ServerJob<T>::take(const std::vector<Message> &responses,
                          const Gradients<T> *next) {
  const ExchangeLayout &layout = *layouts[BlockTrain];
  for (int i = 0; i < 2; ++i)
    rows[i].assign(next ? next->keys[i].size() * size_t(widths[i]) : 0, T());
  for (size_t s = 0; s < size(); ++s) {
    KeyRouter routers[2];
    std::vector<int64_t> counts(layout.channelCount());
    for (int i = 0; i < 2; ++i) {
      routers[i].assign(*placement, tables[i],
                        next ? int64_t(next->keys[i].size()) : 0,
                        next ? next->keys[i].data() : nullptr);
      counts[layout.find(PDL_CHANNEL_ROWS, tables[i])] =
          int64_t(routers[i].keysOf(int(s)).size());
    }
    Expected<ExchangeMessage> message =
        open(responses[s], ExchangeForm::State, int(s), counts);
    if (!message)
      return message.status();
    for (int32_t symbol : {BlockW, BlockB, BlockC})
      layout.copyBlocks(int(s), layout.find(PDL_CHANNEL_VALUE, symbol),
                        *message, mirrors[symbol].data());
    for (int i = 0; i < 2; ++i) {
      const auto values = message->template sectionOf<T>(
          layout.find(PDL_CHANNEL_ROWS, tables[i]));
      const auto places = routers[i].placesOf(int(s));
      for (size_t k = 0; k < places.size(); ++k)
        std::copy_n(values.begin() + ptrdiff_t(k) * widths[i], widths[i],
                    rows[i].begin() + places[k] * widths[i]);
    }
    contributors = message->head().contributors;
    wantsSave = message->head().saveRequested;
    const auto loss =
        message->template sectionOf<double>(layout.find(PDL_CHANNEL_LOSS, -1));
    if (!loss.empty()) {
      lossSum = loss[0];
      weightSum = loss[1];
    }
  }
  return {};
}

template <typename T>
Status ServerJob<T>::step(const std::vector<Gradients<T>> &gradients,
                          const std::vector<Gradients<T>> &next,
                          std::mt19937 &random) {
  const ExchangeLayout &layout = *layouts[BlockTrain];
  const size_t trainers = std::max(gradients.size(), next.size());
  const Gradients<T> nothing;
  auto at = [&](const std::vector<Gradients<T>> &list,
                size_t t) -> const Gradients<T> & {
    return list.empty() ? nothing : list[t];
  };
  const bool isFirst = gradients.empty();
  std::vector<std::vector<Message>> payloads, responses;
  bool contributed = false;
  std::vector<double> norm;
  if (!layout.hasNormRequest() || !isFirst) {
    for (size_t t = 0; t < trainers; ++t)
      payloads.push_back(exchange(at(gradients, t), &at(next, t), isFirst));
    PDLRT_RETURN_IF_ERROR(
        round(MessageKind::Exchange, payloads, responses, random));
  }
  if (layout.hasNormRequest()) {
    if (!isFirst) {
      std::vector<ExchangeMessage> sums;
      for (size_t s = 0; s < size(); ++s) {
        auto message = open(responses[s][0], ExchangeForm::Sums, int(s), {});
        if (!message)
          return message.status();
        contributed = message->head().contributes;
        if (contributed) {
          const auto loss = message->template sectionOf<double>(
              layout.find(PDL_CHANNEL_LOSS, -1));
          lossSum = loss[0];
          weightSum = loss[1];
        }
        sums.push_back(std::move(*message));
      }
      if (contributed)
        norm.push_back(jointNorm(sums));
    }
    payloads.assign(trainers, {});
    for (size_t t = 0; t < trainers; ++t)
      for (size_t s = 0; s < size(); ++s) {
        ExchangeWriter writer(layout, {.contributes = contributed,
                                       .hasNextBatch = at(next, t).present,
                                       .allValues = isFirst});
        for (int32_t c = 0; c < layout.channelCount(); ++c) {
          if (layout.channel(c).kind == PDL_CHANNEL_KEYS && at(next, t).present)
            addKeys(int(s), at(next, t), c, writer);
          if (layout.channel(c).kind == PDL_CHANNEL_NORM && contributed)
            writer.addCopy(c, norm.data(), sizeof(double));
        }
        payloads[t].push_back(writer.finish());
      }
    PDLRT_RETURN_IF_ERROR(
        round(MessageKind::Norm, payloads, responses, random));
  }
  std::vector<Message> first;
  for (const std::vector<Message> &ofServer : responses)
    first.push_back(ofServer[0]);
  return take(first, at(next, 0).present ? &at(next, 0) : nullptr);
}

template <typename T>
Status ServerJob<T>::asyncStep(uint32_t trainer, const Gradients<T> &gradients,
                               const Gradients<T> *next) {
  return asyncExchange(trainer, gradients, next, !gradients.present);
}

template <typename T>
Status ServerJob<T>::asyncExchange(uint32_t trainer,
                                   const Gradients<T> &gradients,
                                   const Gradients<T> *next, bool allValues) {
  const std::vector<Message> payloads = exchange(gradients, next, allValues);
  std::vector<Message> responses;
  const uint64_t sequence = ++sequences[trainer];
  for (size_t s = 0; s < size(); ++s) {
    const Envelope head = {MessageKind::Exchange, trainer, 1, 1, sequence, 0};
    const Expected<StepFacts> facts = fronts[s]->check(head, payloads[s]);
    if (!facts)
      return facts.status();
    EXPECT_FALSE(
        fronts[s]->roundPolicy().formsRounds(MessageKind::Exchange, *facts));
    PDLRT_RETURN_IF_ERROR(fronts[s]->take(head, payloads[s], Turn::Alone));
    Expected<std::vector<Message>> given = fronts[s]->respond({&head, 1});
    if (!given)
      return given.status();
    responses.push_back(std::move(given->front()));
  }
  return take(responses, next && next->present ? next : nullptr);
}

template <typename T>
Status ServerJob<T>::asyncPush(uint32_t trainer, const Gradients<T> &gradients,
                               uint32_t steps, double norm, uint32_t sender) {
  const ExchangeLayout &layout = *layouts[BlockTrain];
  const uint64_t sequence = ++sequences[trainer];
  for (size_t s = 0; s < size(); ++s) {
    ExchangeWriter writer(
        layout, {.contributes = true, .ownKeys = true, .steps = steps});
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_KEYS)
        addKeys(int32_t(s), gradients, c, writer);
    addGradients(int32_t(s), gradients, writer);
    if (const int32_t c = layout.find(PDL_CHANNEL_NORM, 0); c >= 0)
      writer.addCopy(c, &norm, sizeof(norm));
    const Message payload = writer.finish();
    const Envelope head = {
        MessageKind::Exchange, trainer, sender, 1, sequence, 0};
    PDLRT_RETURN_IF_ERROR(fronts[s]->check(head, payload).status());
    PDLRT_RETURN_IF_ERROR(fronts[s]->take(head, payload, Turn::Alone));
    Expected<std::vector<Message>> given = fronts[s]->respond({&head, 1});
    if (!given)
      return given.status();
    auto message = open(given->front(), ExchangeForm::State, int32_t(s),
                        std::vector<int64_t>(layout.channelCount()));
    if (!message)
      return message.status();
    // Values are pulled separately. This response only confirms the push.
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      EXPECT_EQ(message->sectionSize(c), 0U) << "channel " << c;
  }
  return {};
}

template <typename T>
std::vector<Gradients<T>> test::randomGradients(uint32_t trainers,
                                                std::mt19937 &random) {
  std::vector<Gradients<T>> result(trainers);
  std::uniform_real_distribution<float> number(-1, 1);
  for (Gradients<T> &each : result) {
    each.present = random() % 5 != 0;
    each.loss = number(random);
    each.weight = random() % 6 == 0 ? 0 : 0.5 + double(random() % 8);
    auto fill = [&](std::vector<T> &values, size_t count) {
      values.resize(count);
      for (T &value : values)
        value = T(number(random));
    };
    fill(each.w, 900);
    fill(each.b, 7);
    for (int i = 0; i < 2; ++i) {
      // Some keys occur at all trainers, some only once.
      for (int64_t key = 0; key < 40; ++key)
        if (random() % 3 == 0)
          each.keys[i].push_back(key * 977 - 13);
      for (int k = 0; k < 30; ++k)
        each.keys[i].push_back(int64_t(random()) * 4 + 1000000);
      std::sort(each.keys[i].begin(), each.keys[i].end());
      each.keys[i].erase(std::unique(each.keys[i].begin(), each.keys[i].end()),
                         each.keys[i].end());
      std::shuffle(each.keys[i].begin(), each.keys[i].end(), random);
      fill(each.rows[i], each.keys[i].size() * size_t(widths[i]));
    }
  }
  return result;
}

template class pdlrt::test::ServerJob<float>;
template class pdlrt::test::ServerJob<double>;
template std::vector<Gradients<float>>
test::randomGradients<float>(uint32_t, std::mt19937 &);
template std::vector<Gradients<double>>
test::randomGradients<double>(uint32_t, std::mt19937 &);
