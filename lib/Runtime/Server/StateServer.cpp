//===- StateServer.cpp - State that a server owns -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/StateServer.h"

#include "Server/OwnedState.h"
#include "Server/ReadService.h"
#include "Server/ServerResponses.h"
#include "Server/StateServerRows.h"
#include "Server/StepMode.h"
#include "Server/TrainerAdmission.h"
#include "Server/TrainerSums.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Trace.h"

#include <chrono>
#include <fmt/format.h>
#include <new>
#include <string>
#include <utility>

using namespace pdlrt;

StepMode::~StepMode() = default;

namespace {

/// Measures the costs of step requests. Not thread-safe.
class RequestMeter {
public:
  explicit RequestMeter(OwnedState &state) : state(state) {}

  void begin(const Message &payload);
  void noteCheck() { state.metrics.check += state.stopwatch.lap(); }
  void end(const std::vector<Message> &responses);

private:
  OwnedState &state;
  /// Times of the first and the last step request.
  Stopwatch::Time firstRequest, lastRequest;
  double cpuBefore = 0;
};

} // namespace

void RequestMeter::begin(const Message &payload) {
  state.stopwatch.lap();
  lastRequest = state.stopwatch.begin();
  if (state.metrics.messages.value() == 0) {
    firstRequest = lastRequest;
    cpuBefore = processCpuSeconds();
  }
  ++state.metrics.messages;
  state.metrics.bytesReceived += int64_t(envelopeSize + payload.size());
}

void RequestMeter::end(const std::vector<Message> &responses) {
  state.metrics.response += state.stopwatch.lap();
  auto since = [this](Stopwatch::Time begin) {
    return std::chrono::duration<double>(state.stopwatch.begin() - begin)
        .count();
  };
  state.metrics.closing += since(lastRequest);
  state.metrics.elapsed += since(firstRequest) - state.metrics.elapsed.value();
  state.metrics.cpu +=
      processCpuSeconds() - cpuBefore - state.metrics.cpu.value();
  for (const Message &response : responses)
    state.metrics.bytesSent += int64_t(envelopeSize + response.size());
}

static std::unique_ptr<StepMode> createMode(const ModeSetup &setup) {
  const Mode &mode = modeOf(setup.state.descriptor);
  return mode.trainersApply      ? createGeoMode(setup)
         : mode.stepsAreRounds   ? createSyncMode(setup)
         : mode.closesWithQuorum ? createQuorumMode(setup)
                                 : createAsyncMode(setup);
}

struct StateServer::Parts {
  explicit Parts(const ServerSetup &setup)
      : state(setup), rows(state), responses(state, rows),
        reads(state, rows, responses), sums(state.trainers()), meter(state),
        mode(createMode({setup.bounds, state, rows, responses})),
        saves(state.model, state.scheduler, state.name(), state.rank(),
              setup.saves),
        trainers(state, saves.folder()) {
    rows.setPending([this] { return mode->pendingKeys(); });
  }

  /// Returns the result of `step`, or an error if memory is exhausted. `did`:
  /// what the server does in `step`, for the message.
  template <typename Step>
  auto withMemory(const std::string &did, Step step) -> decltype(step()) {
    try {
      return step();
    } catch (const std::bad_alloc &error) {
      return state.outOfMemory(error, did);
    }
  }

  OwnedState state;
  StateServerRows rows;
  ServerResponses responses;
  ReadService reads;
  TrainerSums sums;
  RequestMeter meter;
  std::unique_ptr<StepMode> mode;
  /// A save in the background ends before the state does.
  SaveService saves;
  TrainerAdmission trainers;
};

StateServer::StateServer(const ServerSetup &setup)
    : parts(std::make_unique<Parts>(setup)) {}

StateServer::~StateServer() = default;

Expected<std::unique_ptr<StateServer>>
pdlrt::createStateServer(const ServerSetup &setup) {
  std::unique_ptr<StateServer> server(new StateServer(setup));
  PDLRT_RETURN_IF_ERROR(server->parts->state.prepare());
  return server;
}

Model &StateServer::model() { return parts->state.model; }
const Handshake &StateServer::handshake() const {
  return parts->state.handshake;
}
void StateServer::setStartStep(int64_t steps) {
  parts->state.handshake.startStep = steps;
}
void StateServer::setWorkers(int64_t workers) {
  parts->trainers.setWorkers(workers);
}
void StateServer::noteLoaded() { parts->mode->noteLoaded(); }
SaveService &StateServer::saves() { return parts->saves; }
StateServer::LastStep StateServer::lastStep() const {
  return parts->mode->lastStep();
}
uint64_t StateServer::stepsInState() const {
  return parts->mode->stepsInState();
}
bool StateServer::requestSave() { return parts->mode->requestSave(); }
int64_t StateServer::saveRequestsOfTrainers() const {
  return parts->mode->saveRequestsOfTrainers();
}
ServerCosts StateServer::costs() const { return parts->state.metrics.costs(); }
const RoundPolicy &StateServer::roundPolicy() const {
  return parts->mode->roundPolicy();
}

