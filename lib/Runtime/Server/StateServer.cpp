//===- StateServer.cpp - The state that a server owns ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/StateServer.h"

#include "Server/Modes.h"
#include "pdlrt/Core/Descriptor.h"
#include "pdlrt/Trainer/BatchContext.h"
#include "pdlrt/Trainer/ModelCheckpoint.h"
#include "pdlrt/Trainer/ServerCheckpoint.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>

using namespace pdlrt;

/// Keys that one task looks up or copies.
static constexpr int64_t keysInTask = 1024;

StateServer::~StateServer() = default;

StateServer::StateServer(const ServerSetup &setup)
    : descriptor(setup.descriptor), placement(setup.placement),
      scheduler(setup.scheduler),
      ownModel(setup.descriptor, setup.handshake.seed, setup.placement,
               int32_t(setup.handshake.serverRank)),
      own(setup.handshake), reduced(size_t(setup.handshake.trainers)) {}

Status StateServer::prepare() {
  for (int32_t p = 0; p < descriptor.program_count; ++p) {
    const pdl_program &program = descriptor.programs[p];
    Expected<ExchangeLayout> layout =
        ExchangeLayout::create(descriptor, p, placement);
    if (!layout)
      return layout.status();
    layouts.push_back(std::move(*layout));
    blocks.push_back(gradientBlocks(descriptor, program));
    for (GradientBlock &block : blocks.back())
      if (!block.isTable)
        block.elementCount = ownModel.heldElements(block.symbol);
    updaters.push_back(
        program.update_count > 0
            ? std::make_unique<Updater>(ownModel, program, scheduler)
            : nullptr);
  }
  return {};
}

