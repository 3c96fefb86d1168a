//===- ReadCodec.h - Messages of readers and servers ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The payloads of Visit and Read, and of their responses (docs/Protocol.md). A
// reader is not part of the job: its requests change nothing, and no process
// waits for it. All decoders accept any bytes.
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

/// Maximum sizes in bytes of a Visit and a Read, including the head. A server
/// does not accept larger messages from unknown senders.
inline constexpr uint64_t largestVisit = 8192, largestRead = 512 << 10;
/// Maximum total size in bytes of the rows in one response to a Read.
inline constexpr uint64_t maxBytesOfRows = 16 << 20;

/// Payload of a Visit.
struct Visitor {
  /// Name of the reader's model.
  std::string model;
};

Message encodeVisit(const Visitor &visitor);
Expected<Visitor> decodeVisit(const Message &payload);

/// Part of a symbol that a server holds.
struct HeldSymbol {
  std::string name;
  bool isTable = false;
  /// Name of the part that readers get, which is the part that frozen programs
  /// read: "" for the value, else the slot of that name. Then its storage type
  /// (`pdl_storage`) and the size of a row in bytes.
  std::string part;
  int64_t storage = 0;
  uint64_t rowBytes = 0;
  /// Tables only: the shards on this server.
  std::bitset<pdlabi::logicalShardCount> shards = {};
  /// Parameters only: the rows on this server, ascending.
  std::vector<RowBlock> rows = {};
};

/// Description that a server gives of itself.
struct ServerContents {
  std::string model;
  uint64_t seed = 0;
  /// Number of this owner, and number of all owners of state in the job.
  int64_t owner = 0, owners = 1;
  /// Parts of the model that values depend on, to be compared with a program's.
  std::vector<ModelPart> parts;
  /// A Read refers to symbols by their index here.
  std::vector<HeldSymbol> symbols;
};

Message encodeContents(const ServerContents &contents);
Expected<ServerContents> decodeContents(const Message &payload);

/// Keys of one table. A Read may have several entries for one table.
struct KeysOfTable {
  uint64_t symbol = 0;
  std::span<const int64_t> keys;
};

struct ReadRequest {
  std::vector<KeysOfTable> tables;
  /// Requests all parameters that the server holds.
  bool withParameters = false;
};

/// Returns the size in bytes of a Read with that many tables and keys,
/// including its head.
uint64_t bytesOfRead(uint64_t tables, uint64_t keys);

/// Encodes a Read. Copies the keys.
Message encodeRead(const ReadRequest &request);

/// Decoded request or response, with the bytes that it refers to.
template <typename Content> struct Decoded {
  Content content;
  /// Copies of bytes that were not contiguous or aligned in the message.
  std::vector<AlignedBuffer> copies;
  Message bytes;
};
Expected<Decoded<ReadRequest>> decodeRead(const Message &payload);

/// Rows of a table in a response, and which of the requested keys have one.
struct RowsOfTable {
  /// Bit i is set if key i has a row; least significant bit first.
  std::span<const uint64_t> known;
  /// One row for each key that has one, in key order.
  std::span<const std::byte> rows;

  bool isKnown(size_t key) const { return known[key / 64] >> (key % 64) & 1; }
};

struct ReadResponse {
  /// Number of updates applied to the parameter group that has received most.
  int64_t updates = 0;
  /// In the order of the request.
  std::vector<RowsOfTable> tables;
  /// The server's rows of each parameter, in the order of its contents; empty
  /// if parameters were not requested.
  std::vector<std::span<const std::byte>> parameters;
};

/// Bytes of one table or parameter, and their owner.
struct OwnedBytes {
  std::shared_ptr<const std::byte> data;
  size_t size = 0;
};

/// Encodes the response to a Read. `known` and `rows` are indexed by the tables
/// of the request.
Message encodeReadResponse(int64_t updates,
                           const std::vector<std::vector<uint64_t>> &known,
                           const std::vector<OwnedBytes> &rows,
                           const std::vector<OwnedBytes> &parameters);

/// Decodes a response to `request` from a server that has `contents`. Returns
/// an error if it does not match the request.
Expected<Decoded<ReadResponse>>
decodeReadResponse(const Message &payload, const ReadRequest &request,
                   const ServerContents &contents);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_READCODEC_H
