//===- AppliedLogFormat.h - File format of the log --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A log consists of a magic number and records: the header, requests, and the
// end. A record has a head and a body. Its checksum covers its number, type,
// size and body. So changed, lost, duplicated and moved records are detected.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_APPLIEDLOGFORMAT_H
#define LIB_RUNTIME_SERVER_APPLIEDLOGFORMAT_H

#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <xxhash.h>

namespace pdlrt::appliedlog {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the log is little-endian");

inline constexpr char mark[16] = {'P', 'D', 'L', ' ', 'a', 'p', 'p', 'l',
                                  'i', 'e', 'd', ' ', '0', '0', '4', '\n'};

/// Types of records, and their bodies:
/// - HeaderRecord: `startDigest` (8 bytes), then the handshake.
/// - AloneRecord to DroppedRecord: a request, with its `Turn` as the type. The
///   head of the message, then its payload.
/// - ClosedRecord: a round was closed. No body.
/// - RespondedRecord: the heads of the requests to which the server has
///   responded.
/// - EndRecord: an `AppliedLogEnd`.
/// - WorkersRecord: the number of workers of each trainer (8 bytes). Written
///   when the first trainer has joined.
enum RecordType : uint64_t {
  HeaderRecord = 1,
  AloneRecord,
  InRoundRecord,
  LateRecord,
  DroppedRecord,
  ClosedRecord,
  RespondedRecord,
  EndRecord,
  WorkersRecord
};

inline constexpr RecordType recordOf(Turn turn) {
  return RecordType(AloneRecord + uint64_t(turn));
}
inline constexpr bool isRequest(uint64_t type) {
  return type >= AloneRecord && type <= DroppedRecord;
}
inline constexpr Turn turnOf(uint64_t type) { return Turn(type - AloneRecord); }

struct RecordHead {
  uint64_t type;
  /// Size of the body.
  uint64_t bytes;
  uint64_t checksum;
};

inline uint64_t checksumOf(uint64_t number, uint64_t type,
                           const Message &body) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  const uint64_t head[] = {number, type, body.size()};
  XXH3_64bits_update(&state, head, sizeof(head));
  for (const MessageSlice &slice : body.slices())
    XXH3_64bits_update(&state, slice.data, slice.size);
  return XXH3_64bits_digest(&state);
}

} // namespace pdlrt::appliedlog

#endif // LIB_RUNTIME_SERVER_APPLIEDLOGFORMAT_H
