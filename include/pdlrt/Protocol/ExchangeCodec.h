//===- ExchangeCodec.h - Encodes and decodes payloads of a step -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodes and decodes the payloads of a step. All of them have one format
// (docs/Protocol.md, "The payloads of a step"): a head, the size of each
// channel's section, then the sections in the order of the program's channels.
// Both sides use it:
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
// Numbers are little-endian, like the CPUs that PDL supports.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_EXCHANGECODEC_H
#define PDLRT_PROTOCOL_EXCHANGECODEC_H

#include "pdlabi/abi/descriptor.h"
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

/// Kind of a payload. It decides which channels the payload may hold.
enum class ExchangeForm {
  /// Request `Exchange`: the gradients of a step.
  /// - If `contributes`: LOSS, GRADIENT and ROW_GRADIENT, and NORM if senders
  ///   compute it.
  /// - KEYS of the next step, unless a Norm request follows. With `ownKeys`,
  ///   KEYS are those of this request's row gradients.
  /// - In mode geo, if `contributes`: the changes of the local copy, as DELTA
  ///   and as ROW_DELTA with its KEYS.
  Exchange,
  /// Request `Norm` of a program with PARTIAL_NORM channels: NORM if
  /// `contributes`, and KEYS of the next step.
  Norm,
  /// Request `Pull` of a frozen program: KEYS.
  Pull,
  /// Response to an Exchange that a Norm request follows: LOSS and PARTIAL_NORM
  /// if `contributes`.
  Sums,
  /// Response to all other requests: VALUE and ROWS, and LOSS if `contributes`
  /// (after a Norm, LOSS is repeated). In the response to a Pull, KEYS holds
  /// the positions (i64, ascending) of the requested keys that the server does
  /// not know. In mode geo: CHANGED_KEYS with one row of ROWS for each of them,
  /// and VALUE if other trainers have changed it.
  State,
};

/// Flags and numbers at the start of a payload.
struct ExchangeHead {
  /// Exchange: this trainer sends gradients of this step. Norm: the joint norms
  /// are present, because the Sums response had `contributes` set. Sums, State:
  /// at least one trainer contributed, and LOSS holds the sums over all
  /// trainers.
  bool contributes = false;
  /// Request: this trainer takes part in the next step, and its keys are here.
  bool hasNextBatch = false;
  /// Request: this trainer was asked to stop. State: some trainer was asked to
  /// stop, so the job ends after this step.
  bool stopRequested = false;
  /// Only in modes whose steps are rounds. Request: this trainer wants a
  /// checkpoint after this step. State: some trainer wants one.
  bool saveRequested = false;
  /// Request: the sender wants all VALUE blocks. State: all VALUE blocks are
  /// here. Without this flag, only blocks that the step changed are here.
  bool allValues = false;
  /// Only in a request that contributes. If true, KEYS belong to its
  /// ROW_GRADIENT instead of the next step, and the response has no values. If
  /// false, ROW_GRADIENT uses the keys of the sender's previous request.
  bool ownKeys = false;
  /// True if trainers hold all parameters. Then neither the request nor its
  /// response has GRADIENT or VALUE sections, and partial norms of parameters
  /// are zeros.
  bool withoutParameters = false;
  /// Number of the sender's steps that are summed in this request, if
  /// `ownKeys`.
  uint32_t steps = 1;
  /// Request: packing of KEYS, and packing of GRADIENT and ROW_GRADIENT.
  KeyPacking keys = KeyPacking::None;
  GradientPacking gradients = GradientPacking::None;
  /// Number of the program (`ExchangeLayout::wireNumber`).
  uint32_t program = 0;
  /// State: number of trainers that take part in the next step.
  uint32_t contributors = 0;

  bool operator==(const ExchangeHead &) const = default;
};

/// Decoded payload. Keeps the bytes of the message alive.
class ExchangeMessage {
public:
  /// Decodes a payload with `channelCount` channels. A section that lies in one
  /// slice is not copied. `scattered` (by channel, or empty) marks sections
  /// that stay in their slices; only `piecesOf`, `copyBlocks` and `copyRows`
  /// may read those. Accepts any bytes; returns an error if sizes do not match
  /// them. The contents of sections are checked by `ExchangeLayout::check`.
  static Expected<ExchangeMessage>
  decode(const Message &payload, int32_t channelCount,
         const std::vector<bool> &scattered = {});

  /// Returns the number of the program that a payload belongs to, without
  /// decoding the rest.
  static Expected<uint32_t> programOf(const Message &payload);

  const ExchangeHead &head() const { return start; }
  int32_t channelCount() const { return int32_t(sections.size()); }
  /// Returns the size of a channel's section in bytes.
  size_t sectionSize(int32_t channel) const { return sizes[channel]; }
  /// Returns the bytes of a channel, aligned to 8. Valid as long as this
  /// object, or an object that it was moved to, exists. Not allowed for
  /// scattered channels.
  std::span<const std::byte> section(int32_t channel) const {
    return sections[channel];
  }
  /// Returns the section as numbers; `T` has at most 8 bytes.
  template <typename T> std::span<const T> sectionOf(int32_t channel) const {
    const std::span<const std::byte> bytes = sections[channel];
    return {reinterpret_cast<const T *>(bytes.data()),
            bytes.size() / sizeof(T)};
  }

