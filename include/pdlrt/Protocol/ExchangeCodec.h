//===- ExchangeCodec.h - Encodes and decodes payloads of a step -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodes and decodes the payloads of messages in a step. All of them have one
// format (docs/Protocol.md, "The payloads of a step"): a head, the size of each
// channel's section, and the sections in the order of the program's channels.
// Trainers and servers use the same code:
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

/// Kind of a payload. It determines the channels whose sections the payload may
/// have. Words in capitals are kinds of channels (docs/Protocol.md,
/// "Sections").
enum class ExchangeForm {
  /// Request `Exchange`: what a trainer sends in a step.
  /// - If `contributes`: LOSS, GRADIENT and ROW_GRADIENT. Also NORM in modes in
  ///   which senders compute the norms of clips (`Mode::sendersClip`).
  /// - KEYS that the next step reads. If a Norm request follows, it has them
  ///   instead. With `ownKeys`, KEYS are the keys of this request's row
  ///   gradients.
  /// - In mode geo, if `contributes`: the changes of the trainer's copy, as
  ///   DELTA, and as ROW_DELTA with its KEYS.
  Exchange,
  /// Request `Norm`, which follows an Exchange in programs with PARTIAL_NORM
  /// channels: NORM if `contributes`, and KEYS that the next step reads.
  Norm,
  /// Request `Pull` of a frozen program: KEYS that it reads.
  Pull,
  /// Response to an Exchange that a Norm request follows: LOSS and PARTIAL_NORM
  /// if `contributes`.
  Sums,
  /// Response to all other requests: VALUE and ROWS, and LOSS if `contributes`.
  /// The response to a Norm repeats the LOSS of the Sums response. In the
  /// response to a Pull, KEYS has the positions (i64, ascending) of the
  /// requested keys that have no row. In mode geo, the response has
  /// CHANGED_KEYS with one row of ROWS for each of them, and VALUE if other
  /// trainers have changed it.
  State,
};

/// Flags and numbers at the start of a payload.
struct ExchangeHead {
  /// Exchange: true if the request has gradients. Norm: true if it has joint
  /// norms, which is the case if the Sums response had `contributes` set. Sums,
  /// State: true if at least one trainer has sent gradients; LOSS then has the
  /// sums over all trainers.
  bool contributes = false;
  /// Request: true if this trainer takes part in the next step. The request
  /// then has the keys of that step.
  bool hasNextBatch = false;
  /// Request: true if this trainer was asked to shut down. State: true if some
  /// trainer was, so that the job ends after this step.
  bool stopRequested = false;
  /// Request: true if this trainer requests a checkpoint after this step.
  /// State: true if some trainer does. Only in modes whose steps are rounds.
  bool saveRequested = false;
  /// Request: true if the response must have all VALUE blocks. State: true if
  /// it has all. If false, a State has only the VALUE blocks that the step has
  /// changed.
  bool allValues = false;
  /// True if the KEYS of a request with gradients are the keys of its
  /// ROW_GRADIENT. Then the response has no values. If false, KEYS are the keys
  /// of the next step, and the keys of ROW_GRADIENT are the KEYS of the
  /// sender's previous request.
  bool ownKeys = false;
  /// True if trainers hold all parameters and update them themselves. Then
  /// neither the request nor its response has GRADIENT or VALUE sections, and
  /// partial norms of parameters are zeros.
  bool withoutParameters = false;
  /// If `ownKeys`: number of steps of the sender whose gradients are summed in
  /// this request.
  uint32_t steps = 1;
  /// Request: encoding of KEYS, and encoding of GRADIENT and ROW_GRADIENT.
  KeyPacking keys = KeyPacking::None;
  GradientPacking gradients = GradientPacking::None;
  /// Number of the program in messages (`ExchangeLayout::wireNumber`).
  uint32_t program = 0;
  /// State: number of trainers that take part in the next step.
  uint32_t contributors = 0;

  bool operator==(const ExchangeHead &) const = default;
};

/// Decoded payload. Keeps the bytes of the message alive.
class ExchangeMessage {
public:
  /// Decodes a payload with `channelCount` channels. A section that lies in one
  /// slice of the message is not copied; other sections are copied into one
  /// piece. `scattered` has an entry for each channel, or is empty. True means
  /// that the section is never copied; only `piecesOf`, `copyBlocks` and
  /// `copyRows` may read it. Accepts any bytes; returns an error if sizes do
  /// not match. Does not check the contents of sections;
  /// `ExchangeLayout::check` does.
  static Expected<ExchangeMessage>
  decode(const Message &payload, int32_t channelCount,
         const std::vector<bool> &scattered = {});