Expected<std::unique_ptr<StateServer>>
pdlrt::createStateServer(const ServerSetup &setup) {
  return setup.descriptor.mode == PDL_MODE_ASYNC ? createAsyncServer(setup)
                                                 : createSyncServer(setup);
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

Expected<Message> StateServer::join(const Envelope &request,
                                    const Message &payload) {
  Expected<Handshake> trainer = decodeHandshake(payload);
  if (!trainer)
    return trainer.status();
  PDLRT_RETURN_IF_ERROR(compareHandshakes(*trainer, own));
  // The first trainer says what the others must have too.
  if (own.workers == 0)
    own.workers = trainer->workers;
  return encodeHandshake(own);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

static bool isOfStep(MessageKind kind) {
  return kind == MessageKind::Exchange || kind == MessageKind::Norm;
}

void StateServer::beginRequest(const Message &payload) {
  stopwatch.lap();
  lastRequest = stopwatch.begin();
  if (ownCosts.messages == 0) {
    firstRequest = lastRequest;
    cpuBefore = processCpuSeconds();
  }
  ++ownCosts.messages;
  ownCosts.bytesReceived += int64_t(envelopeSize + payload.size());
}

void StateServer::endRequest(const std::vector<Message> &answers) {
  ownCosts.answer += stopwatch.lap();
  auto since = [this](Stopwatch::Time begin) {
    return std::chrono::duration<double>(stopwatch.begin() - begin).count();
  };
  ownCosts.closing += since(lastRequest);
  ownCosts.elapsed = since(firstRequest);
  ownCosts.cpu = processCpuSeconds() - cpuBefore;
  for (const Message &answer : answers)
    ownCosts.bytesSent += int64_t(envelopeSize + answer.size());
}

Status StateServer::check(const Envelope &request, const Message &payload) {
  if (!isOfStep(request.kind))
    return checkPayload(request, payload);
  beginRequest(payload);
  Status status = checkPayload(request, payload);
  ownCosts.check += stopwatch.lap();
  return status;
}

Status StateServer::checkPayload(const Envelope &request,
                                 const Message &payload) {
  ExchangeForm form;
  switch (request.kind) {
  case MessageKind::Reduce:
    return checkReduce(request, payload);
  case MessageKind::Save:
    return checkSave(request, payload);
  case MessageKind::Exchange:
    form = ExchangeForm::Exchange;
    break;
  case MessageKind::Norm:
    form = ExchangeForm::Norm;
    break;
  case MessageKind::Pull:
    form = ExchangeForm::Pull;
    break;
  default:
    return Status::invalid(std::string("this server takes no ") +
                           nameOf(request.kind));
  }
  Expected<uint32_t> program = ExchangeMessage::programOf(payload);
  if (!program)
    return program.status();
  if (*program >= layouts.size())
    return Status::invalid("the payload is damaged: there is no program " +
                           std::to_string(*program));
  const ExchangeLayout &layout = layouts[*program];
  Expected<ExchangeMessage> message =
      ExchangeMessage::decode(payload, layout.channelCount());
  if (!message)
    return message.status();
  if (form == ExchangeForm::Pull)
    return layout.check(form, rank(), *message, {});
  if (layout.program().frozen)
    return Status::invalid(std::string("program @") + layout.program().name +
                           " is frozen and has no steps");
  return checkStep(request, std::move(*message), layout);
}

Message StateServer::handle(const Envelope &request, Message payload) {
  if (request.kind == MessageKind::Save)
    return save(payload.toString());
  if (request.kind != MessageKind::Pull) {
    std::vector<Message> answer = {handleStep(request)};
    endRequest(answer);
    return std::move(answer.front());
  }
  // It has passed `check`.
  const ExchangeLayout &layout = layouts[*ExchangeMessage::programOf(payload)];
  return pull(*ExchangeMessage::decode(payload, layout.channelCount()), layout);
}

void StateServer::contribute(const Envelope &, Message) {}

Expected<std::vector<Message>> StateServer::closeRound(MessageKind kind) {
  try {
    if (kind == MessageKind::Reduce)
      return closeReduce();
    Expected<std::vector<Message>> answers = closeStep(kind);
    if (answers)
      endRequest(*answers);
    return answers;
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  }
}

Status StateServer::outOfMemory() const {
  return Status::outOfMemory(
      "server " + std::to_string(rank()) +
      " is out of memory; use more servers, or machines with more memory");
}

//===----------------------------------------------------------------------===//
// Keys and rows
//===----------------------------------------------------------------------===//

std::vector<int64_t> StateServer::pushedRows(const ExchangeLayout &layout,
                                             const Pulled &pulled) const {
  std::vector<int64_t> counts(layout.channelCount());
  if (pulled.program != layout.programIndex())
    return counts;
  for (int32_t c = 0; c < layout.channelCount(); ++c)
    if (layout.channel(c).kind == PDL_CHANNEL_ROW_GRADIENT)
      counts[c] = pulled.keyCount(layout.keysOf(c));
  return counts;
}

int32_t StateServer::updateOf(const ExchangeLayout &layout,
                              int32_t symbol) const {
  const pdl_program &program = layout.program();
  for (int32_t i = 0; i < program.update_count; ++i)
    if (program.updates[i].symbol == symbol)
      return i;
  return -1;
}

void StateServer::splitKeys(const std::vector<Pulled *> &senders) {
  keyTasks.clear();
  for (size_t s = 0; s < senders.size(); ++s) {
    const Pulled &pulled = *senders[s];
    if (pulled.program < 0)
      continue;
    const ExchangeLayout &layout = layouts[pulled.program];
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      if (layout.channel(c).kind != PDL_CHANNEL_KEYS)
        continue;
      const int64_t count = pulled.keyCount(c);
      for (int64_t begin = 0; begin < count; begin += keysInTask)
        keyTasks.push_back(
            {s, c, begin, std::min(count, begin + keysInTask), false, {}});
    }
  }
}

Status StateServer::insertKeys(const std::vector<Pulled *> &senders) {
  for (Pulled *pulled : senders) {
    if (pulled->program < 0)
      continue;
    const ExchangeLayout &layout = layouts[pulled->program];
    pulled->rows.resize(layout.channelCount());
    pulled->fresh.resize(layout.channelCount());
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_KEYS)
        pulled->rows[c].resize(pulled->keyCount(c));
  }
  splitKeys(senders);
  if (scratch.size() < keyTasks.size())
    scratch.resize(keyTasks.size());
  statuses.assign(keyTasks.size(), Status());
  for (KeyTask &task : keyTasks) {
    const ExchangeLayout &layout = layouts[senders[task.sender]->program];
    const pdl_symbol &table =
        descriptor.symbols[layout.channel(task.channel).symbol];
    task.noteFresh =
        table.group >= 0 &&
        descriptor.groups[table.group].untouched == PDL_UNTOUCHED_DENSE;
  }
  scheduler.parallelFor(int64_t(keyTasks.size()), [&](int64_t index) {
    KeyTask &task = keyTasks[index];
    insertRange(task, *senders[task.sender], scratch[index], statuses[index]);
  });
  for (const KeyTask &task : keyTasks) {
    std::vector<TableRow> &fresh = senders[task.sender]->fresh[task.channel];
    fresh.insert(fresh.end(), task.fresh.begin(), task.fresh.end());
  }
  for (Status &status : statuses)
    if (!status.ok())
      return std::move(status);
  return {};
}

