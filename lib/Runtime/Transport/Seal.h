//===- Seal.h - Headers of authenticated messages ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_SEAL_H
#define LIB_RUNTIME_TRANSPORT_SEAL_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/SipHash.h"
#include "pdlrt/Transport/Message.h"
#include "pdlrt/Transport/SealedTransport.h"
#include "pdlrt/Transport/Transport.h"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pdlrt {

enum class SealKind : uint16_t {
  // Sent by connections.
  Hello = 1,   ///< a nonce
  Proof = 2,   ///< both nonces, and the proof of the connection
  Request = 3, ///< a message follows
  // Sent by listeners.
  Challenge = 32,  ///< a nonce
  Welcome = 33,    ///< the proof of the listener
  Response = 34,   ///< a message follows
  UnknownKey = 35, ///< the connection must authenticate again
  Refusal = 36,    ///< an error message
};

/// Little-endian, after a magic number and a version.
struct Seal {
  SealKind kind = SealKind::Hello;
  /// Identifier of the key; in a Hello and a Proof: the role.
  uint64_t key = 0;
  /// Number that increases with each request of a connection. A response has
  /// that of its request.
  uint64_t counter = 0;
  SipDigest digest = {};
};

inline constexpr size_t sealSize = 40;
static_assert(minFront == 2 * sealSize, "a screen sees seal and head");

inline constexpr size_t nonceSize = 32, proofSize = 32;
inline constexpr size_t helloSize = sealSize + nonceSize;
inline constexpr size_t proofMessageSize = sealSize + 2 * nonceSize + proofSize;

/// Returns a message that consists of a seal and `body`.
Message makeSealMessage(const Seal &seal, std::string_view body = {});

/// Parses the seal at the front of a message. `front`: the first bytes of the
/// message, at least as many as a seal has; they may be arbitrary bytes.
/// Returns nothing if they are no seal.
std::optional<Seal> readSeal(const Message &front);

/// Secrets that both sides derive from a token and two nonces.
struct SealSecrets {
  std::string ofConnection, ofListener;
  SipKey key;

  static SealSecrets derive(std::string_view token, PeerRole role,
                            std::string_view connectionNonce,
                            std::string_view listenerNonce);
};

/// Key that both sides have. Thread-safe.
class SealKey {
public:
  SealKey(uint64_t id, PeerRole role, const SipKey &key)
      : id(id), role(role), key(key) {}

  /// Returns `message` with a seal of kind `kind` in front of it.
  Message seal(SealKind kind, uint64_t counter, const Message &message) const;
  /// Checks the digest of a message. `front`: the first bytes of the message
  /// with its seal; at least `minFront` of them, unless the message is shorter.
  /// `size`: size of the message with its seal.
  bool isValid(const Seal &seal, const Message &front, uint64_t size) const;
  /// Records the number of a request. Returns false if the number was used
  /// before, or is so old that this is not known.
  bool takeOnce(uint64_t counter);

  const uint64_t id;
  const PeerRole role;

private:
  /// Returns the digest of a sealed message. `head`: the first `envelopeSize`
  /// bytes after the seal; if there are fewer, padded with zeros.
  SipDigest digestOf(const Seal &seal, const char *head, uint64_t size) const;

  /// Limit of reordering among the requests of a connection.
  static constexpr uint64_t window = 4096;

  const SipKey key;
  Mutex mutex;
  uint64_t newest PDLRT_GUARDED_BY(mutex) = 0;
  std::bitset<window> seen PDLRT_GUARDED_BY(mutex);
};

/// Returns a handler that accepts only requests of authenticated connections.
RequestHandler requireSeals(const Credentials &credentials, Clock &clock,
                            RequestHandler handler, size_t maxKeys = 65536);

/// Returns unpredictable random bytes.
std::string drawNonce();

} // namespace pdlrt

#endif // LIB_RUNTIME_TRANSPORT_SEAL_H
