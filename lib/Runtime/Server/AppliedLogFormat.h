//===- AppliedLogFormat.h - The bytes of a log ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mark, then records: the header, requests, the end. A record is a head and
// a body; its checksum covers its number, type, size and body, so that a record
// that is changed, lost, doubled or moved is noticed.
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

/// Header: `startDigest` (8 bytes), then the handshake. The requests, by how
/// they were taken (`Turn`): the head of the message, then its payload. Closed:
/// a round was, without a body. Answered: the heads of the requests that were.
/// End: an `AppliedLogEnd`. Workers: how many each trainer has (8 bytes), once
/// the first one has joined.
enum RecordType : uint64_t {
  HeaderRecord = 1,
  AloneRecord,
  InRoundRecord,
  LateRecord,
  DroppedRecord,
  ClosedRecord,
  AnsweredRecord,
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
  /// Of the body.
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
