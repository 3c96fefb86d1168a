//===- ReadCodec.h - Messages of readers and servers ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodes and decodes the payloads of Visit and Read messages and of their
// responses (docs/Protocol.md). A reader, such as a serving process, reads the
// state of servers while a job trains. It is not part of the job: its requests
// change nothing, and no process waits for it. All decoders accept any bytes.
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

/// Maximum sizes of a Visit and of a Read, including the head, in bytes. A
/// server rejects larger messages of senders that have not joined.
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

/// The part of a symbol that one server holds.
struct HeldSymbol {
  std::string name;
  bool isTable = false;
  /// Readers get the part of a symbol that frozen programs read. `part` is
  /// empty if it is the value, otherwise the name of the slot. `storage` is its
  /// storage format (`pdl_storage`), and `rowBytes` the size of a row in bytes.
  std::string part;
  int64_t storage = 0;
  uint64_t rowBytes = 0;
  /// Tables: the shards that this server holds.
  std::bitset<pdlabi::logicalShardCount> shards = {};
  /// Parameters: the rows that this server holds, ascending.
  std::vector<RowBlock> rows = {};
};

/// Description of a server for readers: the response to a Visit.
struct ServerContents {
  std::string model;
  uint64_t seed = 0;
  /// `owner`: number of this owner of state. `owners`: number of all owners in
  /// the job.
  int64_t owner = 0, owners = 1;
  /// Parts of the model's description on which values depend. A reader compares
  /// them with the parts of its program.
  std::vector<ModelPart> parts;
  /// Symbols that this server holds a part of. A Read refers to them by their
  /// index.
  std::vector<HeldSymbol> symbols;
};

Message encodeContents(const ServerContents &contents);
Expected<ServerContents> decodeContents(const Message &payload);

/// Keys of one table in a Read. A Read may have several entries for one table.
struct KeysOfTable {
  uint64_t symbol = 0;
  std::span<const int64_t> keys;
};

struct ReadRequest {
  std::vector<KeysOfTable> tables;
  /// True if the request asks for all parameters that the server holds.
  bool withParameters = false;
};

/// Returns the size of a Read with `tables` entries and `keys` keys in total,
/// including its head, in bytes.
uint64_t bytesOfRead(uint64_t tables, uint64_t keys);

/// Encodes a Read. Copies the keys.
Message encodeRead(const ReadRequest &request);

/// A decoded request or response, with the bytes to which it refers.
template <typename Content> struct Decoded {
  Content content;
  /// Copies of bytes that were not contiguous or not aligned in the message.
  std::vector<AlignedBuffer> copies;
  Message bytes;
};
Expected<Decoded<ReadRequest>> decodeRead(const Message &payload);

/// Rows of a table in a response.
struct RowsOfTable {
  /// Bit i is set if requested key i has a row. The least significant bit comes
  /// first.
  std::span<const uint64_t> known;
  /// One row for each key that has a row, in the order of the request.
  std::span<const std::byte> rows;

  bool isKnown(size_t key) const { return known[key / 64] >> (key % 64) & 1; }
};

struct ReadResponse {
  /// Number of applied updates, of the group that has received the most.
  int64_t updates = 0;
  /// Rows for each entry of the request, in the same order.
  std::vector<RowsOfTable> tables;
  /// The rows of each parameter that the server holds, in the order of
  /// `ServerContents::symbols`. Empty if parameters were not requested.
  std::vector<std::span<const std::byte>> parameters;
};

/// Bytes of one table or parameter, with the owner of their memory.
struct OwnedBytes {
  std::shared_ptr<const std::byte> data;
  size_t size = 0;
};

/// Encodes the response to a Read. `known` and `rows` have one element for each
/// entry of the request.
Message encodeReadResponse(int64_t updates,
                           const std::vector<std::vector<uint64_t>> &known,
                           const std::vector<OwnedBytes> &rows,
                           const std::vector<OwnedBytes> &parameters);

/// Decodes a response to `request` from a server with the description
/// `contents`. Returns an error if the response does not match the request.
Expected<Decoded<ReadResponse>>
decodeReadResponse(const Message &payload, const ReadRequest &request,
                   const ServerContents &contents);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_READCODEC_H
