//===- Mutants.cpp - Faults of the protocol, made on purpose --------------===//
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
// Before a server
//===----------------------------------------------------------------------===//

using HeadKey = std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>;
HeadKey keyOf(const Envelope &head) {
  return {head.trainer, head.worker, head.incarnation, head.sequence};
}

/// What a filter does with a request that it can read; it passes it on itself.
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

/// Tells copies of numbered requests from the first ones.
class Copies {
public:
  bool isCopy(const Envelope &head) {
    return head.sequence > 0 && head.kind != MessageKind::Ask &&
           ++counts[keyOf(head)] > 1;
  }
  /// Asks for one that has come.
  bool isAsk(const Envelope &head) const {
    return head.kind == MessageKind::Ask && counts.contains(keyOf(head));
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
                        if (application.formsRounds(frame.head.kind))
                          application.contribute(frame.head, frame.payload);
                        else
                          (void)application.handle(frame.head, frame.payload);
                      }
                      next(request, std::move(responder));
                    });
  };
  return hooks;
}

SimulationHooks repeatedAnswerLost(const Scenario &) {
  SimulationHooks hooks;
  hooks.wrapServer = [](RequestHandler protocol, ServerApplication &) {
    return filtered(std::move(protocol),
                    [copies = std::make_shared<Copies>()](
                        const Frame &frame, const Message &request,
                        Responder &responder, const RequestHandler &next) {
                      if (!copies->isCopy(frame.head) &&
                          !copies->isAsk(frame.head))
                        next(request, std::move(responder));
                    });
  };
  return hooks;
}

SimulationHooks staleEpochAccepted(const Scenario &scenario) {
  SimulationHooks hooks;
  hooks.wrapServer = [&scenario](RequestHandler protocol, ServerApplication &) {
    return filtered(std::move(protocol),
                    [&scenario](const Frame &frame, const Message &,
                                Responder &responder,
                                const RequestHandler &next) {
                      Envelope head = frame.head;
                      head.epoch = scenario.core.epoch;
                      next(joinFrame(head, frame.payload, frame.note),
                           std::move(responder));
                    });
  };
  return hooks;
}

/// Takes an earlier start of a trainer for its newest one.
SimulationHooks noFencing(const Scenario &) {
  SimulationHooks hooks;
  hooks.wrapServer = [](RequestHandler protocol, ServerApplication &) {
    return filtered(std::move(protocol),
                    [newest = std::make_shared<std::map<uint32_t, uint64_t>>()](
                        const Frame &frame, const Message &,
                        Responder &responder, const RequestHandler &next) {
                      Envelope head = frame.head;
                      uint64_t &known = (*newest)[head.trainer];
                      known = std::max(known, head.incarnation);
                      if (head.kind != MessageKind::Greet)
                        head.incarnation = known;
                      next(joinFrame(head, frame.payload, frame.note),
                           std::move(responder));
                    });
  };
  return hooks;
}

/// Lets every start in, whoever has its place.
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
            head.kind = MessageKind::Answer;
            head.sequence = known + 1;
            responder.answer(joinFrame(head, {}));
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
// Before an application
//===----------------------------------------------------------------------===//

template <typename Application>
SimulationHooks withApplication(const Scenario &scenario) {
  SimulationHooks hooks;
  hooks.wrapApplication = [&scenario](ServerApplication &table) {
    return std::make_unique<Application>(table, scenario);
  };
  return hooks;
}

/// Sums as requests come.
class ArrivalOrder final : public PassingApplication {
public:
  ArrivalOrder(ServerApplication &over, const Scenario &)
      : PassingApplication(over) {}
  Status check(const Envelope &request, const Message &payload) override {
    if (formsRounds(request.kind))
      arrived.emplace_back(request, payload);
    return inner.check(request, payload);
  }
  void contribute(const Envelope &, Message) override {}
  Expected<std::vector<Message>> closeRound(MessageKind kind) override {
    for (auto &[head, payload] : std::exchange(arrived, {}))
      inner.contribute(head, payload);
    return inner.closeRound(kind);
  }

private:
  std::vector<std::pair<Envelope, Message>> arrived;
};

/// The same, and writes down what it should have done: only values show it.
class ArrivalOrderOfValues final : public PassingApplication {
public:
  ArrivalOrderOfValues(ServerApplication &over, const Scenario &)
      : PassingApplication(over) {}
  Status check(const Envelope &request, const Message &payload) override {
    if (formsRounds(request.kind))
      if (const auto decoded = ToyRequest::decode(payload);
          decoded && decoded->hasPart)
        arrived.push_back(decoded->part);
    return inner.check(request, payload);
  }
  Expected<std::vector<Message>> closeRound(MessageKind kind) override {
    const ToyBlock before = denseOf(inner);
    std::vector<Message> answers = *inner.closeRound(kind);
    const auto parts = std::exchange(arrived, {});
    if (parts.empty())
      return answers;
    ToyBlock dense = parts.front();
    for (size_t part = 1; part < parts.size(); ++part)
      for (size_t i = 0; i < dense.size(); ++i)
        dense[i] += parts[part][i];
    for (size_t i = 0; i < dense.size(); ++i) {
      const float half = 0.5f * before[i];
      dense[i] = half + dense[i];
    }
    for (Message &answer : answers) {
      ToyAnswer decoded = *ToyAnswer::decode(answer);
      decoded.dense = dense;
      answer = decoded.encode();
    }
    return answers;
  }

private:
  static ToyBlock denseOf(ServerApplication &table) {
    return dynamic_cast<ToyTable &>(table).state().dense;
  }
  std::vector<ToyBlock> arrived;
};

