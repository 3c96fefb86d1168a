//===- SealedListener.cpp - Authentication of requests --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Seal.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Sha256.h"
#include "pdlrt/Transport/Frame.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

using namespace pdlrt;

Credentials
pdlrt::serverCredentials(const std::string &token,
                         const std::optional<std::string> &readerToken) {
  Credentials credentials;
  credentials.token = token;
  credentials.readerToken = readerToken;
  if (!readerToken && token.empty())
    credentials.readerToken = "";
  return credentials;
}

namespace {

/// Time limit for the proof of a connection.
constexpr ClockTime proofTime = std::chrono::seconds(60);

/// Sends the response to a sealed request.
class SealingSink final : public Responder::Sink {
public:
  SealingSink(Responder to, std::shared_ptr<const SealKey> with,
              uint64_t counter)
      : inner(std::move(to)), key(std::move(with)), counter(counter) {}
  void respond(Message response) override {
    inner.respond(key->seal(SealKind::Response, counter, response));
  }

private:
  Responder inner;
  const std::shared_ptr<const SealKey> key;
  const uint64_t counter;
};

/// The keys and open handshakes of a listener. Thread-safe.
class Gate {
public:
  Gate(const Credentials &given, Clock &by, size_t maxKeys)
      : credentials(given), clock(by), maxKeys(maxKeys),
        cookieKey(drawCookieKey()) {}

  Message respond(const Seal &seal, const Message &message);
  /// Returns the key of a request, or null if the key is not known or the
  /// digest is wrong.
  std::shared_ptr<SealKey> keyOf(const Seal &seal, const Message &front,
                                 uint64_t size);

private:
  static SipKey drawCookieKey() {
    const std::string nonce = drawNonce();
    SipKey key;
    std::memcpy(key.data(), nonce.data(), sizeof(key));
    return key;
  }
  /// Returns the token of a role; null: the role is rejected.
  const std::string *tokenOf(PeerRole role) const {
    if (role == PeerRole::Member)
      return &credentials.token;
    return role == PeerRole::Reader && credentials.readerToken
               ? &*credentials.readerToken
               : nullptr;
  }
  std::string makeNonce(PeerRole role, std::string_view connectionNonce) const;
  /// Returns the time at which `makeNonce` has made a nonce; none if it has not
  /// made this nonce.
  std::optional<ClockTime> timeOfNonce(PeerRole role,
                                       std::string_view connectionNonce,
                                       std::string_view nonce) const;
  SipDigest cookieOf(PeerRole role, std::string_view connectionNonce,
                     std::string_view begin) const {
    return sipHash128(cookieKey, std::string(begin) +
                                     std::string(connectionNonce) + char(role));
  }
  bool add(std::shared_ptr<SealKey> key, ClockTime challenged);

  struct Entry {
    std::shared_ptr<SealKey> key;
    /// Time at which the challenge of the key was made.
    ClockTime challenged;
    uint64_t lastUse = 0;
  };