  /// Returns the pieces of a scattered channel in order, without a copy. Valid
  /// as long as this object, or an object that it was moved to, exists. No
  /// piece is empty.
  std::span<const std::span<const std::byte>> piecesOf(int32_t channel) const {
    return std::span(pieces).subspan(
        pieceSplits[channel], pieceSplits[channel + 1] - pieceSplits[channel]);
  }

private:
  friend class ExchangeLayout;

  /// Returns the bytes of a section in one piece; copies them to `copies` if
  /// needed.
  std::span<const std::byte> together(int32_t channel);
  /// Replaces a section by other bytes.
  void replace(int32_t channel, AlignedBuffer buffer, size_t bytes);

  ExchangeHead start;
  std::vector<uint64_t> sizes;
  /// Offset in `kept` at which each section starts.
  std::vector<size_t> begins;
  std::vector<std::span<const std::byte>> sections;
  /// Pieces of scattered sections, and by channel the index of its first piece.
  /// The last element of `pieceSplits` is the total.
  std::vector<std::span<const std::byte>> pieces;
  std::vector<size_t> pieceSplits;
  Message kept;
  std::vector<AlignedBuffer> copies;
};

/// Channels of one program, for all servers of a job. Immutable.
class ExchangeLayout {
public:
  /// Returns the layout of a program. `descriptor` must have passed
  /// `checkDescriptor`, `placement` must belong to it, and both must outlive
  /// the layout. Returns an error if the program's channels do not match one
  /// lookup per table.
  static Expected<ExchangeLayout> create(const pdl_descriptor &descriptor,
                                         int32_t program,
                                         const Placement &placement);

  const pdl_program &program() const { return descriptor->programs[index]; }
  int32_t programIndex() const { return index; }
  /// Returns the number that messages use for the program: its index among the
  /// programs with channels, because servers know only those.
  uint32_t wireNumber() const { return numberOnWire; }
  int32_t channelCount() const { return program().channel_count; }
  const pdl_channel &channel(int32_t number) const {
    return program().channels[number];
  }
  const Placement &placement() const { return *map; }
  /// Returns true if a step needs two requests: an Exchange, whose response has
  /// partial norms, and then a Norm. Otherwise an Exchange is enough.
  bool hasNormRequest() const { return withNormRequest; }
  /// Returns true if requests carry the changes of a local copy (mode geo), and
  /// responses the changes of other trainers.
  bool carriesDeltas() const { return withDeltas; }
  /// Returns the number of the channel of that kind and symbol (for NORM: of
  /// that clip), or -1 if there is none.
  int32_t find(pdl_channel_kind kind, int32_t symbolOrClip) const;
  /// Returns the index of the program's lookup of a table, or of its update of
  /// a symbol; -1 if there is none.
  int32_t lookupOf(int32_t table) const;
  int32_t updateOf(int32_t symbol) const;
  /// Returns the index of the clip that applies to a symbol's gradient, or -1.
  int32_t clipOf(int32_t symbol) const;
  /// Returns the KEYS channel of a ROWS, ROW_GRADIENT or ROW_DELTA channel's
  /// table. For ROWS of a program with CHANGED_KEYS, returns that channel.
  int32_t keysOf(int32_t number) const { return keysChannels[number]; }
  /// Returns, by channel, true if the section is read directly from the slices
  /// in which it arrived. VALUE and ROWS are copied from there to their
  /// destinations, and GRADIENT is added from there. Pass this to
  /// `ExchangeMessage::decode`.
  const std::vector<bool> &scattered() const { return scatteredChannels; }
  /// Returns the index of the objective whose sums a LOSS channel carries.
  int32_t objectiveOf(int32_t number) const;
  /// Returns the symbol of a channel that has one.
  const pdl_symbol &symbolOf(int32_t number) const {
    return descriptor->symbols[channel(number).symbol];
  }
  /// Returns the number of elements in a row of a GRADIENT or VALUE channel.
  int64_t rowWidth(int32_t number) const { return symbolOf(number).row_width; }
  /// Returns the size in bytes of a section that does not depend on keys:
  /// VALUE, GRADIENT, DELTA, PARTIAL_NORM, NORM, LOSS. For ROWS, ROW_GRADIENT
  /// and ROW_DELTA returns the size of one row; for KEYS and CHANGED_KEYS the
  /// size of one key.
  size_t sectionBytes(int32_t server, int32_t number) const;

  /// Unpacks the packed sections of a request to `server`; afterwards the
  /// message is the same as one that was never packed. Accepts any bytes;
  /// returns an error if they are not packed sections. Throws std::bad_alloc.
  Status unpack(int32_t server, ExchangeMessage &message) const;