  /// Returns the number of the program to which a payload belongs, without
  /// decoding the rest.
  static Expected<uint32_t> programOf(const Message &payload);

  const ExchangeHead &head() const { return start; }
  int32_t channelCount() const { return int32_t(sections.size()); }
  /// Returns the size of a channel's section in bytes.
  size_t sectionSize(int32_t channel) const { return sizes[channel]; }
  /// Returns the bytes of a channel's section, aligned to 8 bytes. Valid as
  /// long as this object exists, or the object to which it was moved. Do not
  /// call for scattered channels.
  std::span<const std::byte> section(int32_t channel) const {
    return sections[channel];
  }
  /// Returns the section as numbers of type `T`, which has at most 8 bytes.
  template <typename T> std::span<const T> sectionOf(int32_t channel) const {
    const std::span<const std::byte> bytes = sections[channel];
    return {reinterpret_cast<const T *>(bytes.data()),
            bytes.size() / sizeof(T)};
  }

  /// Returns the pieces of a scattered channel's section, in order. No piece is
  /// empty. Valid as long as this object exists, or the object to which it was
  /// moved.
  std::span<const std::span<const std::byte>> piecesOf(int32_t channel) const {
    return std::span(pieces).subspan(
        pieceSplits[channel], pieceSplits[channel + 1] - pieceSplits[channel]);
  }

private:
  friend class ExchangeLayout;

  /// Returns the bytes of a section in one piece. Copies them to `copies` if
  /// they are not.
  std::span<const std::byte> together(int32_t channel);
  /// Replaces the content of a section by the first `bytes` bytes of `buffer`.
  void replace(int32_t channel, AlignedBuffer buffer, size_t bytes);

  ExchangeHead start;
  std::vector<uint64_t> sizes;
  /// Offset in `kept` at which each section starts.
  std::vector<size_t> begins;
  std::vector<std::span<const std::byte>> sections;
  /// `pieces`: the pieces of all scattered sections. `pieceSplits`: for each
  /// channel, the index of its first piece; the last element is the number of
  /// all pieces.
  std::vector<std::span<const std::byte>> pieces;
  std::vector<size_t> pieceSplits;
  Message kept;
  std::vector<AlignedBuffer> copies;
};

/// Channels of one program, for all servers of a job. Immutable.
class ExchangeLayout {
public:
  /// Returns the layout of the program with index `program`. `descriptor` must
  /// have passed `checkDescriptor`, and `placement` must be of this descriptor.
  /// Both must outlive the layout. Returns an error if two channels have the
  /// same kind and symbol, or if rows of a table have no channel of keys.
  static Expected<ExchangeLayout> create(const pdl_descriptor &descriptor,
                                         int32_t program,
                                         const Placement &placement);

  const pdl_program &program() const { return descriptor->programs[index]; }
  int32_t programIndex() const { return index; }
  /// Returns the number that messages use for the program. It is the index
  /// among the programs with channels, because servers only have these
  /// programs.
  uint32_t wireNumber() const { return numberOnWire; }
  int32_t channelCount() const { return program().channel_count; }
  const pdl_channel &channel(int32_t number) const {
    return program().channels[number];
  }
  const Placement &placement() const { return *map; }
  /// Returns true if a step consists of two requests: an Exchange, whose
  /// response has partial norms, and then a Norm. If false, it consists of an
  /// Exchange.
  bool hasNormRequest() const { return withNormRequest; }
  /// Returns true if requests have the changes of a trainer's copy, and
  /// responses have the changes of other trainers (mode geo).
  bool carriesDeltas() const { return withDeltas; }
  /// Returns the number of the channel of kind `kind` for a symbol, or for a
  /// clip if the kind is NORM. Returns -1 if there is none.
  int32_t find(pdl_channel_kind kind, int32_t symbolOrClip) const;
  /// `lookupOf` returns the index of the program's lookup in a table, and
  /// `updateOf` the index of its update of a symbol; -1 if there is none.
  int32_t lookupOf(int32_t table) const;
  int32_t updateOf(int32_t symbol) const;
  /// Returns the index of the clip that applies to a symbol's gradient, or -1.
  int32_t clipOf(int32_t symbol) const;
  /// Returns the channel that has the keys of channel `number`, which is of
  /// kind ROWS, ROW_GRADIENT or ROW_DELTA. It is the KEYS channel of the same
  /// table; for ROWS of a program with CHANGED_KEYS, it is the CHANGED_KEYS
  /// channel.
  int32_t keysOf(int32_t number) const { return keysChannels[number]; }
  /// Returns the argument `scattered` for `ExchangeMessage::decode`. Sections
  /// of VALUE and ROWS are copied from the slices of the message directly to
  /// their destination, and GRADIENT is added directly from the slices. In mode
  /// geo, no channel is scattered.
  const std::vector<bool> &scattered() const { return scatteredChannels; }
  /// Returns the index of the objective whose sums the LOSS channel `number`
  /// has.
  int32_t objectiveOf(int32_t number) const;
  /// Returns the symbol of channel `number`, which must be of a kind with a
  /// symbol.
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

