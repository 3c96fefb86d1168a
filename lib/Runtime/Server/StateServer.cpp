//===- StateServer.cpp - The state that a server owns ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/StateServer.h"

#include "Server/Modes.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Core/BackgroundTask.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"

#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <optional>

using namespace pdlrt;

struct StateServer::Saving {
  explicit Saving(const SaveRequest &request, SavedRows rows)
      : folder(request.path), rows(rows),
        writer(CheckpointWriter::into(request.path)) {}

  const std::string folder;
  const SavedRows rows;
  CheckpointWriter writer;
  CheckpointManifest manifest;
  std::unique_ptr<StateMoment> moment;
  /// Once the task is done.
  Message answer;
  bool isWritten = false;
  /// Ends before what it uses.
  std::unique_ptr<BackgroundTask> task;
};

StateServer::~StateServer() = default;

/// As the flags of a server say it.
static std::string textOf(const StepBounds &bounds, const TableBound &tables) {
  std::string text;
  if (bounds.staleness)
    text = fmt::format("--max-staleness {}", *bounds.staleness);
  if (bounds.quorum)
    text = fmt::format("--quorum {} --late-gradients {}", *bounds.quorum,
                       bounds.late == LateGradients::Drop ? "drop" : "count");
  // With a spill no result depends on the bound.
  if (tables.mostBytes > 0 && tables.spillFolder.empty())
    text +=
        fmt::format("{}--max-table-memory {} --table-eviction {}",
                    text.empty() ? "" : " ", tables.mostBytes,
                    tables.order == Eviction::LeastFrequent ? "least-frequent"
                                                            : "least-recent");
  return text;
}

StateServer::StateServer(const ServerSetup &setup)
    : descriptor(setup.descriptor), placement(setup.placement),
      scheduler(setup.scheduler),
      ownModel(setup.descriptor, setup.handshake.seed, setup.placement,
               int32_t(setup.handshake.serverRank)),
      own(setup.handshake), saves(setup.saves),
      reduced(size_t(setup.handshake.trainers)) {
  own.bounds = textOf(setup.bounds, setup.tableBound);
  ownModel.setPrepared(this);
}

Status StateServer::prepare() {
  for (int32_t p = 0; p < descriptor.program_count; ++p) {
    const pdl_program &program = descriptor.programs[p];
    Expected<ExchangeLayout> layout =
        ExchangeLayout::create(descriptor, p, placement);
    if (!layout)
      return layout.status();
    layouts.push_back(std::move(*layout));
    blocks.push_back(gradientBlocks(descriptor, program));
    for (GradientBlock &block : blocks.back())
      if (!block.isTable)
        block.elementCount = ownModel.heldElements(block.symbol);
    updaters.push_back(
        program.update_count > 0
            ? std::make_unique<Updater>(ownModel, program, scheduler)
            : nullptr);
  }
  return {};
}

