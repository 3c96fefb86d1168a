//===- Mutants.cpp - Deliberate faults in the protocol --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mutants.h"

#include "pdlrt/Protocol/StartSign.h"
#include "pdlrt/Server/PassingApplication.h"
#include "pdlrt/Testing/Simulator/ToyTable.h"
#include "pdlrt/Testing/Simulator/WrappingTransport.h"
#include "pdlrt/Transport/Frame.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

//===----------------------------------------------------------------------===//
// Faults in front of a server
//===----------------------------------------------------------------------===//

using HeadKey = std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>;
HeadKey keyOf(const Envelope &head) {
  return {head.trainer, head.worker, head.incarnation, head.sequence};
}

/// Handles the decoded request of a call, which the function forwards itself.
using Filter = std::function<void(const Frame &, const Message &, Responder &,
                                  const RequestHandler &)>;

RequestHandler filtered(RequestHandler protocol, Filter filter) {
  return [protocol = std::move(protocol), filter = std::move(filter)](
             const Message &request, Responder responder) {
    if (const auto frame = splitFrame(request))
      filter(*frame, request, responder, protocol);
    else
      protocol(request, std::move(responder));
  };
}

/// Distinguishes copies of numbered requests from the originals.
class Copies {
public:
  bool isCopy(const Envelope &head) {
    return head.sequence > 0 && head.kind != MessageKind::Poll &&
           head.kind != MessageKind::Part && ++counts[keyOf(head)] > 1;
  }
  /// Returns true if `head` is a Poll for a request that has arrived.
  bool isPoll(const Envelope &head) const {
    return head.kind == MessageKind::Poll && counts.contains(keyOf(head));
  }

private:
  std::map<HeadKey, int> counts;
};

SimulationHooks noDeduplication(const Scenario &) {
  SimulationHooks hooks;
  hooks.wrapServer = [](RequestHandler protocol,
                        ServerApplication &application) {
    return filtered(std::move(protocol),
                    [copies = std::make_shared<Copies>(), &application](
                        const Frame &frame, const Message &request,
                        Responder &responder, const RequestHandler &next) {
                      if (copies->isCopy(frame.head)) {
                        if (isOfSteps(frame.head.kind))
                          (void)application.take(frame.head, frame.payload,
                                                 Turn::Alone);
                        else
                          (void)application.handle(frame.head, frame.payload);
                      }
                      next(request, std::move(responder));
                    });
  };
  return hooks;
}

SimulationHooks repeatedResponseLost(const Scenario &) {
  SimulationHooks hooks;
  hooks.wrapServer = [](RequestHandler protocol, ServerApplication &) {
    return filtered(std::move(protocol),
                    [copies = std::make_shared<Copies>()](
                        const Frame &frame, const Message &request,
                        Responder &responder, const RequestHandler &next) {
                      if (!copies->isCopy(frame.head) &&
                          !copies->isPoll(frame.head))
                        next(request, std::move(responder));
                    });
  };
  return hooks;
}

SimulationHooks staleEpochAccepted(const Scenario &scenario) {
  SimulationHooks hooks;
  hooks.wrapServer = [&scenario](RequestHandler protocol, ServerApplication &) {
    return filtered(
        std::move(protocol),
        [&scenario](const Frame &frame, const Message &, Responder &responder,
                    const RequestHandler &next) {
          Envelope head = frame.head;
          head.epoch = scenario.core.epoch;
          next(joinFrame(head, frame.payload, frame.note, frame.parts),
               std::move(responder));
        });
  };
  return hooks;
}