void StateServer::insertRange(KeyTask &task, Pulled &pulled, TableScratch &own,
                              Status &status) {
  const ExchangeLayout &layout = layouts[pulled.program];
  EmbeddingTable &table = *ownModel.table(layout.channel(task.channel).symbol);
  const int64_t count = task.end - task.begin;
  const int64_t *keys =
      pulled.message->sectionOf<int64_t>(task.channel).data() + task.begin;
  void **rows = pulled.rows[task.channel].data() + task.begin;
  int64_t inserted = 0;
  try {
    std::vector<int64_t> unknown;
    if (task.noteFresh && table.find(count, keys, rows, own) > 0)
      for (int64_t i = 0; i < count; ++i)
        if (!rows[i])
          unknown.push_back(i);
    status = table.findOrInsert(count, keys, rows, own, inserted);
    for (int64_t i : unknown)
      task.fresh.push_back({keys[i], rows[i]});
  } catch (const std::bad_alloc &) {
    status = Status::outOfMemory("a server is out of memory for rows of @" +
                                 table.options().name +
                                 "; use more servers, or machines with more "
                                 "memory");
  }
}

void StateServer::renewRows(const Pulled &pulled) {
  for (size_t c = 0; c < pulled.fresh.size(); ++c)
    for (const TableRow &row : pulled.fresh[c])
      ownModel.table(layouts[pulled.program].channel(int32_t(c)).symbol)
          ->initialRow(row.key, row.row);
}

Contribution StateServer::contributionOf(const ExchangeLayout &layout,
                                         const ExchangeMessage &message,
                                         Pulled &pulled) {
  Contribution part;
  part.present = message.head().contributes;
  part.blocks.resize(layout.program().update_count);
  if (!part.present)
    return part;
  const auto loss =
      message.sectionOf<double>(layout.find(PDL_CHANNEL_LOSS, -1));
  part.lossSum = loss[0];
  part.weightSum = loss[1];
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const pdl_channel &channel = layout.channel(c);
    if (channel.kind == PDL_CHANNEL_GRADIENT)
      part.blocks[updateOf(layout, channel.symbol)].dense =
          message.section(c).data();
    if (channel.kind != PDL_CHANNEL_ROW_GRADIENT)
      continue;
    const int32_t keysChannel = layout.keysOf(c);
    const auto keys = pulled.message->sectionOf<int64_t>(keysChannel);
    BlockGradient &block = part.blocks[updateOf(layout, channel.symbol)];
    block.keyCount = int64_t(keys.size());
    block.keys = keys.data();
    block.rows = pulled.rows[keysChannel].data();
    std::vector<void *> &pointers = pulled.rows[c];
    pointers.resize(keys.size());
    const size_t rowBytes = layout.sectionBytes(rank(), c);
    auto *base = const_cast<std::byte *>(message.section(c).data());
    for (size_t i = 0; i < keys.size(); ++i)
      pointers[i] = base + i * rowBytes;
    block.gradients = const_cast<const void *const *>(pointers.data());
  }
  return part;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

void StateServer::addValues(const ExchangeLayout &layout, int32_t channel,
                            Snapshot &snapshot, ExchangeWriter &writer) {
  const int32_t symbol = layout.channel(channel).symbol;
  const size_t bytes = layout.sectionBytes(rank(), channel);
  if (!snapshot[symbol]) {
    snapshot[symbol] = pool.take(bytes);
    if (bytes > 0)
      std::memcpy(snapshot[symbol].get(), ownModel.value(symbol), bytes);
  }
  writer.add(channel, snapshot[symbol].get(), bytes, snapshot[symbol]);
}

