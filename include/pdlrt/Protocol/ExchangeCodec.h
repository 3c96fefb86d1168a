//===- ExchangeCodec.h - Payloads of steps, as bytes ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One format for all payloads of a step (docs/Protocol.md, "The payloads of a
// step"): a head, the size of each channel's section, then the sections in the
// order of the program's channels. Both sides use it:
//
//   trainer, to server s                      server
//   ---------------------------------------   --------------------------------
//   ExchangeWriter writer(layout, head);      ExchangeMessage::decode(...)
//   writer.addBlocks(s, channel, gradient);   layout.check(Exchange, s, ...)
//   writer.add(channel, keys, bytes);         message.section(channel)
//   writer.finish()                           writer.add(...), writer.finish()
//
//   ExchangeMessage::decode(...), layout.check(State, s, ...),
//   layout.copyBlocks(s, channel, message, parameter)
//
// Numbers are little-endian, as the CPUs are that PDL runs on.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_EXCHANGECODEC_H
#define PDLRT_PROTOCOL_EXCHANGECODEC_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/Packing.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Message.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// What a payload is. Which channels it may hold follows from it.
enum class ExchangeForm {
  /// Request `Exchange`: what a step gives. LOSS, GRADIENT and ROW_GRADIENT
  /// where `contributes`; NORM with them where senders form it; KEYS of the
  /// next step
  /// unless a Norm request follows, or its own with `ownKeys`. In mode geo what
  /// was changed, where it `contributes`: DELTA, and ROW_DELTA with its KEYS.
  Exchange,
  /// Request `Norm` of a program with PARTIAL_NORM channels: NORM where
  /// `contributes`, KEYS of the next step.
  Norm,
  /// Request `Pull` of a frozen program: KEYS.
  Pull,
  /// Answer to an Exchange that a Norm request follows: LOSS and PARTIAL_NORM
  /// where `contributes`.
  Sums,
  /// Answer to all others: VALUE, ROWS; LOSS, once more after a Norm, where
  /// `contributes`. In answer to a Pull, KEYS holds the positions (i64,
  /// ascending) of the request's keys
  /// that the server does not know. In mode geo CHANGED_KEYS and a row of ROWS
  /// for each of them, and VALUE where others have changed it.
  State,
};

/// The first bytes of a payload.
struct ExchangeHead {
  /// Exchange: this trainer has gradients of this step. Norm: the joint norms
  /// are there, because the answer Sums said `contributes`. Sums, State:
  /// somebody contributed, and LOSS holds the sums of all trainers.
  bool contributes = false;
  /// Request: this trainer takes part in the next step, whose keys are here.
  bool contributesNext = false;
  /// Request: this trainer was asked to stop. State: somebody was; the job
  /// ends after this step.
  bool stopRequested = false;
  /// Where steps are rounds. Request: this trainer wants a checkpoint after
  /// this step. State: somebody did.
  bool saveRequested = false;
  /// Request: all VALUE blocks are wanted. State: all are here. Without it only
  /// those are here that the step has changed.
  bool allValues = false;
  /// Request that contributes: KEYS are those of its ROW_GRADIENT, instead of
  /// those of the next step, and the answer has no values. Without it, those
  /// are the keys of the sender's request before.
  bool ownKeys = false;
  /// Where trainers have all parameters: no GRADIENT is here, or in the request
  /// that this answers, and no VALUE. Partial norms of parameters are zeros.
  bool withoutParameters = false;
  /// With `ownKeys`: how many steps of the sender its sums are of.
  uint32_t steps = 1;
  /// Request: how its KEYS, and its GRADIENT and ROW_GRADIENT, are packed.
  KeyPacking keys = KeyPacking::None;
  GradientPacking gradients = GradientPacking::None;
  /// The program's number (`ExchangeLayout::wireNumber`).
  uint32_t program = 0;
  /// State: how many trainers take part in the next step.
  uint32_t contributors = 0;

  bool operator==(const ExchangeHead &) const = default;
};

/// A payload, taken apart. Keeps the bytes alive.
class ExchangeMessage {
public:
  /// Takes apart a payload of `channelCount` channels. Sections that lie in one
  /// slice are not copied. An error where sizes do not fit the bytes; any bytes
  /// are safe. What the sections hold is checked by `ExchangeLayout::check`.
  /// `scattered`, by channel or empty: sections that stay where they are,
  /// whatever slices they lie in, for `piecesOf`, `copyBlocks` and `copyRows`
  /// only.
  static Expected<ExchangeMessage>
  decode(const Message &payload, int32_t channelCount,
         const std::vector<bool> &scattered = {});

  /// The program that a payload is of, before the rest is looked at.
  static Expected<uint32_t> programOf(const Message &payload);