/// Uses parts of an earlier request for this one.
SimulationHooks partsOfEarlierRequest(const Scenario &) {
  SimulationHooks hooks;
  hooks.wrapServer = [](RequestHandler protocol, ServerApplication &) {
    using PartKey = std::tuple<uint32_t, uint32_t, std::string>;
    return filtered(
        std::move(protocol),
        [first = std::make_shared<std::map<PartKey, std::string>>()](
            const Frame &frame, const Message &request, Responder &responder,
            const RequestHandler &next) {
          if (frame.head.kind != MessageKind::Part) {
            next(request, std::move(responder));
            return;
          }
          const std::string bytes = frame.payload.toString();
          constexpr size_t numberSize = sizeof(uint64_t);
          std::string kept =
              first
                  ->try_emplace({frame.head.trainer, frame.head.worker,
                                 bytes.substr(0, numberSize)},
                                bytes)
                  .first->second;
          kept.resize(bytes.size());
          next(joinFrame(frame.head, Message::ofString(std::move(kept))),
               std::move(responder));
        });
  };
  return hooks;
}

/// Accepts requests of a previous incarnation.
SimulationHooks noFencing(const Scenario &) {
  SimulationHooks hooks;
  hooks.wrapServer = [](RequestHandler protocol, ServerApplication &) {
    return filtered(
        std::move(protocol),
        [newest = std::make_shared<std::map<uint32_t, uint64_t>>()](
            const Frame &frame, const Message &, Responder &responder,
            const RequestHandler &next) {
          Envelope head = frame.head;
          uint64_t &known = (*newest)[head.trainer];
          known = std::max(known, head.incarnation);
          if (head.kind != MessageKind::Greet)
            head.incarnation = known;
          next(joinFrame(head, frame.payload, frame.note, frame.parts),
               std::move(responder));
        });
  };
  return hooks;
}

/// Admits every process, even if another one has its rank.
SimulationHooks livingStartReplaced(const Scenario &) {
  SimulationHooks hooks;
  hooks.wrapServer = [](RequestHandler protocol, ServerApplication &) {
    return filtered(
        std::move(protocol),
        [newest = std::make_shared<std::map<uint32_t, uint64_t>>()](
            const Frame &frame, const Message &request, Responder &responder,
            const RequestHandler &next) {
          Envelope head = frame.head;
          uint64_t &known = (*newest)[head.trainer];
          if (head.kind == MessageKind::Greet) {
            head.kind = MessageKind::Response;
            head.sequence = known + 1;
            responder.respond(joinFrame(head, {}));
          } else if (head.kind == MessageKind::Join) {
            known = std::max(known, head.incarnation);
            StartSign start = *decodeStartSign(frame.note);
            start.claim = StartSign::Claim::Decided;
            next(joinFrame(head, frame.payload, encodeStartSign(start)),
                 std::move(responder));
          } else {
            next(request, std::move(responder));
          }
        });
  };
  return hooks;
}

//===----------------------------------------------------------------------===//
// Faults in front of an application
//===----------------------------------------------------------------------===//

template <typename Application>
SimulationHooks withApplication(const Scenario &scenario) {
  SimulationHooks hooks;
  hooks.wrapApplication = [&scenario](ServerApplication &table) {
    return std::make_unique<Application>(table, scenario);
  };
  return hooks;
}

/// Sums in the order of arrival.
class ArrivalOrder final : public PassingApplication {
public:
  ArrivalOrder(ServerApplication &over, const Scenario &)
      : PassingApplication(over) {}
  Expected<StepFacts> check(const Envelope &request,
                            const Message &payload) override {
    if (isOfSteps(request.kind))
      arrived.emplace_back(request, payload);
    return inner.check(request, payload);
  }
  Status take(const Envelope &request, Message payload, Turn turn) override {
    if (turn == Turn::InRound)
      return {};
    std::erase_if(arrived,
                  [&](const auto &each) { return each.first == request; });
    return inner.take(request, std::move(payload), turn);
  }
  Status closeRound(MessageKind kind) override {
    for (auto &[head, payload] : std::exchange(arrived, {}))
      PDLRT_RETURN_IF_ERROR(inner.take(head, payload, Turn::InRound));
    return inner.closeRound(kind);
  }

private:
  std::vector<std::pair<Envelope, Message>> arrived;
};