Expected<Message> StateServer::greet(const Envelope &request,
                                     const Message &payload) {
  return parts->trainers.greet(request, payload);
}
Expected<Message> StateServer::join(const Envelope &request,
                                    const Message &payload) {
  return parts->trainers.join(request, payload);
}
bool StateServer::isOfJob(const Message &handshake) const {
  return parts->trainers.isOfJob(handshake);
}
bool StateServer::mayBeOfJob(const Message &handshake) const {
  return parts->trainers.mayBeOfJob(handshake);
}
Expected<Message> StateServer::respondToVisit(const Message &payload) {
  return parts->reads.respondToVisit(payload);
}
Expected<Message> StateServer::respondToRead(const Message &payload) {
  return parts->reads.respondToRead(payload);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Returns the form of a request about the state of a step or program. Returns
/// nothing for other kinds of requests.
static std::optional<ExchangeForm> formOf(MessageKind kind) {
  switch (kind) {
  case MessageKind::Exchange:
    return ExchangeForm::Exchange;
  case MessageKind::Norm:
    return ExchangeForm::Norm;
  case MessageKind::Pull:
    return ExchangeForm::Pull;
  default:
    return std::nullopt;
  }
}

/// Returns the facts of a request that belongs to no step.
static Expected<StepFacts> ofNoStep(Status status) {
  if (!status.ok())
    return status;
  return StepFacts();
}

Expected<StepFacts> StateServer::check(const Envelope &request,
                                       const Message &payload) {
  const TraceSpan span("check", {int64_t(payload.size())});
  if (request.kind == MessageKind::Reduce)
    return ofNoStep(parts->sums.check(request, payload));
  if (request.kind == MessageKind::Save)
    return ofNoStep(parts->saves.check(request, payload));
  if (!isOfSteps(request.kind))
    return checkStep(request, payload);
  parts->meter.begin(payload);
  Expected<StepFacts> facts = checkStep(request, payload);
  parts->meter.noteCheck();
  return facts;
}

/// Checks a request for the state of a step or of a frozen program.
Expected<StepFacts> StateServer::checkStep(const Envelope &request,
                                           const Message &payload) {
  const std::optional<ExchangeForm> form = formOf(request.kind);
  if (!form)
    return Status::failedPrecondition(std::string("this server takes no ") +
                                      nameOf(request.kind));
  const OwnedState &state = parts->state;
  Expected<uint32_t> program = ExchangeMessage::programOf(payload);
  if (!program)
    return program.status();
  if (*program >= state.layouts.size())
    return Status::dataLoss("the payload is damaged: there is no program " +
                            std::to_string(*program));
  const ExchangeLayout &layout = state.layouts[*program];
  Expected<ExchangeMessage> message =
      decodeRequest(payload, layout, layout.scattered());
  if (!message)
    return message.status();
  if (message->head().contributes && *form == ExchangeForm::Exchange &&
      nameOf(message->head().gradients) != state.handshake.gradientPacking)
    return Status::failedPrecondition(fmt::format(
        "trainer {} sends gradients packed by {}, and said {}", request.trainer,
        nameOf(message->head().gradients), state.handshake.gradientPacking));
  if (*form == ExchangeForm::Pull)
    return ofNoStep(layout.check(*form, state.rank(), *message, {}));
  if (layout.program().frozen)
    return Status::failedPrecondition(std::string("program @") +
                                      layout.program().name +
                                      " is frozen and has no steps");
  // A push that is concurrent with steps is not one of its sender's steps.
  const ExchangeHead &head = message->head();
  const StepFacts facts = {head.contributes && !head.ownKeys,
                           head.hasNextBatch};
  PDLRT_RETURN_IF_ERROR(
      parts->mode->checkStep(request, std::move(*message), layout));
  return facts;
}

Expected<Message> StateServer::handle(const Envelope &request,
                                      Message payload) {
  if (request.kind == MessageKind::Save)
    return parts->saves.handle(payload, saveRequestsOfTrainers());
  // The payload has passed `check`.
  const ExchangeLayout &layout =
      parts->state.layouts[*ExchangeMessage::programOf(payload)];
  Expected<ExchangeMessage> message = decodeRequest(payload, layout, {});
  if (!message)
    return message.status();
  return parts->reads.pull(*message, layout);
}

/// Decodes and unpacks a request.
Expected<ExchangeMessage>
StateServer::decodeRequest(const Message &payload, const ExchangeLayout &layout,
                           const std::vector<bool> &scattered) const {
  Expected<ExchangeMessage> message =
      ExchangeMessage::decode(payload, layout.channelCount(), scattered);
  if (!message)
    return message;
  try {
    PDLRT_RETURN_IF_ERROR(layout.unpack(parts->state.rank(), *message));
  } catch (const std::bad_alloc &error) {
    return parts->state.outOfMemory(error, "unpacked a request");
  }
  return message;
}

Status StateServer::take(const Envelope &request, Message payload, Turn turn) {
  (void)payload; // `check` has stored what is needed of it.
  if (request.kind == MessageKind::Reduce)
    return {};
  return parts->withMemory(
      "collected what trainer " + std::to_string(request.trainer) + " sent",
      [&] { return parts->mode->takeStep(request, turn); });
}

Status StateServer::closeRound(MessageKind kind) {
  return parts->withMemory("closed a round of " + std::string(nameOf(kind)) +
                               " requests",
                           [&]() -> Status {
                             if (kind != MessageKind::Reduce)
                               return parts->mode->closeStep(kind);
                             parts->sums.close();
                             return {};
                           });
}

Expected<std::vector<Message>>
StateServer::respond(std::span<const Envelope> requests) {
  return parts->withMemory(
      "answered requests", [&]() -> Expected<std::vector<Message>> {
        if (requests.front().kind == MessageKind::Reduce)
          return std::vector<Message>(requests.size(), parts->sums.sum());
        Expected<std::vector<Message>> responses =
            parts->mode->respondToSteps(requests);
        if (responses)
          parts->meter.end(*responses);
        return responses;
      });
}
