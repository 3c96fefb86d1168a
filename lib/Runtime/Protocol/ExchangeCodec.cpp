//===- ExchangeCodec.cpp - Encodes and decodes payloads of a step ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ExchangeCodec.h"

#include "Transport/SliceReader.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

using namespace pdlrt;

static_assert(std::endian::native == std::endian::little,
              "payloads are little-endian and are not converted");

namespace {

enum Flags : uint32_t {
  Contributes = 1,
  HasNextBatch = 2,
  StopRequested = 4,
  AllValues = 8,
  KeysAsDeltas = 16,
  GradientsInBFloat16 = 32,
  GradientsInInt8 = 64,
  OwnKeys = 128,
  WithoutParameters = 256,
  SaveRequested = 512,
  KnownFlags = 1023,
};

/// First bytes of the encoded payload. The size of each channel follows.
struct WireHead {
  uint32_t flags, program;
  /// `contributors`, or `steps` if OwnKeys is set.
  uint32_t count;
  uint32_t channelCount;
};
constexpr size_t wireHeadWords = sizeof(WireHead) / sizeof(uint64_t);

} // namespace

static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

static Status damaged(const std::string &what) {
  return Status::dataLoss("the payload is damaged: " + what +
                          "; are all programs of this job of one version?");
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static Status readWireHead(SliceReader &reader, WireHead &head) {
  if (reader.left() < sizeof(head))
    return damaged("it has " + std::to_string(reader.left()) +
                   " bytes, and its head alone has " +
                   std::to_string(sizeof(head)));
  reader.copy(&head, sizeof(head));
  return {};
}

Expected<uint32_t> ExchangeMessage::programOf(const Message &payload) {
  SliceReader reader(payload);
  WireHead head;
  PDLRT_RETURN_IF_ERROR(readWireHead(reader, head));
  return head.program;
}

Expected<ExchangeMessage>
ExchangeMessage::decode(const Message &payload, int32_t channelCount,
                        const std::vector<bool> &scattered) {
  SliceReader reader(payload);
  WireHead head;
  PDLRT_RETURN_IF_ERROR(readWireHead(reader, head));
  if (head.channelCount != uint32_t(channelCount))
    return damaged("it has " + std::to_string(head.channelCount) +
                   " channels instead of " + std::to_string(channelCount));
  if (head.flags & ~uint32_t(KnownFlags))
    return damaged("it has unknown flags");
  std::vector<uint64_t> sizes(channelCount);
  if (reader.left() < sizes.size() * sizeof(uint64_t))
    return damaged("the sizes of its channels are cut off");
  if (channelCount > 0)
    reader.copy(sizes.data(), sizes.size() * sizeof(uint64_t));
  size_t left = reader.left();
  for (uint64_t size : sizes) {
    if (size > left || padded(size) > left)
      return damaged("a section of " + std::to_string(size) +
                     " bytes passes its end");
    left -= padded(size);
  }
  if (left != 0)
    return damaged(std::to_string(left) + " bytes follow its last section");

  ExchangeMessage message;
  message.start.contributes = head.flags & Contributes;
  message.start.hasNextBatch = head.flags & HasNextBatch;
  message.start.stopRequested = head.flags & StopRequested;
  message.start.saveRequested = head.flags & SaveRequested;
  message.start.allValues = head.flags & AllValues;
  if (head.flags & KeysAsDeltas)
    message.start.keys = KeyPacking::Delta;
  if ((head.flags & GradientsInBFloat16) && (head.flags & GradientsInInt8))
    return damaged("its gradients are packed in two ways");
  if (head.flags & GradientsInBFloat16)
    message.start.gradients = GradientPacking::BFloat16;
  if (head.flags & GradientsInInt8)
    message.start.gradients = GradientPacking::Int8;
  message.start.program = head.program;
  message.start.ownKeys = head.flags & OwnKeys;
  message.start.withoutParameters = head.flags & WithoutParameters;
  if (message.start.ownKeys)
    message.start.steps = head.count;
  else
    message.start.contributors = head.count;
  message.kept = payload;
  message.copies.reserve(sizes.size());
  for (size_t c = 0; c < sizes.size(); ++c) {
    message.begins.push_back(payload.size() - reader.left());
    message.pieceSplits.push_back(message.pieces.size());
    if (c < scattered.size() && scattered[c]) {
      message.sections.emplace_back();
      reader.takePieces(sizes[c], message.pieces);
    } else {
      message.sections.push_back(reader.take(sizes[c], message.copies));
    }
    reader.skip(padded(sizes[c]) - sizes[c]);
  }
  message.pieceSplits.push_back(message.pieces.size());
  message.sizes = std::move(sizes);
  return message;
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static bool bringsRows(pdl_channel_kind kind) {
  return kind == PDL_CHANNEL_ROWS || kind == PDL_CHANNEL_ROW_GRADIENT ||
         kind == PDL_CHANNEL_ROW_DELTA;
}

Expected<ExchangeLayout>
ExchangeLayout::create(const pdl_descriptor &descriptor, int32_t program,
                       const Placement &placement) {
  ExchangeLayout layout;
  layout.descriptor = &descriptor;
  layout.map = &placement;
  layout.index = program;
  const pdl_program &of = descriptor.programs[program];
  layout.numberOnWire = uint32_t(std::count_if(
      descriptor.programs, descriptor.programs + program,
      [](const pdl_program &before) { return before.channel_count > 0; }));
  for (int32_t c = 0; c < of.channel_count; ++c)
    layout.withDeltas |= of.channels[c].kind == PDL_CHANNEL_DELTA ||
                         of.channels[c].kind == PDL_CHANNEL_ROW_DELTA;
  auto broken = [&](const std::string &what) {
    return Status::internal("program @" + std::string(of.name) + " has " +
                            what);
  };
  for (int32_t c = 0; c < of.channel_count; ++c) {
    const pdl_channel &channel = of.channels[c];
    const auto kind = pdl_channel_kind(channel.kind);
    const int32_t owner =
        kind == PDL_CHANNEL_NORM ? channel.clip : channel.symbol;
    // All kinds except LOSS have at most one channel per symbol or clip. LOSS
    // has one per objective.
    if (kind != PDL_CHANNEL_LOSS && layout.find(kind, owner) != c)
      return broken("two channels of one kind for one symbol");
    layout.withNormRequest |= kind == PDL_CHANNEL_PARTIAL_NORM;
    const bool isRows = bringsRows(kind);
    const int32_t keys =
        isRows ? layout.find(kind == PDL_CHANNEL_ROWS && layout.withDeltas
                                 ? PDL_CHANNEL_CHANGED_KEYS
                                 : PDL_CHANNEL_KEYS,
                             channel.symbol)
               : -1;
    if (isRows && keys < 0)
      return broken("rows of a table without its keys");
    layout.keysChannels.push_back(keys);
    // Sections of these channels may stay in several pieces of memory. In mode
    // geo they may not, because the local copy is updated with contiguous
    // numbers.
    layout.scatteredChannels.push_back(!layout.withDeltas &&
                                       (kind == PDL_CHANNEL_VALUE ||
                                        kind == PDL_CHANNEL_ROWS ||
                                        kind == PDL_CHANNEL_GRADIENT));
  }
  return layout;
}

int32_t ExchangeLayout::find(pdl_channel_kind kind,
                             int32_t symbolOrClip) const {
  for (int32_t c = 0; c < channelCount(); ++c) {
    const pdl_channel &candidate = channel(c);
    if (candidate.kind == kind &&
        (kind == PDL_CHANNEL_NORM ? candidate.clip : candidate.symbol) ==
            symbolOrClip)
      return c;
  }
  return -1;
}

int32_t ExchangeLayout::lookupOf(int32_t table) const {
  for (int32_t l = 0; l < program().lookup_count; ++l)
    if (program().lookups[l].symbol == table)
      return l;
  return -1;
}

int32_t ExchangeLayout::updateOf(int32_t symbol) const {
  for (int32_t u = 0; u < program().update_count; ++u)
    if (program().updates[u].symbol == symbol)
      return u;
  return -1;
}

int32_t ExchangeLayout::clipOf(int32_t symbol) const {
  for (const pdl_channel_kind kind :
       {PDL_CHANNEL_GRADIENT, PDL_CHANNEL_ROW_GRADIENT})
    if (const int32_t number = find(kind, symbol); number >= 0)
      return channel(number).clip;
  return -1;
}

int32_t ExchangeLayout::objectiveOf(int32_t number) const {
  int32_t before = 0;
  for (int32_t c = 0; c < number; ++c)
    before += channel(c).kind == PDL_CHANNEL_LOSS;
  return before;
}

size_t ExchangeLayout::sectionBytes(int32_t server, int32_t number) const {
  const pdl_channel &of = channel(number);
  switch (pdl_channel_kind(of.kind)) {
  case PDL_CHANNEL_LOSS:
    return 2 * sizeof(double);
  case PDL_CHANNEL_NORM:
    return sizeof(double);
  case PDL_CHANNEL_KEYS:
  case PDL_CHANNEL_CHANGED_KEYS:
    return sizeof(int64_t);
  default:
    break;
  }
  const pdl_symbol &symbol = descriptor->symbols[of.symbol];
  const size_t element = elementSize(symbol);
  switch (pdl_channel_kind(of.kind)) {
  case PDL_CHANNEL_VALUE:
  case PDL_CHANNEL_GRADIENT:
  case PDL_CHANNEL_DELTA:
    return size_t(map->rowCountOf(of.symbol, server) * symbol.row_width) *
           element;
  case PDL_CHANNEL_PARTIAL_NORM: {
    if (symbol.kind == PDL_SYMBOL_TABLE)
      return map->unitsOf(of.symbol, server).size() * sizeof(double);
    const int64_t rows = map->rowCountOf(of.symbol, server);
    return size_t((rows + pdlabi::rowsInNormUnit - 1) /
                  pdlabi::rowsInNormUnit) *
           sizeof(double);
  }
  case PDL_CHANNEL_ROW_GRADIENT:
    return size_t(symbol.gradient_width) * element;
  case PDL_CHANNEL_ROW_DELTA:
    return size_t(symbol.row_width) * element;
  default: // ROWS
    return sentRowBytes(symbol, program().frozen != 0);
  }
}

Status ExchangeLayout::checkKeys(int32_t server, int32_t symbol,
                                 std::span<const int64_t> keys) const {
  int lastShard = -1;
  for (size_t i = 0; i < keys.size(); ++i) {
    const int shard = pdlabi::shardOfKey(keys[i]);
    const bool ascends =
        shard > lastShard || (shard == lastShard && keys[i - 1] < keys[i]);
    if (!ascends)
      return damaged("key " + std::to_string(keys[i]) + " of @" +
                     descriptor->symbols[symbol].name + " is not in its place");
    if (shard != lastShard && map->ownerOf(symbol, shard) != server)
      return damaged("key " + std::to_string(keys[i]) + " of @" +
                     descriptor->symbols[symbol].name + " belongs to server " +
                     std::to_string(map->ownerOf(symbol, shard)) + ", not " +
                     std::to_string(server));
    lastShard = shard;
  }
  return {};
}

/// Rules for the presence of a section.
namespace {
enum class Presence { Absent, Required, Optional };
} // namespace

static Presence presenceOf(ExchangeForm form, pdl_channel_kind kind,
                           const ExchangeHead &head, bool withNormRequest,
                           bool withDeltas, bool frozen) {
  auto requiredIf = [](bool condition) {
    return condition ? Presence::Required : Presence::Absent;
  };
  using Form = ExchangeForm;
  switch (kind) {
  case PDL_CHANNEL_VALUE:
    if (form != Form::State || head.withoutParameters)
      return Presence::Absent;
    return head.allValues ? Presence::Required : Presence::Optional;
  case PDL_CHANNEL_GRADIENT:
    return requiredIf(form == Form::Exchange && head.contributes &&
                      !head.withoutParameters);
  case PDL_CHANNEL_ROW_GRADIENT:
  case PDL_CHANNEL_DELTA:
  case PDL_CHANNEL_ROW_DELTA:
    return requiredIf(form == Form::Exchange && head.contributes);
  case PDL_CHANNEL_LOSS:
    return requiredIf(
        head.contributes &&
        (form == Form::Exchange || form == Form::Sums || form == Form::State));
  case PDL_CHANNEL_KEYS: {
    if (form == Form::State)
      return frozen ? Presence::Required : Presence::Absent;
    if (withDeltas)
      return requiredIf(form == Form::Exchange && head.contributes);
    const bool isLast = form == Form::Norm || form == Form::Pull ||
                        (form == Form::Exchange && !withNormRequest);
    return requiredIf(
        isLast && (head.hasNextBatch || head.ownKeys || form == Form::Pull));
  }
  case PDL_CHANNEL_ROWS:
  case PDL_CHANNEL_CHANGED_KEYS:
    return requiredIf(form == Form::State);
  case PDL_CHANNEL_PARTIAL_NORM:
    return requiredIf(form == Form::Sums && head.contributes);
  case PDL_CHANNEL_NORM:
    return requiredIf(
        head.contributes &&
        (form == Form::Norm || (form == Form::Exchange && !withNormRequest)));
  }
  return Presence::Absent;
}

Status ExchangeLayout::checkSection(ExchangeForm form, int32_t server,
                                    const ExchangeMessage &message,
                                    int32_t number, int64_t rowCount) const {
  const pdl_channel &of = channel(number);
  const auto kind = pdl_channel_kind(of.kind);
  const size_t bytes = message.sectionSize(number);
  const Presence presence =
      presenceOf(form, kind, message.head(), withNormRequest, withDeltas,
                 program().frozen);
  if (presence == Presence::Absent ||
      (presence == Presence::Optional && !bytes))
    return bytes == 0 ? Status()
                      : damaged("channel " + std::to_string(number) +
                                " is not of this message");
  if (kind == PDL_CHANNEL_KEYS || kind == PDL_CHANNEL_CHANGED_KEYS) {
    if (bytes % sizeof(int64_t) != 0)
      return damaged("channel " + std::to_string(number) + " has half a key");
    const auto keys = message.sectionOf<int64_t>(number);
    if (form != ExchangeForm::State || kind == PDL_CHANNEL_CHANGED_KEYS)
      return checkKeys(server, of.symbol, keys);
    for (size_t i = 0; i < keys.size(); ++i)
      if (keys[i] < 0 || keys[i] >= rowCount || (i && keys[i] <= keys[i - 1]))
        return damaged("the positions of unknown keys are no such list");
    return {};
  }
  const size_t wanted =
      sectionBytes(server, number) * size_t(bringsRows(kind) ? rowCount : 1);
  if (bytes != wanted)
    return damaged("channel " + std::to_string(number) + " has " +
                   std::to_string(bytes) + " bytes instead of " +
                   std::to_string(wanted));
  return {};
}

Status ExchangeLayout::check(ExchangeForm form, int32_t server,
                             const ExchangeMessage &message,
                             std::span<const int64_t> rowCounts) const {
  if (message.head().program != numberOnWire)
    return damaged("it is of program " +
                   std::to_string(message.head().program) + ", not " +
                   std::to_string(numberOnWire));
  if (form == ExchangeForm::Pull && !program().frozen)
    return damaged("it pulls for a program that trains");
  const ExchangeHead &head = message.head();
  if (head.ownKeys &&
      (form != ExchangeForm::Exchange || withNormRequest || !head.contributes ||
       head.hasNextBatch || head.allValues || head.withoutParameters ||
       head.steps == 0))
    return damaged("it brings keys of its own where it must not");
  if (head.withoutParameters &&
      modeOf(*descriptor).parametersWith != OwnerPlace::Trainers)
    return damaged("it leaves out parameters that servers apply the rules of");
  if (message.head().contributes && !withDeltas &&
      objectiveOf(channelCount()) == 0)
    return damaged("it contributes to a program without losses");
  for (int32_t c = 0; c < channelCount(); ++c) {
    // Positions of unknown keys are counted like the rows of their table.
    int32_t counted = c;
    if (form == ExchangeForm::State && channel(c).kind == PDL_CHANNEL_KEYS)
      counted = find(PDL_CHANNEL_ROWS, channel(c).symbol);
    int64_t rowCount = counted >= 0 && size_t(counted) < rowCounts.size()
                           ? rowCounts[counted]
                           : 0;
    // In mode geo, the message contains the keys of its rows.
    if (withDeltas && keysOf(c) >= 0)
      rowCount = int64_t(message.sectionSize(keysOf(c)) / sizeof(int64_t));
    PDLRT_RETURN_IF_ERROR(checkSection(form, server, message, c, rowCount));
  }
  return {};
}

Expected<ExchangeMessage>
ExchangeLayout::takeResponse(ExchangeForm form, int32_t server,
                             const Message &payload,
                             std::span<const int64_t> rowCounts) const {
  Expected<ExchangeMessage> message =
      ExchangeMessage::decode(payload, channelCount(), scattered());
  if (message)
    PDLRT_RETURN_IF_ERROR(check(form, server, *message, rowCounts));
  return message;
}

void ExchangeLayout::copyBlocks(int32_t server, int32_t number,
                                const ExchangeMessage &message,
                                void *parameter) const {
  if (message.sectionSize(number) == 0)
    return;
  SliceReader reader(message.kept);
  reader.skip(message.begins[number]);
  const int32_t symbol = channel(number).symbol;
  const size_t rowBytes = size_t(descriptor->symbols[symbol].row_width) *
                          elementSize(descriptor->symbols[symbol]);
  for (const RowBlock &rows : map->rowsOf(symbol, server)) {
    reader.copy(static_cast<std::byte *>(parameter) +
                    size_t(rows.firstRow) * rowBytes,
                size_t(rows.rowCount) * rowBytes);
  }
}

void ExchangeLayout::copyRows(int32_t server, int32_t number,
                              const ExchangeMessage &message,
                              std::span<const int32_t> places,
                              void *rows) const {
  SliceReader reader(message.kept);
  reader.skip(message.begins[number]);
  const size_t bytes = sectionBytes(server, number);
  for (const int32_t place : places)
    reader.copy(static_cast<std::byte *>(rows) + size_t(place) * bytes, bytes);
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

ExchangeWriter::ExchangeWriter(const ExchangeLayout &layout, ExchangeHead head)
    : layout(layout), head(head), sizes(layout.channelCount()) {
  this->head.program = layout.wireNumber();
}

void ExchangeWriter::pad() {
  static constexpr std::byte zeros[8] = {};
  if (current < 0)
    return;
  const size_t missing = padded(sizes[current]) - sizes[current];
  if (missing > 0)
    slices.push_back({zeros, missing, nullptr});
  ownBytes += missing;
}

void ExchangeWriter::startSection(int32_t channel) {
  if (channel == current)
    return;
  pad();
  current = channel;
}

void ExchangeWriter::addPart(int32_t channel, PartPlace place) {
  startSection(channel);
  sizes[channel] += place.size;
  place.position = ownBytes;
  parts.push_back(place);
}

void ExchangeWriter::add(int32_t channel, const void *data, size_t bytes,
                         std::shared_ptr<const void> owner) {
  startSection(channel);
  sizes[channel] += bytes;
  ownBytes += bytes;
  if (bytes > 0)
    slices.push_back(
        {static_cast<const std::byte *>(data), bytes, std::move(owner)});
}

void ExchangeWriter::addCopy(int32_t channel, const void *data, size_t bytes) {
  auto copy = std::make_shared<std::vector<uint64_t>>(padded(bytes) / 8);
  if (bytes > 0)
    std::memcpy(copy->data(), data, bytes);
  add(channel, copy->data(), bytes, copy);
}

void ExchangeWriter::addKeys(int32_t channel, std::span<const int64_t> keys,
                             const std::shared_ptr<const void> &owner) {
  if (head.keys == KeyPacking::None) {
    add(channel, keys.data(), keys.size_bytes(), owner);
    return;
  }
  const std::string packed = packKeys(keys);
  addCopy(channel, packed.data(), packed.size());
}

void ExchangeWriter::addBlocks(int32_t server, int32_t channel,
                               const void *parameter,
                               const std::shared_ptr<const void> &owner) {
  const int32_t symbol = layout.channel(channel).symbol;
  const std::vector<RowBlock> &runs = layout.placement().rowsOf(symbol, server);
  const auto rows = size_t(layout.placement().rowCountOf(symbol, server));
  const size_t rowBytes =
      rows ? layout.sectionBytes(server, channel) / rows : 0;
  for (const RowBlock &run : runs)
    add(channel,
        static_cast<const std::byte *>(parameter) +
            size_t(run.firstRow) * rowBytes,
        size_t(run.rowCount) * rowBytes, owner);
}

Message ExchangeWriter::finish() {
  pad();
  WireHead wire = {};
  wire.flags =
      (head.contributes ? Contributes : 0) |
      (head.hasNextBatch ? HasNextBatch : 0) |
      (head.stopRequested ? StopRequested : 0) |
      (head.saveRequested ? SaveRequested : 0) |
      (head.allValues ? AllValues : 0) |
      (head.keys == KeyPacking::Delta ? KeysAsDeltas : 0) |
      (head.gradients == GradientPacking::BFloat16 ? GradientsInBFloat16 : 0) |
      (head.gradients == GradientPacking::Int8 ? GradientsInInt8 : 0) |
      (head.ownKeys ? OwnKeys : 0) |
      (head.withoutParameters ? WithoutParameters : 0);
  wire.program = head.program;
  wire.count = head.ownKeys ? head.steps : head.contributors;
  wire.channelCount = uint32_t(sizes.size());
  const size_t headBytes = sizeof(wire) + sizes.size() * sizeof(uint64_t);
  auto start = std::make_shared<std::vector<uint64_t>>(headBytes / 8);
  std::memcpy(start->data(), &wire, sizeof(wire));
  if (!sizes.empty())
    std::memcpy(&(*start)[wireHeadWords], sizes.data(),
                sizes.size() * sizeof(uint64_t));
  for (PartPlace &place : parts)
    place.position += headBytes;
  Message message;
  message.append(
      {reinterpret_cast<const std::byte *>(start->data()), headBytes, start});
  for (MessageSlice &slice : slices)
    message.append(std::move(slice));
  slices.clear();
  return message;
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

Message pdlrt::encodeReduce(const ReduceVectors &vectors) {
  const uint64_t sizes[] = {vectors.counts.size(), vectors.sums.size()};
  std::string bytes(reinterpret_cast<const char *>(sizes), sizeof(sizes));
  bytes.append(reinterpret_cast<const char *>(vectors.counts.data()),
               vectors.counts.size() * sizeof(int64_t));
  bytes.append(reinterpret_cast<const char *>(vectors.sums.data()),
               vectors.sums.size() * sizeof(double));
  return Message::ofString(std::move(bytes));
}

Expected<ReduceVectors> pdlrt::decodeReduce(const Message &payload) {
  SliceReader reader(payload);
  uint64_t sizes[2];
  if (reader.left() < sizeof(sizes))
    return damaged("its sizes are cut off");
  reader.copy(sizes, sizeof(sizes));
  const uint64_t words = reader.left() / sizeof(uint64_t);
  if (reader.left() % sizeof(uint64_t) != 0 || sizes[0] > words ||
      sizes[1] != words - sizes[0])
    return damaged("its sizes do not fit its " +
                   std::to_string(payload.size()) + " bytes");
  ReduceVectors vectors;
  vectors.counts.resize(sizes[0]);
  vectors.sums.resize(sizes[1]);
  reader.copy(vectors.counts.data(), sizes[0] * sizeof(int64_t));
  reader.copy(vectors.sums.data(), sizes[1] * sizeof(double));
  return vectors;
}