/// Changes responses in place.
Expected<std::vector<Message>>
changed(Expected<std::vector<Message>> responses,
        const std::function<void(ToyResponse &)> &change) {
  if (responses)
    for (Message &answer : *responses) {
      ToyResponse decoded = *ToyResponse::decode(answer);
      change(decoded);
      answer = decoded.encode();
    }
  return responses;
}

/// Sums in another order, but records the correct order, so that only values
/// show the fault.
class ArrivalOrderOfValues final : public PassingApplication {
public:
  ArrivalOrderOfValues(ServerApplication &over, const Scenario &)
      : PassingApplication(over) {}
  Expected<StepFacts> check(const Envelope &request,
                            const Message &payload) override {
    if (isOfSteps(request.kind))
      if (const auto decoded = ToyRequest::decode(payload);
          decoded && decoded->hasPart)
        arrived.push_back(decoded->part);
    return inner.check(request, payload);
  }
  Status closeRound(MessageKind kind) override {
    const ToyBlock before = dynamic_cast<ToyTable &>(inner).state().dense;
    PDLRT_RETURN_IF_ERROR(inner.closeRound(kind));
    const auto parts = std::exchange(arrived, {});
    dense.reset();
    if (parts.empty())
      return {};
    dense = parts.front();
    for (size_t part = 1; part < parts.size(); ++part)
      for (size_t i = 0; i < dense->size(); ++i)
        (*dense)[i] += parts[part][i];
    for (size_t i = 0; i < dense->size(); ++i) {
      const float half = 0.5f * before[i];
      (*dense)[i] = half + (*dense)[i];
    }
    return {};
  }
  Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) override {
    return changed(inner.respond(requests), [&](ToyResponse &answer) {
      if (dense)
        answer.dense = *dense;
    });
  }

private:
  std::vector<ToyBlock> arrived;
  std::optional<ToyBlock> dense;
};

/// Does not wait for the last trainer.
class RoundClosedEarly final : public PassingApplication {
public:
  RoundClosedEarly(ServerApplication &over, const Scenario &scenario)
      : PassingApplication(over), trainers(scenario.trainers) {}
  Status take(const Envelope &request, Message payload, Turn turn) override {
    const MessageKind kind = request.kind;
    const uint32_t rank = request.trainer;
    PDLRT_RETURN_IF_ERROR(inner.take(request, std::move(payload), turn));
    isClosed = turn == Turn::InRound && rank + 2 == trainers;
    return isClosed ? inner.closeRound(kind) : Status();
  }
  Status closeRound(MessageKind kind) override {
    return std::exchange(isClosed, false) ? Status() : inner.closeRound(kind);
  }

private:
  uint32_t trainers;
  bool isClosed = false;
};

/// Responds with the state before the round.
class ResponseBeforeApply final : public PassingApplication {
public:
  ResponseBeforeApply(ServerApplication &over, const Scenario &)
      : PassingApplication(over) {}
  Status closeRound(MessageKind kind) override {
    before = dynamic_cast<ToyTable &>(inner).state();
    return inner.closeRound(kind);
  }
  Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) override {
    return changed(inner.respond(requests), [&](ToyResponse &answer) {
      answer.dense = before.dense;
      for (auto &[key, count] : answer.counters)
        count = before.counters[key];
    });
  }

private:
  ToyState before;
};

/// Swaps the responses of senders.
class AnotherSendersResponse final : public PassingApplication {
public:
  AnotherSendersResponse(ServerApplication &over, const Scenario &)
      : PassingApplication(over) {}
  Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) override {
    std::vector<Message> responses = *inner.respond(requests);
    std::rotate(responses.begin(), responses.begin() + 1, responses.end());
    return responses;
  }
};

/// Application with another policy than that of its mode.
template <typename Change> class OtherPolicy final : public PassingApplication {
public:
  OtherPolicy(ServerApplication &over, const Scenario &scenario)
      : PassingApplication(over), policy(Change::policyOf(scenario)) {}
  const RoundPolicy &roundPolicy() const override { return *policy; }

private:
  std::unique_ptr<RoundPolicy> policy;
};

