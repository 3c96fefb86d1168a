//===- Seal.h - What stands before an authenticated message -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_SEAL_H
#define LIB_RUNTIME_TRANSPORT_SEAL_H

#include "pdlrt/Core/SipHash.h"
#include "pdlrt/Transport/Message.h"
#include "pdlrt/Transport/SealedTransport.h"
#include "pdlrt/Transport/Transport.h"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace pdlrt {

enum class SealKind : uint16_t {
  // Of connections.
  Hello = 1,   ///< a nonce
  Proof = 2,   ///< both nonces, and the proof of the connection
  Request = 3, ///< a message follows
  // Of listeners.
  Challenge = 32,  ///< a nonce
  Welcome = 33,    ///< the proof of the listener
  Response = 34,   ///< a message follows
  UnknownKey = 35, ///< authenticate anew
  Refusal = 36,    ///< a sentence
};

/// Little-endian, behind a mark and a version.
struct Seal {
  SealKind kind = SealKind::Hello;
  /// Of the key; in a Hello and a Proof: the role.
  uint64_t key = 0;
  /// Grows with each request of a connection; a response repeats it.
  uint64_t counter = 0;
  SipDigest digest = {};
};

inline constexpr size_t sealSize = 40;
static_assert(leastFront == 2 * sealSize, "a screen sees seal and head");

inline constexpr size_t nonceSize = 32, proofSize = 32;
inline constexpr size_t helloSize = sealSize + nonceSize;
inline constexpr size_t proofMessageSize = sealSize + 2 * nonceSize + proofSize;

/// A message that carries no other one.
Message makeSealMessage(const Seal &seal, std::string_view body = {});

/// The seal at the front of a message, of which at least the first bytes are
/// there; nothing where there is none. Any bytes are safe.
std::optional<Seal> readSeal(const Message &front);

/// What both ends derive from a token and two nonces.
struct SealSecrets {
  std::string ofConnection, ofListener;
  SipKey key;

  static SealSecrets derive(std::string_view token, PeerRole role,
                            std::string_view connectionNonce,
                            std::string_view listenerNonce);
};

/// A key that both ends have. Thread-safe.
class SealKey {
public:
  SealKey(uint64_t id, PeerRole role, const SipKey &key)
      : id(id), role(role), key(key) {}

  /// The message behind a seal of that kind.
  Message seal(SealKind kind, uint64_t counter, const Message &message) const;
  /// Whether the digest is that of a message of `size` bytes, seal and all,
  /// which begins with `front`. Where it has as many, `front` has `leastFront`
  /// bytes at least.
  bool isValid(const Seal &seal, const Message &front, uint64_t size) const;
  /// Notes the number of a request; false where it has come before, or is far
  /// below others that have come.
  bool takeOnce(uint64_t counter);

  const uint64_t id;
  const PeerRole role;

private:
  /// `head`: the first bytes behind the seal, `envelopeSize` of them, zeros
  /// where the message has fewer.
  SipDigest digestOf(const Seal &seal, const char *head, uint64_t size) const;

  /// How far the requests of a connection may overtake each other.
  static constexpr uint64_t window = 4096;

  const SipKey key;
  std::mutex mutex;
  uint64_t newest = 0;
  std::bitset<window> seen;
};

/// A handler that takes requests of authenticated connections only.
RequestHandler requireSeals(const Credentials &credentials, Clock &clock,
                            RequestHandler handler);

/// Random bytes that nobody can guess.
std::string drawNonce();

} // namespace pdlrt

#endif // LIB_RUNTIME_TRANSPORT_SEAL_H