  const Credentials credentials;
  Clock &clock;
  const size_t maxKeys;
  const SipKey cookieKey;
  Mutex mutex;
  std::map<uint64_t, Entry> keys PDLRT_GUARDED_BY(mutex);
  /// Time of the newest challenge whose key was forgotten.
  std::optional<ClockTime> forgotten PDLRT_GUARDED_BY(mutex);
  uint64_t uses PDLRT_GUARDED_BY(mutex) = 0;
};

Message refusal(const std::string &message) {
  return makeSealMessage({SealKind::Refusal}, message);
}

/// Returns the nonce of the listener. It consists of a random number, which
/// becomes the identifier of the key, the time, and a digest of both and of the
/// connection's nonce. Only this listener knows the key of the digest, so it
/// recognizes its own nonce, and need not store anything before it receives a
/// proof.
std::string Gate::makeNonce(PeerRole role,
                            std::string_view connectionNonce) const {
  std::string nonce = drawNonce().substr(0, sizeof(uint64_t));
  const int64_t now = clock.now().count();
  nonce.append(reinterpret_cast<const char *>(&now), sizeof(now));
  const SipDigest cookie = cookieOf(role, connectionNonce, nonce);
  nonce.append(reinterpret_cast<const char *>(cookie.data()), sizeof(cookie));
  return nonce;
}

std::optional<ClockTime> Gate::timeOfNonce(PeerRole role,
                                           std::string_view connectionNonce,
                                           std::string_view nonce) const {
  constexpr size_t begin = 2 * sizeof(uint64_t);
  const SipDigest cookie =
      cookieOf(role, connectionNonce, nonce.substr(0, begin));
  int64_t then = 0;
  std::memcpy(&then, nonce.data() + sizeof(uint64_t), sizeof(then));
  const bool isOwn = equalInConstantTime(
      {reinterpret_cast<const char *>(cookie.data()), sizeof(cookie)},
      nonce.substr(begin));
  return isOwn ? std::optional(ClockTime(then)) : std::nullopt;
}

/// Returns the response to a Hello or a Proof.
Message Gate::respond(const Seal &seal, const Message &message) {
  const auto role = static_cast<PeerRole>(seal.key);
  const std::string *token = tokenOf(role);
  if (!token)
    return refusal(
        "this job takes no readers: it has a secret, and readers need one of "
        "their own; start its servers with --reader-token-file, and give "
        "readers what stands in that file");
  const std::string bytes = message.toString().substr(sealSize);
  const std::string_view nonce = std::string_view(bytes).substr(0, nonceSize);
  if (seal.kind == SealKind::Hello)
    return makeSealMessage({SealKind::Challenge}, makeNonce(role, nonce));
  const std::string_view own =
      std::string_view(bytes).substr(nonceSize, nonceSize);
  const std::optional<ClockTime> challenged = timeOfNonce(role, nonce, own);
  if (!challenged || clock.now() - *challenged > proofTime)
    return makeSealMessage({SealKind::UnknownKey});
  const SealSecrets secrets = SealSecrets::derive(*token, role, nonce, own);
  if (!equalInConstantTime(std::string_view(bytes).substr(2 * nonceSize),
                           secrets.ofConnection))
    return refusal(
        role == PeerRole::Reader
            ? "the reader and the server have different tokens; give the "
              "reader that of the servers' --reader-token-file, and check the "
              "addresses"
            : "the trainer and the server have different tokens; give both the "
              "same --token-file, and check --servers: this may be another "
              "job's address");
  uint64_t id = 0;
  std::memcpy(&id, own.data(), sizeof(id));
  if (!add(std::make_shared<SealKey>(id, role, secrets.key), *challenged))
    return makeSealMessage({SealKind::UnknownKey});
  return makeSealMessage({SealKind::Welcome, id}, secrets.ofListener);
}

/// Adds a key, unless it is known already. So a repeated proof does not reset
/// which requests have arrived under the key. If there are too many keys,
/// forgets the one that was not used for the longest time. Returns false if the
/// proof is so old that its key may have been forgotten; the connection must
/// authenticate itself again.
bool Gate::add(std::shared_ptr<SealKey> key, ClockTime challenged) {
  const MutexLock lock(mutex);
  if (keys.contains(key->id))
    return true;
  if (forgotten && challenged <= *forgotten)
    return false;
  if (keys.size() >= maxKeys) {
    const auto oldest = std::ranges::min_element(
        keys, {}, [](const auto &entry) { return entry.second.lastUse; });
    const ClockTime then = oldest->second.challenged;
    forgotten = std::max(forgotten.value_or(then), then);
    keys.erase(oldest);
  }
  const uint64_t id = key->id;
  keys.emplace(id, Entry{std::move(key), challenged, ++uses});
  return true;
}

std::shared_ptr<SealKey> Gate::keyOf(const Seal &seal, const Message &front,
                                     uint64_t size) {
  std::shared_ptr<SealKey> key;
  {
    const MutexLock lock(mutex);
    const auto found = keys.find(seal.key);
    if (found == keys.end())
      return nullptr;
    found->second.lastUse = ++uses;
    key = found->second.key;
  }
  return key->isValid(seal, front, size) ? key : nullptr;
}

/// If the role of an authenticated connection does not allow a request, returns
/// the response that refuses it. Otherwise returns nothing.
std::optional<Message> refuseRole(const SealKey &key, const Message &front) {
  const auto head = readHead(front);
  if (!head || isOfReaders(head->kind) == (key.role == PeerRole::Reader))
    return std::nullopt;
  Envelope refused = *head;
  refused.kind = MessageKind::Refusal;
  return joinFrame(
      refused,
      Message::ofString(key.role == PeerRole::Reader
                            ? "a reader cannot take part in a job; give the "
                              "process the job's --token-file"
                            : "a member of a job does not read as readers do; "
                              "give the reader the servers' "
                              "--reader-token-file"));
}

std::optional<Message> screenSealed(Gate &gate, const RequestHandler &handler,
                                    const Message &front, uint64_t size) {
  const std::optional<Seal> seal = readSeal(front);
  const auto isOf = [&](SealKind kind, size_t expected) {
    return seal && seal->kind == kind && size == expected;
  };
  if (isOf(SealKind::Hello, helloSize) ||
      isOf(SealKind::Proof, proofMessageSize))
    return std::nullopt;
  if (!seal || seal->kind != SealKind::Request)
    return refusal("the request is not authenticated: use trainers, servers "
                   "and libraries of one version");
  const std::shared_ptr<SealKey> key = gate.keyOf(*seal, front, size);
  // A replayed request is rejected, too.
  if (!key || !key->takeOnce(seal->counter))
    return makeSealMessage({SealKind::UnknownKey, seal->key, seal->counter});
  Message inner = front;
  takeFront(inner, sealSize);
  std::optional<Message> response = refuseRole(*key, inner);
  if (!response)
    response = handler.screen(inner, size - sealSize);
  if (response)
    response = key->seal(SealKind::Response, seal->counter, *response);
  return response;
}

void handleSealed(Gate &gate, const RequestHandler &handler, Message request,
                  Responder responder) {
  const std::optional<Seal> seal = readSeal(request);
  if (!seal)
    return;
  if (seal->kind != SealKind::Request) {
    responder.respond(gate.respond(*seal, request));
    return;
  }
  std::shared_ptr<SealKey> key = gate.keyOf(*seal, request, request.size());
  if (!key)
    return;
  takeFront(request, sealSize);
  handler(std::move(request),
          Responder(std::make_shared<SealingSink>(
              std::move(responder), std::move(key), seal->counter)));
}

} // namespace

RequestHandler pdlrt::requireSeals(const Credentials &credentials, Clock &clock,
                                   RequestHandler handler, size_t maxKeys) {
  auto gate = std::make_shared<Gate>(credentials, clock, maxKeys);
  auto inner = std::make_shared<const RequestHandler>(std::move(handler));
  return {[gate, inner](Message request, Responder responder) {
            handleSealed(*gate, *inner, std::move(request),
                         std::move(responder));
          },
          [gate, inner](const Message &front, uint64_t size) {
            return screenSealed(*gate, *inner, front, size);
          }};
}
