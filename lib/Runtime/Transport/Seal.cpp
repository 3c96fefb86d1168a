//===- Seal.cpp - Headers of authenticated messages -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Seal.h"

#include "pdlrt/Core/RandomNumber.h"
#include "pdlrt/Core/Sha256.h"
#include "pdlrt/Transport/Envelope.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace pdlrt;

static constexpr uint32_t sealMark = 0x414c4450; // "PDLA"
static constexpr uint16_t sealVersion = 1;
/// Number of bytes of a seal before its digest.
static constexpr size_t digestPlace = 24;

using SealBytes = std::array<char, sealSize>;

template <typename T> static void put(char *&to, T value) {
  std::memcpy(to, &value, sizeof(T));
  to += sizeof(T);
}
template <typename T> static T take(const char *&from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  from += sizeof(T);
  return value;
}

static SealBytes encode(const Seal &seal) {
  SealBytes bytes;
  char *to = bytes.data();
  put(to, sealMark);
  put(to, sealVersion);
  put(to, static_cast<uint16_t>(seal.kind));
  put(to, seal.key);
  put(to, seal.counter);
  put(to, seal.digest[0]);
  put(to, seal.digest[1]);
  return bytes;
}

/// Copies the first bytes of a message, as many as exist and fit.
static size_t copyFront(const Message &message, char *to, size_t room) {
  size_t copied = 0;
  for (const MessageSlice &slice : message.slices()) {
    const size_t count = std::min(slice.size, room - copied);
    if (count > 0)
      std::memcpy(to + copied, slice.data, count);
    copied += count;
    if (copied == room)
      break;
  }
  return copied;
}

Message pdlrt::makeSealMessage(const Seal &seal, std::string_view body) {
  const SealBytes bytes = encode(seal);
  return Message::ofString(std::string(bytes.data(), bytes.size()) +
                           std::string(body));
}

std::optional<Seal> pdlrt::readSeal(const Message &front) {
  SealBytes bytes;
  if (copyFront(front, bytes.data(), bytes.size()) < bytes.size())
    return std::nullopt;
  const char *from = bytes.data();
  if (take<uint32_t>(from) != sealMark || take<uint16_t>(from) != sealVersion)
    return std::nullopt;
  Seal seal;
  seal.kind = static_cast<SealKind>(take<uint16_t>(from));
  seal.key = take<uint64_t>(from);
  seal.counter = take<uint64_t>(from);
  seal.digest[0] = take<uint64_t>(from);
  seal.digest[1] = take<uint64_t>(from);
  return seal;
}

SealSecrets SealSecrets::derive(std::string_view token, PeerRole role,
                                std::string_view connectionNonce,
                                std::string_view listenerNonce) {
  const auto of = [&](std::string label) {
    label += char(role);
    label += connectionNonce;
    label += listenerNonce;
    const Sha256Digest digest = hmacSha256(token, label);
    return std::string(reinterpret_cast<const char *>(digest.data()),
                       digest.size());
  };
  SealSecrets secrets;
  secrets.ofConnection = of("pdl connection");
  secrets.ofListener = of("pdl listener");
  const std::string key = of("pdl key");
  std::memcpy(secrets.key.data(), key.data(), sizeof(secrets.key));
  return secrets;
}

SipDigest SealKey::digestOf(const Seal &seal, const char *head,
                            uint64_t size) const {
  std::array<char, digestPlace + sizeof(size) + envelopeSize> input;
  const SealBytes bytes = encode(seal);
  std::memcpy(input.data(), bytes.data(), digestPlace);
  std::memcpy(input.data() + digestPlace, &size, sizeof(size));
  std::memcpy(input.data() + digestPlace + sizeof(size), head, envelopeSize);
  return sipHash128(key, {input.data(), input.size()});
}

Message SealKey::seal(SealKind kind, uint64_t counter,
                      const Message &message) const {
  Seal seal = {kind, id, counter, {}};
  std::array<char, envelopeSize> head = {};
  copyFront(message, head.data(), head.size());
  seal.digest = digestOf(seal, head.data(), sealSize + message.size());
  const SealBytes bytes = encode(seal);
  Message sealed = Message::ofString(std::string(bytes.data(), bytes.size()));
  for (const MessageSlice &slice : message.slices())
    sealed.append(slice);
  return sealed;
}

bool SealKey::isValid(const Seal &seal, const Message &front,
                      uint64_t size) const {
  std::array<char, minFront> bytes = {};
  const size_t count = copyFront(front, bytes.data(), bytes.size());
  if (count < sealSize || count < std::min<uint64_t>(size, minFront))
    return false;
  const SipDigest expected = digestOf(seal, bytes.data() + sealSize, size);
  return ((expected[0] ^ seal.digest[0]) | (expected[1] ^ seal.digest[1])) == 0;
}

bool SealKey::takeOnce(uint64_t counter) {
  const MutexLock lock(mutex);
  if (counter > newest) {
    if (counter - newest >= window)
      seen.reset();
    else
      for (uint64_t each = newest + 1; each < counter; ++each)
        seen.reset(each % window);
    newest = counter;
  } else if (newest - counter >= window || seen.test(counter % window)) {
    return false;
  }
  seen.set(counter % window);
  return true;
}

std::string pdlrt::drawNonce() {
  std::string nonce(nonceSize, '\0');
  for (size_t at = 0; at < nonce.size(); at += sizeof(uint64_t)) {
    const uint64_t number = drawNumber();
    std::memcpy(nonce.data() + at, &number, sizeof(number));
  }
  return nonce;
}
