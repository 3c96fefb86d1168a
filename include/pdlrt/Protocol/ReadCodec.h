//===- ReadCodec.h - What readers ask of servers ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The payloads of Visit and Read, and of their answers (docs/Protocol.md). A
// reader is not of the job: nothing that it sends changes anything, and nobody
// waits for it. Where decoding fails any bytes are safe.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_READCODEC_H
#define PDLRT_PROTOCOL_READCODEC_H

#include "pdlabi/hash.h"
#include "pdlrt/Checkpoint/ModelParts.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/Transport/Message.h"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// The most that a Visit and a Read may have, head and all, in bytes: a server
/// takes no more of whom it does not know.
inline constexpr uint64_t largestVisit = 8192, largestRead = 512 << 10;
/// The most bytes of rows that one Read is answered with.
inline constexpr uint64_t mostBytesOfRows = 16 << 20;

/// Who asks.
struct Visitor {
  /// The name of its model.
  std::string model;
};

Message encodeVisit(const Visitor &visitor);
Expected<Visitor> decodeVisit(const Message &payload);

/// What a server has of a symbol.
struct HeldSymbol {
  std::string name;
  bool isTable = false;
  /// Which part readers are given, what frozen programs read: "" the value,
  /// else the slot of that name; how it is stored (`pdl_storage`), and bytes of
  /// a row.
  std::string part;
  int64_t storage = 0;
  uint64_t rowBytes = 0;
  /// Of a table: its shards here.
  std::bitset<pdlabi::logicalShardCount> shards = {};
  /// Of a parameter: its rows here, ascending.
  std::vector<RowBlock> rows = {};
};

/// What a server says of itself.
struct ServerContents {
  std::string model;
  uint64_t seed = 0;
  /// Its number, and how many owners of state the job has.
  int64_t owner = 0, owners = 1;
  /// What values of the model depend on, to be compared with a program's.
  std::vector<ModelPart> parts;
  /// A Read names them by their places here.
  std::vector<HeldSymbol> symbols;
};

Message encodeContents(const ServerContents &contents);
Expected<ServerContents> decodeContents(const Message &payload);

/// Keys of one table; a Read may have several of one table.
struct KeysOfTable {
  uint64_t symbol = 0;
  std::span<const int64_t> keys;
};

struct ReadRequest {
  std::vector<KeysOfTable> tables;
  /// Asks for all parameters that the server has.
  bool withParameters = false;
};

/// The bytes that a Read of so many keys in so many tables has, with its head.
uint64_t bytesOfRead(uint64_t tables, uint64_t keys);

/// Copies the keys.
Message encodeRead(const ReadRequest &request);

/// A request, or an answer, and the bytes that it refers to.
template <typename Content> struct Decoded {
  Content content;
  /// Where they did not lie as they are used.
  std::vector<AlignedBuffer> copies;
  Message bytes;
};
Expected<Decoded<ReadRequest>> decodeRead(const Message &payload);

/// Which keys of a table have rows, and these.
struct RowsOfTable {
  /// By key, a bit: least bit first.
  std::span<const uint64_t> known;
  /// One row for each key that has one, in their order.
  std::span<const std::byte> rows;

  bool isKnown(size_t key) const { return known[key / 64] >> (key % 64) & 1; }
};

struct ReadAnswer {
  /// Updates that were applied to the group of parameters that has had most.
  int64_t updates = 0;
  /// In the order of the request.
  std::vector<RowsOfTable> tables;
  /// Of each parameter, in the order of the contents, its rows there; none
  /// where they were not asked for.
  std::vector<std::span<const std::byte>> parameters;
};

/// The bytes of one table, or parameter, and who owns them.
struct OwnedBytes {
  std::shared_ptr<const std::byte> data;
  size_t size = 0;
};

/// What a server answers with; `known` and `rows`: by table of the request.
Message encodeReadAnswer(int64_t updates,
                         const std::vector<std::vector<uint64_t>> &known,
                         const std::vector<OwnedBytes> &rows,
                         const std::vector<OwnedBytes> &parameters);

/// `request`: what was asked; `contents`: what that server has. An error where
/// it is no answer to it.
Expected<Decoded<ReadAnswer>> decodeReadAnswer(const Message &payload,
                                               const ReadRequest &request,
                                               const ServerContents &contents);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_READCODEC_H
