//===- SealedTransport.cpp - Authenticated connections --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/SealedTransport.h"

#include "Transport/Seal.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/RecursiveMutex.h"
#include "pdlrt/Core/Sha256.h"
#include "pdlrt/Transport/Frame.h"

#include <algorithm>
#include <list>
#include <utility>

using namespace pdlrt;

namespace {

/// Time limit for a listener's response to a Hello or a Proof.
constexpr ClockTime greetingTime = std::chrono::seconds(10);

/// A connection that authenticates itself before its first call.
///
/// `mutex` guards the fields. It is never locked while a completion callback
/// runs. `ending` is locked while a timer ends a call, so that the destructor
/// can wait for that. It is recursive, because the callback may destroy the
/// connection.
class SealedConnection final
    : public std::enable_shared_from_this<SealedConnection> {
public:
  SealedConnection(std::unique_ptr<Connection> over, const Credentials &known,
                   Clock &by)
      : credentials(known), clock(by), inner(std::move(over)) {}

  struct Call {
    Message request;
    ClockTime deadline{0};
    CallDone done;
    /// True if the call was sent before with a key that the listener did not
    /// know.
    bool isRepeated = false;
  };

  void call(Call call);
  void close();

private:
  using Calls = std::list<std::shared_ptr<Call>>;

  void enqueue(Call call) PDLRT_REQUIRES(mutex);
  void send(Call call) PDLRT_REQUIRES(mutex);
  void greet() PDLRT_REQUIRES(mutex);
  Calls stopGreeting() PDLRT_REQUIRES(mutex) {
    isGreeting = false;
    return std::exchange(waiting, {});
  }

  void deadlinePassed(const std::weak_ptr<Call> &of);
  void helloEnded(const std::string &nonce, const CallResult &result);
  void proofEnded(const SealSecrets &expected, const CallResult &result);
  void callEnded(const std::shared_ptr<SealKey> &under, uint64_t number,
                 Call call, CallResult result);
  void fail(const CallResult &result);
  void refuse(const std::string &message);
  /// Returns true if the response has a seal of kind `kind`, followed by `size`
  /// bytes, which are stored in `body`. Otherwise ends all waiting calls and
  /// returns false.
  bool takeResponse(const CallResult &result, SealKind kind, size_t size,
                    std::string &body);

  const Credentials credentials;
  Clock &clock;
  RecursiveMutex ending;
  Mutex mutex;
  std::unique_ptr<Connection> inner PDLRT_GUARDED_BY(mutex);
  std::shared_ptr<SealKey> key PDLRT_GUARDED_BY(mutex);
  uint64_t requests PDLRT_GUARDED_BY(mutex) = 0;
  bool isGreeting PDLRT_GUARDED_BY(mutex) = false;
  Calls waiting PDLRT_GUARDED_BY(mutex);
};

void SealedConnection::call(Call call) {
  const MutexLock lock(mutex);
  if (key)
    send(std::move(call));
  else
    enqueue(std::move(call));
}

void SealedConnection::enqueue(Call call) {
  auto entry = std::make_shared<Call>(std::move(call));
  waiting.push_back(entry);
  clock.runAt(entry->deadline,
              [self = weak_from_this(), of = std::weak_ptr<Call>(entry)] {
                if (const auto there = self.lock())
                  there->deadlinePassed(of);
              });
  if (!isGreeting)
    greet();
}

void SealedConnection::send(Call call) {
  const uint64_t number = ++requests;
  Message sealed = key->seal(SealKind::Request, number, call.request);
  const ClockTime deadline = call.deadline;
  inner->call(std::move(sealed), deadline,
              [self = weak_from_this(), under = key, number,
               call = std::move(call)](CallResult result) mutable {
                if (const auto there = self.lock())
                  there->callEnded(under, number, std::move(call),
                                   std::move(result));
                else
                  call.done({CallOutcome::Unavailable, {}});
              });
}

void SealedConnection::greet() {
  isGreeting = true;
  const std::string nonce = drawNonce();
  inner->call(
      makeSealMessage({SealKind::Hello, uint64_t(credentials.role)}, nonce),
      clock.now() + greetingTime,
      [self = weak_from_this(), nonce](const CallResult &result) {
        if (const auto there = self.lock())
          there->helloEnded(nonce, result);
      });
}

void SealedConnection::deadlinePassed(const std::weak_ptr<Call> &of) {
  const RecursiveLock wait(ending);
  std::shared_ptr<Call> call = of.lock();
  if (!call)
    return;
  {
    const MutexLock lock(mutex);
    const auto found = std::ranges::find(waiting, call);
    if (found == waiting.end())
      return;
    waiting.erase(found);
  }
  call->done({CallOutcome::DeadlineExceeded, {}});
}

bool SealedConnection::takeResponse(const CallResult &result, SealKind kind,
                                    size_t size, std::string &body) {
  if (result.outcome != CallOutcome::Responded) {
    fail({CallOutcome::Unavailable, {}, result.fault});
    return false;
  }
  const std::optional<Seal> seal = readSeal(result.response);
  if (!seal) {
    refuse("what answers there is no PDL server of this version: check the "
           "address, and use trainers, servers and libraries of one version");
    return false;
  }
  body = result.response.toString().substr(sealSize);
  if (seal->kind == kind && body.size() == size)
    return true;
  if (seal->kind == SealKind::Refusal)
    refuse(body);
  else
    fail({CallOutcome::Unavailable, {}});
  return false;
}

void SealedConnection::helloEnded(const std::string &nonce,
                                  const CallResult &result) {
  std::string theirs;
  if (!takeResponse(result, SealKind::Challenge, nonceSize, theirs))
    return;
  const SealSecrets secrets =
      SealSecrets::derive(credentials.token, credentials.role, nonce, theirs);
  const MutexLock lock(mutex);
  if (!inner)
    return;
  inner->call(makeSealMessage({SealKind::Proof, uint64_t(credentials.role)},
                              nonce + theirs + secrets.ofConnection),
              clock.now() + greetingTime,
              [self = weak_from_this(), secrets](const CallResult &answer) {
                if (const auto there = self.lock())
                  there->proofEnded(secrets, answer);
              });
}

void SealedConnection::proofEnded(const SealSecrets &expected,
                                  const CallResult &result) {
  std::string proof;
  if (!takeResponse(result, SealKind::Welcome, proofSize, proof))
    return;
  if (!equalInConstantTime(proof, expected.ofListener)) {
    refuse("what answers there does not know the token of this process; check "
           "the address");
    return;
  }
  const uint64_t id = readSeal(result.response)->key;
  const MutexLock lock(mutex);
  if (!inner)
    return;
  key = std::make_shared<SealKey>(id, credentials.role, expected.key);
  for (const std::shared_ptr<Call> &call : stopGreeting())
    send(std::move(*call));
}

void SealedConnection::callEnded(const std::shared_ptr<SealKey> &under,
                                 uint64_t number, Call call,
                                 CallResult result) {
  if (result.outcome != CallOutcome::Responded) {
    call.done(std::move(result));
    return;
  }
  const std::optional<Seal> seal = readSeal(result.response);
  if (seal && seal->kind == SealKind::Response && seal->key == under->id &&
      seal->counter == number &&
      under->isValid(*seal, result.response, result.response.size())) {
    takeFront(result.response, sealSize);
    call.done(std::move(result));
    return;
  }
  {
    const MutexLock lock(mutex);
    // The listener was restarted, or has dropped the key.
    const bool isUnknown = seal && seal->kind == SealKind::UnknownKey;
    if (isUnknown && key == under)
      key = nullptr;
    if (isUnknown && inner && !std::exchange(call.isRepeated, true)) {
      if (key)
        send(std::move(call));
      else
        enqueue(std::move(call));
      return;
    }
  }
  call.done({CallOutcome::Unavailable, {}});
}

void SealedConnection::fail(const CallResult &result) {
  Calls ended;
  {
    const MutexLock lock(mutex);
    ended = stopGreeting();
  }
  for (const std::shared_ptr<Call> &call : ended)
    call->done(result);
}

/// Ends all calls of the connection with the refusal `message`.
void SealedConnection::refuse(const std::string &message) {
  Calls ended;
  {
    const MutexLock lock(mutex);
    ended = stopGreeting();
  }
  for (const std::shared_ptr<Call> &call : ended) {
    Envelope head;
    if (const auto own = readHead(call->request))
      head = *own;
    head.kind = MessageKind::Refusal;
    call->done(
        {CallOutcome::Responded, joinFrame(head, Message::ofString(message))});
  }
}

void SealedConnection::close() {
  std::unique_ptr<Connection> last;
  Calls ended;
  {
    const MutexLock lock(mutex);
    last = std::move(inner);
  }
  // Waits for the completion callbacks of its calls.
  last.reset();
  const RecursiveLock wait(ending);
  {
    const MutexLock lock(mutex);
    ended = stopGreeting();
  }
  for (const std::shared_ptr<Call> &call : ended)
    call->done({CallOutcome::Unavailable, {}});
}

class SealedConnectionHandle final : public Connection {
public:
  explicit SealedConnectionHandle(std::shared_ptr<SealedConnection> of)
      : state(std::move(of)) {}
  ~SealedConnectionHandle() override { state->close(); }
  SealedConnectionHandle(const SealedConnectionHandle &) = delete;
  SealedConnectionHandle &operator=(const SealedConnectionHandle &) = delete;

  void call(Message request, ClockTime deadline, CallDone done) override {
    state->call({std::move(request), deadline, std::move(done)});
  }

private:
  const std::shared_ptr<SealedConnection> state;
};

class SealedTransport final : public Transport {
public:
  SealedTransport(std::unique_ptr<Transport> over, const Credentials &known)
      : credentials(known), inner(std::move(over)) {}
  Clock &clock() override { return inner->clock(); }

  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    return inner->listen(
        address, requireSeals(credentials, clock(), std::move(handler)));
  }
  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    Expected<std::unique_ptr<Connection>> made = inner->connect(address);
    if (!made)
      return made;
    return std::unique_ptr<Connection>(std::make_unique<SealedConnectionHandle>(
        std::make_shared<SealedConnection>(std::move(*made), credentials,
                                           clock())));
  }

private:
  const Credentials credentials;
  const std::unique_ptr<Transport> inner;
};

} // namespace

std::unique_ptr<Transport>
pdlrt::createSealedTransport(std::unique_ptr<Transport> inner,
                             const Credentials &credentials) {
  return std::make_unique<SealedTransport>(std::move(inner), credentials);
}