  /// Unpacks the packed sections of a request to `server`. Afterwards the
  /// message is as if its sections had not been packed. Accepts any bytes;
  /// returns an error if they are not packed sections. Throws std::bad_alloc.
  Status unpack(int32_t server, ExchangeMessage &message) const;

  /// Checks every section of a payload that `server` sends or receives. Returns
  /// an error if a section is not allowed in `form`, if its size is wrong, or
  /// if its keys are not sorted or not owned by the server. `rowCounts` has,
  /// for each channel of kind ROWS or ROW_GRADIENT, the number of rows that the
  /// section must have: the number of requested keys. Not used in mode geo,
  /// whose messages have the keys.
  Status check(ExchangeForm form, int32_t server,
               const ExchangeMessage &message,
               std::span<const int64_t> rowCounts) const;

  /// Decodes and checks a response of `server`. The errors are those of
  /// `decode` and `check`.
  Expected<ExchangeMessage>
  takeResponse(ExchangeForm form, int32_t server, const Message &payload,
               std::span<const int64_t> rowCounts) const;

  /// Copies the blocks of a VALUE section to their positions in the whole
  /// parameter `parameter`. Does nothing if the section is empty. The message
  /// must have passed `check`.
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
  /// The following two vectors are indexed by channel.
  std::vector<int32_t> keysChannels;
  std::vector<bool> scatteredChannels;
};

/// Writes one payload. Not thread-safe.
class ExchangeWriter {
public:
  /// `layout` must outlive the writer. The writer sets `head.program`.
  ExchangeWriter(const ExchangeLayout &layout, ExchangeHead head);

  /// Appends bytes to a channel's section by reference. The bytes must stay
  /// unchanged while `owner` exists; if `owner` is null, until the request or
  /// response has been sent. Channel numbers must not decrease from call to
  /// call. The bytes of several calls for one channel are concatenated.
  void add(int32_t channel, const void *data, size_t bytes,
           std::shared_ptr<const void> owner = nullptr);
  /// Like `add`, but copies the bytes. For a few bytes.
  void addCopy(int32_t channel, const void *data, size_t bytes);
  /// Appends keys: packed if `ExchangeHead::keys` says so, otherwise by
  /// reference as in `add`.
  void addKeys(int32_t channel, std::span<const int64_t> keys,
               const std::shared_ptr<const void> &owner = nullptr);
  /// Appends the blocks of a parameter that `server` owns, by reference, for a
  /// GRADIENT, VALUE or DELTA channel. `parameter` has all elements.
  void addBlocks(int32_t server, int32_t channel, const void *parameter,
                 const std::shared_ptr<const void> &owner = nullptr);

  /// Records that the whole section of a channel was sent before this payload,
  /// as the bytes `place` of a part (ServerSession::sendPart). The writer sets
  /// the position of the section in the payload.
  void addPart(int32_t channel, PartPlace place);

  Message finish();
  /// Returns the positions of the sections that were sent as parts. Call after
  /// `finish`.
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

/// Partitions the keys of a lookup by server. The keys of each server have the
/// order of KEYS sections: by (shard, key), where keys ascend as signed
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
  /// Returns, for each key of `keysOf(server)`, its position in the `keys` that
  /// were passed to `assign`.
  std::span<const int32_t> placesOf(int32_t server) const {
    return {static_cast<const int32_t *>(places.data()) + splits[server],
            size_t(splits[server + 1] - splits[server])};
  }

private:
  AlignedBuffer sorted, places;
  std::vector<int64_t> shardSplits, shardNext;
  /// Index of the first key of each server; the last element is the number of
  /// all keys.
  std::vector<int64_t> splits;
};

/// Numbers that a Reduce request sums over all trainers. Sums of `sums` are
/// added in the order of ranks. All trainers must send vectors of the same
/// lengths.
struct ReduceVectors {
  std::vector<int64_t> counts;
  std::vector<double> sums;
  bool operator==(const ReduceVectors &) const = default;
};

/// Encodes the payload of a Reduce request, or of its response.
Message encodeReduce(const ReduceVectors &vectors);
/// Decodes the payload of a Reduce request or response. Accepts any bytes;
/// returns an error if sizes do not match.
Expected<ReduceVectors> decodeReduce(const Message &payload);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_EXCHANGECODEC_H