/// Lets senders get one step further ahead than allowed.
struct LooserStaleness {
  static std::unique_ptr<RoundPolicy> policyOf(const Scenario &scenario) {
    return createBoundedStaleness(scenario.staleness + 1);
  }
};
/// Delays senders one step earlier than allowed.
struct TighterStaleness {
  static std::unique_ptr<RoundPolicy> policyOf(const Scenario &scenario) {
    return createBoundedStaleness(scenario.staleness - 1);
  }
};
/// Policy that closes rounds with one request less, or with one request more.
struct SmallerQuorum {
  static std::unique_ptr<RoundPolicy> policyOf(const Scenario &scenario) {
    return createQuorum(scenario.quorum - 1, scenario.late);
  }
};
struct LargerQuorum {
  static std::unique_ptr<RoundPolicy> policyOf(const Scenario &scenario) {
    return createQuorum(scenario.quorum + 1, scenario.late);
  }
};
/// Counts late gradients that should be dropped, and drops those that should
/// count.
struct OtherLateness {
  static std::unique_ptr<RoundPolicy> policyOf(const Scenario &scenario) {
    return createQuorum(scenario.quorum, scenario.late == LateGradients::Drop
                                             ? LateGradients::Count
                                             : LateGradients::Drop);
  }
};

/// A quorum policy that a mutant changes in part.
class PassingQuorum : public RoundPolicy {
public:
  explicit PassingQuorum(const Scenario &scenario)
      : quorum(createQuorum(scenario.quorum, scenario.late)) {}
  bool formsRounds(MessageKind kind, const StepFacts &facts) const override {
    return quorum->formsRounds(kind, facts);
  }
  bool isExpected(const RoundContent &round, uint32_t rank) const override {
    return quorum->isExpected(round, rank);
  }
  bool isComplete(const RoundContent &round) const override {
    return quorum->isComplete(round);
  }
  bool isFull(const RoundContent &round) const override {
    return quorum->isFull(round);
  }
  bool waitsForAll(MessageKind kind) const override {
    return quorum->waitsForAll(kind);
  }
  LateGradients late() const override { return quorum->late(); }

protected:
  std::unique_ptr<RoundPolicy> quorum;
};
template <typename Policy> struct Of {
  static std::unique_ptr<RoundPolicy> policyOf(const Scenario &scenario) {
    return std::make_unique<Policy>(scenario);
  }
};

/// Closes rounds with catching-up trainers before they are full.
class NeverPauses final : public PassingQuorum {
public:
  using PassingQuorum::PassingQuorum;
  bool isFull(const RoundContent &) const override { return true; }
};
/// Policy that pauses rounds although no trainer catches up, or although they
/// are full.
class PausesTooOften final : public PassingQuorum {
public:
  using PassingQuorum::PassingQuorum;
  bool isFull(const RoundContent &round) const override {
    return quorum->isFull(round) &&
           (waitsForAll(round.kind) ||
            std::none_of(round.takesPart.begin(), round.takesPart.end(),
                         [](bool takesPart) { return takesPart; }));
  }
};
/// Treats a trainer that has finished one step less as one that had the step.
class PausesForOthers final : public PassingQuorum {
public:
  using PassingQuorum::PassingQuorum;
  bool isFull(const RoundContent &round) const override {
    RoundContent other = round;
    for (size_t rank = 0; rank < other.steps.size(); ++rank)
      other.steps[rank] += !other.hasCome[rank];
    return quorum->isFull(other);
  }
};

/// Handles late requests as if they were in time.
class LateInRound final : public PassingApplication {
public:
  LateInRound(ServerApplication &over, const Scenario &)
      : PassingApplication(over) {}
  Status take(const Envelope &request, Message payload, Turn turn) override {
    return inner.take(
        request, std::move(payload),
        turn == Turn::Late || turn == Turn::Dropped ? Turn::InRound : turn);
  }
};

//===----------------------------------------------------------------------===//
// Faults on the client side
//===----------------------------------------------------------------------===//