  const ExchangeHead &head() const { return start; }
  int32_t channelCount() const { return int32_t(sections.size()); }
  /// How many bytes a channel has.
  size_t sectionSize(int32_t channel) const { return sizes[channel]; }
  /// A channel's bytes; aligned to 8, valid as long as this object or one that
  /// it was moved to. Not of a channel that was left scattered.
  std::span<const std::byte> section(int32_t channel) const {
    return sections[channel];
  }
  /// The same as numbers; `T` has at most 8 bytes.
  template <typename T> std::span<const T> sectionOf(int32_t channel) const {
    const std::span<const std::byte> bytes = sections[channel];
    return {reinterpret_cast<const T *>(bytes.data()),
            bytes.size() / sizeof(T)};
  }

  /// The bytes of a channel that was left scattered, in order, where they lie;
  /// valid as long as this object or one that it was moved to. No piece is
  /// empty.
  std::span<const std::span<const std::byte>> piecesOf(int32_t channel) const {
    return std::span(pieces).subspan(
        pieceSplits[channel], pieceSplits[channel + 1] - pieceSplits[channel]);
  }

private:
  friend class ExchangeLayout;

  /// The bytes of a section together, copied to `copies` if need be.
  std::span<const std::byte> together(int32_t channel);
  /// Puts other bytes in the place of a section.
  void replace(int32_t channel, AlignedBuffer buffer, size_t bytes);

  ExchangeHead start;
  std::vector<uint64_t> sizes;
  /// Where each section begins in `kept`.
  std::vector<size_t> begins;
  std::vector<std::span<const std::byte>> sections;
  /// Of scattered sections; by channel, and one more, where its own begin.
  std::vector<std::span<const std::byte>> pieces;
  std::vector<size_t> pieceSplits;
  Message kept;
  std::vector<AlignedBuffer> copies;
};

/// The channels of one program for all servers of a job. Immutable.
class ExchangeLayout {
public:
  /// `descriptor` (which has passed `checkDescriptor`) and `placement` (of that
  /// descriptor) outlive it. An error where the program's channels are not
  /// those of one lookup a table.
  static Expected<ExchangeLayout> create(const pdl_descriptor &descriptor,
                                         int32_t program,
                                         const Placement &placement);

  const pdl_program &program() const { return descriptor->programs[index]; }
  int32_t programIndex() const { return index; }
  /// What messages call the program: its number among those with channels,
  /// which are all that a server knows.
  uint32_t wireNumber() const { return numberOnWire; }
  int32_t channelCount() const { return program().channel_count; }
  const pdl_channel &channel(int32_t number) const {
    return program().channels[number];
  }
  const Placement &placement() const { return *map; }
  /// A step takes an Exchange, which is answered with partial norms, and a Norm
  /// request; else an Exchange alone.
  bool hasNormRequest() const { return withNormRequest; }
  /// Whether requests bring changes of a copy, and answers those of others.
  bool carriesDeltas() const { return withDeltas; }
  /// The number of the channel of that kind and symbol (or, for NORM, of that
  /// clip); -1 if there is none.
  int32_t find(pdl_channel_kind kind, int32_t symbolOrClip) const;
  /// Which lookup of the program is of a table, and which of its updates of a
  /// symbol; -1 if there is none.
  int32_t lookupOf(int32_t table) const;
  int32_t updateOf(int32_t symbol) const;
  /// Which clip takes a symbol's gradient; -1: none, or nothing says so.
  int32_t clipOf(int32_t symbol) const;
  /// The KEYS channel of the table of a ROWS, ROW_GRADIENT or ROW_DELTA
  /// channel; of ROWS CHANGED_KEYS, where there are some.
  int32_t keysOf(int32_t number) const { return keysChannels[number]; }
  /// By channel: whether its section is used where it lies, in whatever slices
  /// it came: VALUE and ROWS are copied to their places from there, GRADIENT is
  /// added. For `ExchangeMessage::decode`.
  const std::vector<bool> &scattered() const { return scatteredChannels; }
  /// Of a channel of kind LOSS: which objective's sums it brings.
  int32_t objectiveOf(int32_t number) const;
  /// The symbol of a channel that has one.
  const pdl_symbol &symbolOf(int32_t number) const {
    return descriptor->symbols[channel(number).symbol];
  }
  /// Elements of a row of a GRADIENT or VALUE channel.
  int64_t rowWidth(int32_t number) const { return symbolOf(number).row_width; }
  /// Bytes of a section whose size does not depend on keys: VALUE, GRADIENT,
  /// DELTA, PARTIAL_NORM, NORM, LOSS; of a ROWS, ROW_GRADIENT or ROW_DELTA
  /// channel: those of one row; KEYS, CHANGED_KEYS: of one key.
  size_t sectionBytes(int32_t server, int32_t number) const;

  /// Takes packed sections of a request to `server` apart, so that the message
  /// is as one that was not packed. An error where the bytes are none; any
  /// bytes are safe. Throws std::bad_alloc.
  Status unpack(int32_t server, ExchangeMessage &message) const;

  /// Checks every section of a payload that `server` sends or gets: that it may
  /// be there, its size, that keys belong to the server and stand in order.
  /// `rowCounts`, by channel: how many rows a ROWS or ROW_GRADIENT channel must
  /// have: as many as keys were asked for.
  Status check(ExchangeForm form, int32_t server,
               const ExchangeMessage &message,
               std::span<const int64_t> rowCounts) const;