std::vector<Message> StateServer::answerState(
    const ExchangeLayout &layout, const std::vector<Pulled *> &senders,
    const std::vector<bool> &allValues, const StepOutcome &outcome) {
  // Rows first, all at once.
  std::vector<std::vector<std::shared_ptr<std::byte>>> rows(senders.size());
  for (size_t s = 0; s < senders.size(); ++s) {
    rows[s].resize(layout.channelCount());
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_ROWS &&
          senders[s]->program >= 0)
        rows[s][layout.keysOf(c)] =
            pool.take(size_t(senders[s]->keyCount(layout.keysOf(c))) *
                      layout.sectionBytes(rank(), c));
  }
  splitKeys(senders);
  scheduler.parallelFor(int64_t(keyTasks.size()), [&](int64_t index) {
    const KeyTask &task = keyTasks[index];
    const Pulled &pulled = *senders[task.sender];
    const EmbeddingTable &table =
        *ownModel.table(layout.channel(task.channel).symbol);
    std::byte *out = rows[task.sender][task.channel].get();
    if (!out)
      return;
    const size_t bytes = table.valueBytes();
    for (int64_t i = task.begin; i < task.end; ++i)
      std::memcpy(out + size_t(i) * bytes, pulled.rows[task.channel][i], bytes);
  });

  Snapshot snapshot(descriptor.symbol_count);
  std::vector<Message> answers;
  for (size_t s = 0; s < senders.size(); ++s) {
    ExchangeHead head;
    head.contributes = outcome.merged != nullptr;
    head.stopRequested = outcome.stop;
    head.allValues = allValues[s];
    head.contributors = outcome.contributors;
    ExchangeWriter writer(layout, head);
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      const pdl_channel &channel = layout.channel(c);
      if (channel.kind == PDL_CHANNEL_VALUE &&
          (head.allValues ||
           (outcome.applied && updateOf(layout, channel.symbol) >= 0)))
        addValues(layout, c, snapshot, writer);
      if (channel.kind == PDL_CHANNEL_LOSS && outcome.merged) {
        const double loss[] = {outcome.merged->lossSum,
                               outcome.merged->weightSum};
        writer.addCopy(c, loss, sizeof(loss));
      }
      if (channel.kind == PDL_CHANNEL_ROWS && senders[s]->program >= 0) {
        const std::shared_ptr<std::byte> &buffer = rows[s][layout.keysOf(c)];
        writer.add(c, buffer.get(),
                   size_t(senders[s]->keyCount(layout.keysOf(c))) *
                       layout.sectionBytes(rank(), c),
                   buffer);
      }
    }
    answers.push_back(writer.finish());
  }
  return answers;
}