/// Forwards all calls. Derived mutants change calls.
class PassingConnection : public Connection {
public:
  explicit PassingConnection(std::unique_ptr<Connection> over)
      : inner(std::move(over)) {}
  void call(Message request, ClockTime deadline, CallDone done) override {
    inner->call(std::move(request), deadline, std::move(done));
  }

protected:
  std::unique_ptr<Connection> inner;
};

template <typename MutantConnection>
SimulationHooks withConnection(const Scenario &) {
  SimulationHooks hooks;
  hooks.wrapNetwork = [](Transport &network) {
    return createWrappingTransport(
        network, [](std::unique_ptr<Connection> over) {
          return std::make_unique<MutantConnection>(std::move(over));
        });
  };
  return hooks;
}

/// Sends a retry as a new request.
class NewSequenceOnRetry final : public PassingConnection {
public:
  using PassingConnection::PassingConnection;
  void call(Message request, ClockTime deadline, CallDone done) override {
    const auto frame = splitFrame(request);
    if (!frame || frame->head.sequence == 0) {
      inner->call(std::move(request), deadline, std::move(done));
      return;
    }
    if (frame->head.sequence == last && frame->head.kind != MessageKind::Part)
      ++offset;
    if (frame->head.kind != MessageKind::Part)
      last = frame->head.sequence;
    Envelope head = frame->head;
    head.sequence += offset;
    inner->call(joinFrame(head, frame->payload, frame->note, frame->parts),
                deadline,
                [original = frame->head.sequence,
                 done = std::move(done)](CallResult result) {
                  if (const auto response = splitFrame(result.response)) {
                    Envelope answer = response->head;
                    answer.sequence = original;
                    result.response = joinFrame(answer, response->payload);
                  }
                  done(std::move(result));
                });
  }

private:
  uint64_t last = 0;
  uint64_t offset = 0;
};

/// Handles a call that ended without a response as a call with a response.
class LossTakenForSuccess final : public PassingConnection {
public:
  using PassingConnection::PassingConnection;
  void call(Message request, ClockTime deadline, CallDone done) override {
    const auto frame = splitFrame(request);
    if (!frame || frame->head.sequence == 0 ||
        frame->head.kind == MessageKind::Part) {
      inner->call(std::move(request), deadline, std::move(done));
      return;
    }
    inner->call(std::move(request), deadline,
                [head = frame->head, latest = lastResponse,
                 done = std::move(done)](CallResult result) {
                  if (result.outcome != CallOutcome::Responded && *latest) {
                    Envelope answer = head;
                    answer.kind = MessageKind::Response;
                    result = {CallOutcome::Responded,
                              joinFrame(answer, **latest)};
                  } else if (const auto frame = splitFrame(result.response)) {
                    *latest = frame->payload;
                  }
                  done(std::move(result));
                });
  }

private:
  std::shared_ptr<std::optional<Message>> lastResponse =
      std::make_shared<std::optional<Message>>();
};

SimulationHooks nothing(const Scenario &) { return {}; }

} // namespace