  /// The payload of an answer of `server`, which has passed `check`; else what
  /// is wrong with it.
  Expected<ExchangeMessage>
  takeAnswer(ExchangeForm form, int32_t server, const Message &payload,
             std::span<const int64_t> rowCounts) const;

  /// Copies the blocks of a VALUE section into the whole parameter; nothing
  /// where the section is empty. The message has passed `check`.
  void copyBlocks(int32_t server, int32_t number,
                  const ExchangeMessage &message, void *parameter) const;
  /// Copies row i of a ROWS section to row `places[i]` of `rows`. The message
  /// has passed `check` with as many rows.
  void copyRows(int32_t server, int32_t number, const ExchangeMessage &message,
                std::span<const int32_t> places, void *rows) const;

private:
  Status unpackParameter(int32_t server, int32_t number,
                         GradientPacking packing,
                         std::span<const std::byte> packed, AlignedBuffer &out,
                         size_t &bytes) const;
  Status unpackRows(int32_t number, GradientPacking packing,
                    std::span<const std::byte> packed, AlignedBuffer &out,
                    size_t &bytes) const;
  Status checkSection(ExchangeForm form, int32_t server,
                      const ExchangeMessage &message, int32_t number,
                      int64_t rowCount) const;
  Status checkKeys(int32_t server, int32_t symbol,
                   std::span<const int64_t> keys) const;

  const pdl_descriptor *descriptor = nullptr;
  const Placement *map = nullptr;
  int32_t index = 0;
  uint32_t numberOnWire = 0;
  bool withNormRequest = false, withDeltas = false;
  /// By channel.
  std::vector<int32_t> keysChannels;
  std::vector<bool> scatteredChannels;
};

/// Puts a payload together. One payload each; not thread-safe.
class ExchangeWriter {
public:
  /// `layout` outlives the writer; `head.program` is set from it.
  ExchangeWriter(const ExchangeLayout &layout, ExchangeHead head);

  /// Adds bytes to a channel's section, by reference: they stay unchanged as
  /// long as `owner` lives or, without one, until the call has ended.
  /// Channels ascend from call to call; calls of one channel join.
  void add(int32_t channel, const void *data, size_t bytes,
           std::shared_ptr<const void> owner = nullptr);
  /// Adds a copy of a few bytes.
  void addCopy(int32_t channel, const void *data, size_t bytes);
  /// Adds keys, by reference as above, or packed as the head says.
  void addKeys(int32_t channel, std::span<const int64_t> keys,
               const std::shared_ptr<const void> &owner = nullptr);
  /// Adds the blocks that `server` owns of a GRADIENT, VALUE or DELTA channel
  /// out of the whole parameter, by reference.
  void addBlocks(int32_t server, int32_t channel, const void *parameter,
                 const std::shared_ptr<const void> &owner = nullptr);

  /// Says that all of a channel's section has left ahead of this payload: those
  /// bytes of a part. The writer sets where they belong.
  void addPart(int32_t channel, PartPlace place);

  Message finish();
  /// After `finish`: where the parts belong.
  const std::vector<PartPlace> &partPlaces() const { return parts; }

private:
  void pad();
  void startSection(int32_t channel);

  const ExchangeLayout &layout;
  ExchangeHead head;
  std::vector<uint64_t> sizes;
  int32_t current = -1;
  std::vector<MessageSlice> slices;
  /// Bytes of these.
  uint64_t ownBytes = 0;
  std::vector<PartPlace> parts;
};

/// The keys of a lookup, dealt to servers: those of each stand in the order
/// that KEYS sections have, by (shard, key), keys ascending as signed integers.
/// Memory is kept from step to step. Not thread-safe.
class KeyRouter {
public:
  /// `keys`: distinct keys of a table. Throws std::bad_alloc.
  void assign(const Placement &placement, int32_t table, int64_t count,
              const int64_t *keys);
  /// A server's keys, valid until the next call.
  std::span<const int64_t> keysOf(int32_t server) const {
    return {static_cast<const int64_t *>(sorted.data()) + splits[server],
            size_t(splits[server + 1] - splits[server])};
  }
  /// Where each of them stands in the list given.
  std::span<const int32_t> placesOf(int32_t server) const {
    return {static_cast<const int32_t *>(places.data()) + splits[server],
            size_t(splits[server + 1] - splits[server])};
  }

private:
  AlignedBuffer sorted, places;
  std::vector<int64_t> shardSplits, shardNext;
  /// By server, and one more.
  std::vector<int64_t> splits;
};

/// What all trainers add up by a Reduce request: counts exactly, sums in the
/// order of ranks. All trainers give the same numbers of both.
struct ReduceVectors {
  std::vector<int64_t> counts;
  std::vector<double> sums;
  bool operator==(const ReduceVectors &) const = default;
};

/// The payload of a Reduce request, and of its answer.
Message encodeReduce(const ReduceVectors &vectors);
/// An error where the sizes do not fit the bytes; any bytes are safe.
Expected<ReduceVectors> decodeReduce(const Message &payload);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_EXCHANGECODEC_H