Message StateServer::pull(const ExchangeMessage &message,
                          const ExchangeLayout &layout) {
  const int32_t channels = layout.channelCount();
  std::vector<std::vector<int64_t>> unknown(channels);
  std::vector<std::shared_ptr<std::byte>> rows(channels);
  for (int32_t c = 0; c < channels; ++c) {
    if (layout.channel(c).kind != PDL_CHANNEL_ROWS)
      continue;
    const int32_t keysChannel = layout.keysOf(c);
    const int32_t symbol = layout.channel(c).symbol;
    const EmbeddingTable &table = *ownModel.table(symbol);
    const bool zero = descriptor.symbols[symbol].unknown == PDL_UNKNOWN_ZERO;
    const auto keys = message.sectionOf<int64_t>(keysChannel);
    const auto count = int64_t(keys.size());
    const size_t bytes = table.valueBytes();
    rows[c] = pool.take(keys.size() * bytes);
    std::vector<void *> found(keys.size());
    const int64_t tasks = (count + keysInTask - 1) / keysInTask;
    if (scratch.size() < size_t(tasks))
      scratch.resize(tasks);
    scheduler.parallelFor(tasks, [&](int64_t task) {
      const int64_t begin = task * keysInTask;
      const int64_t end = std::min(count, begin + keysInTask);
      table.find(end - begin, keys.data() + begin, found.data() + begin,
                 scratch[task]);
      for (int64_t i = begin; i < end; ++i) {
        std::byte *out = rows[c].get() + size_t(i) * bytes;
        if (found[i])
          std::memcpy(out, found[i], bytes);
        else if (zero)
          std::memset(out, 0, bytes);
        else
          table.initialValue(keys[i], out);
      }
    });
    for (int64_t i = 0; i < count; ++i)
      if (!found[i])
        unknown[keysChannel].push_back(i);
  }
  ExchangeHead head;
  head.allValues = message.head().allValues;
  Snapshot snapshot(descriptor.symbol_count);
  ExchangeWriter writer(layout, head);
  for (int32_t c = 0; c < channels; ++c) {
    const int32_t kind = layout.channel(c).kind;
    if (kind == PDL_CHANNEL_VALUE && head.allValues)
      addValues(layout, c, snapshot, writer);
    if (kind == PDL_CHANNEL_KEYS)
      writer.addCopy(c, unknown[c].data(), unknown[c].size() * sizeof(int64_t));
    if (kind == PDL_CHANNEL_ROWS)
      writer.add(c, rows[c].get(),
                 message.section(layout.keysOf(c)).size() / sizeof(int64_t) *
                     layout.sectionBytes(rank(), c),
                 rows[c]);
  }
  return writer.finish();
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

Status StateServer::checkSave(const Envelope &request,
                              const Message &payload) const {
  constexpr size_t longestPath = 4096;
  if (request.trainer != 0 || request.worker != 0)
    return Status::invalid("checkpoints are written for trainer 0 alone");
  if (payload.size() == 0 || payload.size() > longestPath)
    return Status::invalid("a request to save names no folder");
  return {};
}

Message StateServer::save(const std::string &folder) {
  const std::string who = "server " + std::to_string(rank());
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    return encodeSaved(
        Status::invalid(who + " does not see the folder " + folder +
                        "; give a folder that all processes of the job share"));
  try {
    CheckpointWriter writer = CheckpointWriter::into(folder);
    Status status = saveParts(
        ownModel, "dense-" + std::to_string(rank()) + ".safetensors", writer);
    if (!status.ok())
      return encodeSaved(std::move(status).withContext(who));
    CheckpointManifest manifest;
    describeModel(ownModel, manifest);
    manifest.parts = writer.addedParts();
    return encodeSaved(std::move(manifest));
  } catch (const std::bad_alloc &) {
    return encodeSaved(Status::outOfMemory(who + " is out of memory for the "
                                                 "parts of a checkpoint"));
  }
}

//===----------------------------------------------------------------------===//
// Sums over trainers
//===----------------------------------------------------------------------===//

Status StateServer::checkReduce(const Envelope &request,
                                const Message &payload) {
  Expected<ReduceVectors> vectors = decodeReduce(payload);
  if (!vectors)
    return vectors.status();
  for (uint32_t other = 0; other < trainers(); ++other)
    if (reduced[other] && other != request.trainer &&
        (reduced[other]->counts.size() != vectors->counts.size() ||
         reduced[other]->sums.size() != vectors->sums.size()))
      return Status::invalid(
          "trainer " + std::to_string(request.trainer) + " gives " +
          std::to_string(vectors->counts.size()) + " counts and " +
          std::to_string(vectors->sums.size()) + " sums, trainer " +
          std::to_string(other) + " " +
          std::to_string(reduced[other]->counts.size()) + " and " +
          std::to_string(reduced[other]->sums.size()) +
          ": start all trainers with the same flags");
  reduced[request.trainer] = std::move(*vectors);
  return {};
}

std::vector<Message> StateServer::closeReduce() {
  ReduceVectors sum = std::move(*reduced[0]);
  for (uint32_t other = 1; other < trainers(); ++other) {
    for (size_t i = 0; i < sum.counts.size(); ++i)
      // Wraps where the sum has no room, instead of being undefined.
      sum.counts[i] = int64_t(uint64_t(sum.counts[i]) +
                              uint64_t(reduced[other]->counts[i]));
    for (size_t i = 0; i < sum.sums.size(); ++i)
      sum.sums[i] += reduced[other]->sums[i];
  }
  for (std::optional<ReduceVectors> &vectors : reduced)
    vectors.reset();
  return std::vector<Message>(trainers(), encodeReduce(sum));
}