  /// Checks every section of a payload that `server` sends or receives: that it
  /// is allowed, that its size is right, and that its keys are sorted and
  /// belong to the server. `rowCounts`, by channel, is the number of rows that
  /// a ROWS or ROW_GRADIENT channel must have, which is the number of requested
  /// keys.
  Status check(ExchangeForm form, int32_t server,
               const ExchangeMessage &message,
               std::span<const int64_t> rowCounts) const;

  /// Decodes and checks a response of `server`. Returns what is wrong if the
  /// check fails.
  Expected<ExchangeMessage>
  takeResponse(ExchangeForm form, int32_t server, const Message &payload,
               std::span<const int64_t> rowCounts) const;

  /// Copies the blocks of a VALUE section into the whole parameter. Does
  /// nothing if the section is empty. The message must have passed `check`.
  void copyBlocks(int32_t server, int32_t number,
                  const ExchangeMessage &message, void *parameter) const;
  /// Copies row i of a ROWS section to row `places[i]` of `rows`. The message
  /// must have passed `check` with the same number of rows.
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
  /// Both vectors are indexed by channel.
  std::vector<int32_t> keysChannels;
  std::vector<bool> scatteredChannels;
};

/// Builds one payload. Not thread-safe.
class ExchangeWriter {
public:
  /// `layout` must outlive the writer. The writer sets `head.program` from it.
  ExchangeWriter(const ExchangeLayout &layout, ExchangeHead head);

  /// Appends bytes to a channel's section by reference. They must stay
  /// unchanged while `owner` lives or, without an owner, until the call has
  /// ended. Channel numbers must not decrease from call to call; bytes of
  /// repeated calls for one channel are concatenated.
  void add(int32_t channel, const void *data, size_t bytes,
           std::shared_ptr<const void> owner = nullptr);
  /// Appends a copy of a few bytes.
  void addCopy(int32_t channel, const void *data, size_t bytes);
  /// Appends keys: by reference as in `add`, or packed if the head says so.
  void addKeys(int32_t channel, std::span<const int64_t> keys,
               const std::shared_ptr<const void> &owner = nullptr);
  /// Appends by reference the blocks that `server` owns of a whole parameter,
  /// for a GRADIENT, VALUE or DELTA channel.
  void addBlocks(int32_t server, int32_t channel, const void *parameter,
                 const std::shared_ptr<const void> &owner = nullptr);

  /// Records that the whole section of a channel was sent ahead of this
  /// payload, as those bytes of a part. The writer sets their position.
  void addPart(int32_t channel, PartPlace place);

  Message finish();
  /// Returns the positions of the parts. Call after `finish`.
  const std::vector<PartPlace> &partPlaces() const { return parts; }

private:
  void pad();
  void startSection(int32_t channel);

  const ExchangeLayout &layout;
  ExchangeHead head;
  std::vector<uint64_t> sizes;
  int32_t current = -1;
  std::vector<MessageSlice> slices;
  /// Number of bytes in `slices`.
  uint64_t ownBytes = 0;
  std::vector<PartPlace> parts;
};

/// Keys of a lookup, partitioned by server. The keys of each server are in the
/// order of KEYS sections: by (shard, key), with keys ascending as signed
/// integers. Reuses its memory from step to step. Not thread-safe.
class KeyRouter {
public:
  /// Partitions `keys`, which must be distinct keys of one table. Throws
  /// std::bad_alloc.
  void assign(const Placement &placement, int32_t table, int64_t count,
              const int64_t *keys);
  /// Returns the keys of a server. Valid until the next call of `assign`.
  std::span<const int64_t> keysOf(int32_t server) const {
    return {static_cast<const int64_t *>(sorted.data()) + splits[server],
            size_t(splits[server + 1] - splits[server])};
  }
  /// Returns the position of each key of `keysOf(server)` in the list that was
  /// passed to `assign`.
  std::span<const int32_t> placesOf(int32_t server) const {
    return {static_cast<const int32_t *>(places.data()) + splits[server],
            size_t(splits[server + 1] - splits[server])};
  }

private:
  AlignedBuffer sorted, places;
  std::vector<int64_t> shardSplits, shardNext;
  /// Index of the first key of each server; the last element is the total.
  std::vector<int64_t> splits;
};

/// Numbers that a Reduce request sums over all trainers: counts exactly,
/// floating point sums in rank order. All trainers must send vectors of the
/// same lengths.
struct ReduceVectors {
  std::vector<int64_t> counts;
  std::vector<double> sums;
  bool operator==(const ReduceVectors &) const = default;
};

/// Encodes the payload of a Reduce request, or of its response.
Message encodeReduce(const ReduceVectors &vectors);
/// Decodes it. Accepts any bytes; returns an error if sizes do not match them.
Expected<ReduceVectors> decodeReduce(const Message &payload);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_EXCHANGECODEC_H