/// Does not wait for the last trainer.
class RoundClosedEarly final : public PassingApplication {
public:
  RoundClosedEarly(ServerApplication &over, const Scenario &scenario)
      : PassingApplication(over), trainers(scenario.trainers) {}
  void contribute(const Envelope &request, Message payload) override {
    const MessageKind kind = request.kind;
    const uint32_t rank = request.trainer;
    inner.contribute(request, std::move(payload));
    if (rank + 2 == trainers)
      early = *inner.closeRound(kind);
  }
  Expected<std::vector<Message>> closeRound(MessageKind kind) override {
    if (early.empty())
      return inner.closeRound(kind);
    return std::exchange(early, {});
  }

private:
  uint32_t trainers;
  std::vector<Message> early;
};

/// Answers with what was there before the round.
class AnswerBeforeApply final : public PassingApplication {
public:
  AnswerBeforeApply(ServerApplication &over, const Scenario &)
      : PassingApplication(over) {}
  Expected<std::vector<Message>> closeRound(MessageKind kind) override {
    ToyState before = dynamic_cast<ToyTable &>(inner).state();
    std::vector<Message> answers = *inner.closeRound(kind);
    for (Message &answer : answers) {
      ToyAnswer decoded = *ToyAnswer::decode(answer);
      decoded.dense = before.dense;
      for (auto &[key, count] : decoded.counters)
        count = before.counters[key];
      answer = decoded.encode();
    }
    return answers;
  }
};

/// Mixes up who gets which answer.
class AnotherSendersAnswer final : public PassingApplication {
public:
  AnotherSendersAnswer(ServerApplication &over, const Scenario &)
      : PassingApplication(over) {}
  Expected<std::vector<Message>> closeRound(MessageKind kind) override {
    std::vector<Message> answers = *inner.closeRound(kind);
    std::rotate(answers.begin(), answers.begin() + 1, answers.end());
    return answers;
  }
};

//===----------------------------------------------------------------------===//
// Behind a client
//===----------------------------------------------------------------------===//

/// Passes all on; mutants change calls.
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

/// Takes a retry for a new request.
class NewSequenceOnRetry final : public PassingConnection {
public:
  using PassingConnection::PassingConnection;
  void call(Message request, ClockTime deadline, CallDone done) override {
    const auto frame = splitFrame(request);
    if (!frame || frame->head.sequence == 0) {
      inner->call(std::move(request), deadline, std::move(done));
      return;
    }
    if (frame->head.sequence == last)
      ++offset;
    last = frame->head.sequence;
    Envelope head = frame->head;
    head.sequence += offset;
    inner->call(joinFrame(head, frame->payload), deadline,
                [original = last, done = std::move(done)](CallResult result) {
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

/// A call that ended without an answer is taken for one that was answered.
class LossTakenForSuccess final : public PassingConnection {
public:
  using PassingConnection::PassingConnection;
  void call(Message request, ClockTime deadline, CallDone done) override {
    const auto frame = splitFrame(request);
    if (!frame || frame->head.sequence == 0) {
      inner->call(std::move(request), deadline, std::move(done));
      return;
    }
    inner->call(std::move(request), deadline,
                [head = frame->head, latest = lastAnswer,
                 done = std::move(done)](CallResult result) {
                  if (result.outcome != CallOutcome::Answered && *latest) {
                    Envelope answer = head;
                    answer.kind = MessageKind::Answer;
                    result = {CallOutcome::Answered,
                              joinFrame(answer, **latest)};
                  } else if (const auto frame = splitFrame(result.response)) {
                    *latest = frame->payload;
                  }
                  done(std::move(result));
                });
  }

private:
  std::shared_ptr<std::optional<Message>> lastAnswer =
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
    scenario.core.keptAnswers = 1;
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
    // Copies of its last words come when a new start has its place.
    scenario.faults.duplicate = 500;
    scenario.faults.longestDelay = std::chrono::milliseconds(1500);
    for (ToyCrash &crash : scenario.crashes)
      crash.saysSo = scenario.trainers > 1 && crash.trainer == 0;
  };
  return {
      {"noDeduplication", 20, noDeduplication, {}},
      {"repeatedAnswerLost", 20, repeatedAnswerLost, {}},
      {"staleEpochAccepted", 20, staleEpochAccepted, haunted},
      {"arrivalOrder", 20, withApplication<ArrivalOrder>, {}},
      {"arrivalOrderOfValues", 20, withApplication<ArrivalOrderOfValues>, {}},
      {"roundClosedEarly", 20, withApplication<RoundClosedEarly>, {}},
      {"answerBeforeApply", 20, withApplication<AnswerBeforeApply>, {}},
      {"anotherSendersAnswer", 20, withApplication<AnotherSendersAnswer>, {}},
      {"newSequenceOnRetry", 20, withConnection<NewSequenceOnRetry>, {}},
      {"lossTakenForSuccess", 20, withConnection<LossTakenForSuccess>, {}},
      // A new start that comes within a round needs the answer before the last.
      {"oneAnswerKept", 20, nothing, crashingKeepingOne},
      {"noFencing", 20, noFencing, sayingSo},
      {"livingStartReplaced", 20, livingStartReplaced, startedTwice},
  };
}