std::vector<Mutant> pdlrt::test::allMutants() {
  const auto haunted = [](Scenario &scenario) { scenario.hasGhost = true; };
  const auto crashing = [](Scenario &scenario) {
    scenario.core.onFailure = FailurePolicy::Wait;
    scenario.failingTrainer = -1;
    scenario.crashes.clear();
    for (uint32_t i = 0; i < 6; ++i)
      scenario.crashes.push_back({i % scenario.trainers,
                                  std::chrono::milliseconds(1500 + 700 * i),
                                  std::chrono::milliseconds(100)});
  };
  const auto crashingKeepingOne = [crashing](Scenario &scenario) {
    crashing(scenario);
    scenario.core.keptResponses = 1;
  };
  const auto startedTwice = [](Scenario &scenario) {
    scenario.core.onFailure = FailurePolicy::Wait;
    scenario.failingTrainer = -1;
    scenario.crashes.clear();
    scenario.cuts.clear();
    scenario.seconds = {{0, std::chrono::milliseconds(2500)}};
  };
  const auto sayingSo = [crashing](Scenario &scenario) {
    crashing(scenario);
    // Copies of its Leave arrive after a restart has taken its place.
    scenario.faults.duplicate = 500;
    scenario.faults.longestDelay = std::chrono::milliseconds(1500);
    for (ToyCrash &crash : scenario.crashes)
      crash.saysSo = scenario.trainers > 1 && crash.trainer == 0;
  };
  const auto crashingWithCopies = [crashing](Scenario &scenario) {
    crashing(scenario);
    scenario.core.restartsContinue = true;
    scenario.core.keptResponses = 2;
  };
  const auto somewhatStale = [](Scenario &scenario) {
    scenario.staleness = std::max<int64_t>(scenario.staleness, 1);
  };
  const auto ofSome = [](Scenario &scenario) {
    scenario.trainers = scenario.core.trainers = 3;
    scenario.quorum = 2;
    scenario.failingTrainer = -1;
    scenario.crashes.clear();
    scenario.cuts.clear();
    scenario.seconds.clear();
  };
  return {
      {"noDeduplication", 20, noDeduplication, {}},
      {"repeatedAnswerLost", 20, repeatedResponseLost, {}},
      {"staleEpochAccepted", 20, staleEpochAccepted, haunted},
      {"arrivalOrder", 20, withApplication<ArrivalOrder>, {}},
      {"arrivalOrderOfValues", 20, withApplication<ArrivalOrderOfValues>, {}},
      {"roundClosedEarly", 20, withApplication<RoundClosedEarly>, {}},
      {"answerBeforeApply", 20, withApplication<ResponseBeforeApply>, {}},
      {"anotherSendersAnswer", 20, withApplication<AnotherSendersResponse>, {}},
      {"looserStaleness",
       20,
       withApplication<OtherPolicy<LooserStaleness>>,
       {},
       ToyMode::BoundedStaleness},
      {"tighterStaleness", 20, withApplication<OtherPolicy<TighterStaleness>>,
       somewhatStale, ToyMode::BoundedStaleness},
      {"smallerQuorum", 20, withApplication<OtherPolicy<SmallerQuorum>>, ofSome,
       ToyMode::Quorum},
      {"largerQuorum", 20, withApplication<OtherPolicy<LargerQuorum>>, ofSome,
       ToyMode::Quorum},
      {"otherLateness", 20, withApplication<OtherPolicy<OtherLateness>>, ofSome,
       ToyMode::Quorum},
      {"lateInRound", 20, withApplication<LateInRound>, ofSome,
       ToyMode::Quorum},
      {"neverPauses", 20, withApplication<OtherPolicy<Of<NeverPauses>>>, ofSome,
       ToyMode::Quorum},
      {"pausesTooOften", 20, withApplication<OtherPolicy<Of<PausesTooOften>>>,
       ofSome, ToyMode::Quorum},
      {"pausesForOthers", 200,
       withApplication<OtherPolicy<Of<PausesForOthers>>>, ofSome,
       ToyMode::Quorum},
      {"newSequenceOnRetry", 20, withConnection<NewSequenceOnRetry>, {}},
      {"lossTakenForSuccess", 20, withConnection<LossTakenForSuccess>, {}},
      // A restart within a round needs the response before the last one.
      {"oneAnswerKept", 20, nothing, crashingKeepingOne, ToyMode::Async},
      {"noFencing", 20, noFencing, sayingSo},
      {"partsOfEarlierRequest", 20, partsOfEarlierRequest, {}},
      {"noDeduplicationOfChanges", 20, noDeduplication, {}, ToyMode::Geo},
      {"repeatedNewsLost", 20, repeatedResponseLost, {}, ToyMode::Geo},
      // A restarted trainer has no copy, and servers have no changes for it.
      {"copyOutlivesItsTrainer", 20, nothing, crashingWithCopies, ToyMode::Geo},
      {"livingStartReplaced", 20, livingStartReplaced, startedTwice},
  };
}