Expected<std::unique_ptr<StateServer>>
pdlrt::createStateServer(const ServerSetup &setup) {
  const Mode &mode = modeOf(setup.descriptor);
  std::unique_ptr<StateServer> server =
      mode.trainersApply      ? createGeoServer(setup)
      : mode.stepsAreRounds   ? createSyncServer(setup)
      : mode.closesWithQuorum ? createQuorumServer(setup)
                              : createAsyncServer(setup);
  PDLRT_RETURN_IF_ERROR(server->prepare());
  return server;
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

Expected<Handshake> StateServer::compare(const Envelope &request,
                                         const Message &payload) const {
  Expected<Handshake> trainer = decodeHandshake(payload);
  if (!trainer)
    return trainer;
  // One that comes back may find a checkpoint that is newer than the run.
  if (started.count(request.trainer) > 0)
    trainer->startStep = own.startStep;
  PDLRT_RETURN_IF_ERROR(compareHandshakes(*trainer, own));
  if (trainer->takesPart)
    PDLRT_RETURN_IF_ERROR(saves.check(trainer->checkpoint));
  return trainer;
}

Message StateServer::ownHandshake() const { return encodeHandshake(own); }

Expected<Message> StateServer::greet(const Envelope &request,
                                     const Message &payload) {
  PDLRT_RETURN_IF_ERROR(compare(request, payload).status());
  return ownHandshake();
}

Expected<Message> StateServer::join(const Envelope &request,
                                    const Message &payload) {
  const Expected<Handshake> trainer = compare(request, payload);
  if (!trainer)
    return trainer.status();
  if (!trainer->takesPart)
    return ownHandshake();
  saves.take(trainer->checkpoint);
  started.insert(request.trainer);
  // The first trainer says what the others must have too.
  if (own.workers == 0)
    setWorkers(trainer->workers);
  return ownHandshake();
}

void StateServer::setWorkers(int64_t workers) {
  own.workers = workers;
  if (workers > 0)
    ownModel.setPushers(modeOf(descriptor).pusherCount(own.trainers, workers));
}

/// The very model in another mode is of this job. Another translation of it,
/// or a model of another job, may have come to a wrong address.
bool StateServer::isOfJob(const Message &handshake) const {
  const Expected<Handshake> given = decodeHandshake(handshake);
  if (!given)
    return false;
  Handshake whose = own;
  whose.job = given->job;
  whose.model = given->model;
  whose.layoutFingerprint = given->layoutFingerprint;
  // That of the program, packed as it should be.
  const auto packing = gradientPackingOf(given->gradientPacking);
  whose.trainingFingerprint =
      fingerprintWith(fingerprintWith(given->trainingFingerprint,
                                      packing.value_or(GradientPacking::None)),
                      *gradientPackingOf(own.gradientPacking));
  return compareHandshakes(whose, own).ok();
}

bool StateServer::mayBeOfJob(const Message &handshake) const {
  const Expected<Handshake> given = decodeHandshake(handshake);
  // Of another version it may be of any job.
  if (!given)
    return true;
  Handshake whose = own;
  whose.job = given->job;
  return compareHandshakes(whose, own).ok();
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

void StateServer::beginRequest(const Message &payload) {
  stopwatch.lap();
  lastRequest = stopwatch.begin();
  if (ownCosts.messages == 0) {
    firstRequest = lastRequest;
    cpuBefore = processCpuSeconds();
  }
  ++ownCosts.messages;
  ownCosts.bytesReceived += int64_t(envelopeSize + payload.size());
}

void StateServer::endRequest(const std::vector<Message> &answers) {
  ownCosts.answer += stopwatch.lap();
  auto since = [this](Stopwatch::Time begin) {
    return std::chrono::duration<double>(stopwatch.begin() - begin).count();
  };
  ownCosts.closing += since(lastRequest);
  ownCosts.elapsed = since(firstRequest);
  ownCosts.cpu = processCpuSeconds() - cpuBefore;
  for (const Message &answer : answers)
    ownCosts.bytesSent += int64_t(envelopeSize + answer.size());
}

Expected<StepFacts> StateServer::check(const Envelope &request,
                                       const Message &payload) {
  const TraceSpan span("check", {int64_t(payload.size())});
  const bool isOfStep =
      isOfSteps(request.kind) && request.kind != MessageKind::Reduce;
  if (isOfStep)
    beginRequest(payload);
  Expected<StepFacts> facts = checkPayload(request, payload);
  if (isOfStep)
    ownCosts.check += stopwatch.lap();
  return facts;
}

Expected<StepFacts> StateServer::checkPayload(const Envelope &request,
                                              const Message &payload) {
  const auto ofNoStep = [](Status status) -> Expected<StepFacts> {
    if (!status.ok())
      return status;
    return StepFacts();
  };
  ExchangeForm form;
  switch (request.kind) {
  case MessageKind::Reduce:
    return ofNoStep(checkReduce(request, payload));
  case MessageKind::Save:
    return ofNoStep(checkSave(request, payload));
  case MessageKind::Exchange:
    form = ExchangeForm::Exchange;
    break;
  case MessageKind::Norm:
    form = ExchangeForm::Norm;
    break;
  case MessageKind::Pull:
    form = ExchangeForm::Pull;
    break;
  default:
    return Status::invalid(std::string("this server takes no ") +
                           nameOf(request.kind));
  }
  Expected<uint32_t> program = ExchangeMessage::programOf(payload);
  if (!program)
    return program.status();
  if (*program >= layouts.size())
    return Status::invalid("the payload is damaged: there is no program " +
                           std::to_string(*program));
  const ExchangeLayout &layout = layouts[*program];
  Expected<ExchangeMessage> message =
      decodeRequest(payload, layout, layout.scattered());
  if (!message)
    return message.status();
  if (message->head().contributes && form == ExchangeForm::Exchange &&
      nameOf(message->head().gradients) != own.gradientPacking)
    return Status::invalid(fmt::format(
        "trainer {} sends gradients packed by {}, and said {}", request.trainer,
        nameOf(message->head().gradients), own.gradientPacking));
  if (form == ExchangeForm::Pull)
    return ofNoStep(layout.check(form, rank(), *message, {}));
  if (layout.program().frozen)
    return Status::invalid(std::string("program @") + layout.program().name +
                           " is frozen and has no steps");
  // A push beside steps is none of its sender's steps.
  const ExchangeHead &head = message->head();
  const StepFacts facts = {head.contributes && !head.ownKeys,
                           head.contributesNext};
  PDLRT_RETURN_IF_ERROR(checkStep(request, std::move(*message), layout));
  return facts;
}

Expected<Message> StateServer::handle(const Envelope &request,
                                      Message payload) {
  if (request.kind == MessageKind::Save) {
    const SaveRequest save = decodeSaveRequest(payload);
    switch (save.kind) {
    case SaveKind::Probe:
      return answerProbe(save.path, name());
    case SaveKind::Begin:
      return beginSave(save);
    case SaveKind::Ask:
      return askSave(save.path);
    case SaveKind::Stopping:
      return this->save(save);
    }
  }
  // It has passed `check`.
  const ExchangeLayout &layout = layouts[*ExchangeMessage::programOf(payload)];
  Expected<ExchangeMessage> message = decodeRequest(payload, layout, {});
  if (!message)
    return message.status();
  return pull(*message, layout);
}

Expected<ExchangeMessage>
StateServer::decodeRequest(const Message &payload, const ExchangeLayout &layout,
                           const std::vector<bool> &scattered) const {
  Expected<ExchangeMessage> message =
      ExchangeMessage::decode(payload, layout.channelCount(), scattered);
  if (!message)
    return message;
  try {
    PDLRT_RETURN_IF_ERROR(layout.unpack(rank(), *message));
  } catch (const std::bad_alloc &error) {
    return outOfMemory(error, "unpacked a request");
  }
  return message;
}

template <typename Step>
auto StateServer::withMemory(const std::string &did, Step step)
    -> decltype(step()) {
  try {
    return step();
  } catch (const std::bad_alloc &error) {
    return outOfMemory(error, did);
  }
}

Status StateServer::take(const Envelope &request, Message payload, Turn turn) {
  (void)payload; // What is needed of it was kept by `check`.
  if (request.kind == MessageKind::Reduce)
    return {};
  return withMemory("took up what trainer " + std::to_string(request.trainer) +
                        " sent",
                    [&] { return takeStep(request, turn); });
}

Status StateServer::closeRound(MessageKind kind) {
  return withMemory("closed a round of " + std::string(nameOf(kind)) +
                        " requests",
                    [&]() -> Status {
                      if (kind != MessageKind::Reduce)
                        return closeStep(kind);
                      closeReduce();
                      return {};
                    });
}

Expected<std::vector<Message>>
StateServer::answer(std::span<const Envelope> requests) {
  return withMemory(
      "answered requests", [&]() -> Expected<std::vector<Message>> {
        if (requests.front().kind == MessageKind::Reduce)
          return std::vector<Message>(requests.size(), reducedSum);
        Expected<std::vector<Message>> answers = answerSteps(requests);
        if (answers)
          endRequest(*answers);
        return answers;
      });
}

Status StateServer::outOfMemory(const std::bad_alloc &error,
                                const std::string &did) const {
  return Status::outOfMemory(
      name() + " is " + describeOutOfMemory(error, did) +
      "; use more servers, or machines with more memory");
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

Status StateServer::checkSave(const Envelope &request,
                              const Message &payload) const {
  // And that of the save before.
  constexpr size_t longestPath = 4096;
  if (request.trainer != 0)
    return Status::invalid("checkpoints are written for trainer 0 alone");
  if (payload.size() == 0 || payload.size() > 2 * longestPath)
    return Status::invalid("a request to save names no folder");
  return saves.allows(decodeSaveRequest(payload).path);
}

/// "dense-0.safetensors".
static std::string denseFileOf(int32_t rank) {
  return fmt::format("dense-{}.safetensors", rank);
}

/// Of the server `who`: an error where it does not see the folder.
static Status checkFolder(const std::string &who, const std::string &folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error))
    return {};
  return Status::invalid(who + " does not see the folder " + folder +
                         "; give a folder that all processes of the job share");
}

/// What `write` returns; the answer where it throws.
template <typename Write>
static Message answerOf(const std::string &who, Write write) {
  try {
    return write();
  } catch (const std::bad_alloc &) {
    return encodeSaved(Status::outOfMemory(who + " is out of memory for the "
                                                 "parts of a checkpoint"));
  } catch (const std::exception &exception) {
    return encodeSaved(Status::internal(who + ": " + exception.what()));
  }
}

/// Whose changes rows tell from now on: nobody's, until what follows is
/// written.
SavedRows StateServer::rowsOf(const SaveRequest &request) {
  const bool isKnown =
      !savedAs.empty() && std::exchange(savedAs, {}) == request.since;
  // An earlier start of trainer 0 may have asked for a save that never came to
  // be.
  return request.rows == SavedRows::Changed && !isKnown ? SavedRows::Base
                                                        : request.rows;
}

/// Waits for a save that goes on.
void StateServer::endSaving() {
  if (!saving)
    return;
  (void)saving->task->wait();
  if (saving->isWritten && saving->rows != SavedRows::All)
    savedAs = saving->folder;
  saving.reset();
}

/// What a save into a folder begins with, then what `write` returns.
template <typename Write>
Message StateServer::saveInto(const std::string &folder, Write write) {
  const TraceSpan span("save");
  const std::string who = name();
  // A model has one moment at a time; and state is not written over that of a
  // save that goes on.
  endSaving();
  return answerOf(who, [&] {
    Status status = checkFolder(who, folder);
    return status.ok() ? write(who) : encodeSaved(std::move(status));
  });
}

Message StateServer::save(const SaveRequest &request) {
  return saveInto(request.path, [&](const std::string &who) {
    CheckpointWriter writer = CheckpointWriter::into(request.path);
    const SavedRows rows = rowsOf(request);
    Status status =
        saveParts(ownModel, denseFileOf(rank()), writer, &scheduler, {}, rows);
    if (!status.ok())
      return encodeSaved(std::move(status).withContext(who));
    CheckpointManifest manifest;
    describeModel(ownModel, manifest);
    manifest.parts = writer.addedParts();
    if (rows != SavedRows::All)
      savedAs = request.path;
    return encodeSaved(std::move(manifest));
  });
}

Message StateServer::beginSave(const SaveRequest &request) {
  return saveInto(request.path, [&](const std::string &who) {
    auto begun = std::make_unique<Saving>(request, rowsOf(request));
    describeModel(ownModel, begun->manifest);
    auto moment = StateMoment::take(ownModel, denseFileOf(rank()),
                                    begun->writer, {}, begun->rows);
    if (!moment)
      return encodeSaved(std::move(moment).status().withContext(who));
    begun->moment = std::move(*moment);
    begun->task = std::make_unique<BackgroundTask>(
        "save", [who, own = begun.get()]() -> Status {
          own->answer = answerOf(who, [&] {
            // However it ends, nobody waits for it any more.
            std::unique_ptr<StateMoment> moment = std::move(own->moment);
            Status status = moment->write(own->writer);
            moment.reset();
            if (!status.ok())
              return encodeSaved(std::move(status).withContext(who));
            own->isWritten = true;
            own->manifest.parts = own->writer.addedParts();
            return encodeSaved(std::move(own->manifest));
          });
          return {};
        });
    saving = std::move(begun);
    return answerSaving();
  });
}

Message StateServer::askSave(const std::string &folder) const {
  if (!saving || saving->folder != folder)
    return encodeSaved(Status::invalid(
        fmt::format("{} has begun no save into {}", name(), folder)));
  return saving->task->isDone() ? saving->answer : answerSaving();
}
