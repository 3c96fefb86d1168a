//===- TrainerAdmission.cpp - Which trainers match a server ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/TrainerAdmission.h"

#include "pdlrt/Abi/Mode.h"

using namespace pdlrt;

Expected<Handshake> TrainerAdmission::compare(const Envelope &request,
                                              const Message &payload) const {
  Expected<Handshake> trainer = decodeHandshake(payload);
  if (!trainer)
    return trainer;
  // The start step of a trainer that rejoins is not compared: since the start
  // of the run, newer checkpoints may have been written.
  if (joined.count(request.trainer) > 0)
    trainer->startStep = state.handshake.startStep;
  PDLRT_RETURN_IF_ERROR(compareHandshakes(*trainer, state.handshake));
  if (trainer->takesPart)
    PDLRT_RETURN_IF_ERROR(folder.check(trainer->checkpoint));
  return trainer;
}

Expected<Message> TrainerAdmission::greet(const Envelope &request,
                                          const Message &payload) const {
  PDLRT_RETURN_IF_ERROR(compare(request, payload).status());
  return encodeHandshake(state.handshake);
}

Expected<Message> TrainerAdmission::join(const Envelope &request,
                                         const Message &payload) {
  const Expected<Handshake> trainer = compare(request, payload);
  if (!trainer)
    return trainer.status();
  if (!trainer->takesPart)
    return encodeHandshake(state.handshake);
  folder.take(trainer->checkpoint);
  joined.insert(request.trainer);
  // The first trainer sets the value that the others must have too.
  if (state.handshake.workers == 0)
    setWorkers(trainer->workers);
  return encodeHandshake(state.handshake);
}

void TrainerAdmission::setWorkers(int64_t workers) {
  state.handshake.workers = workers;
  if (workers > 0)
    state.model.setSenders(modeOf(state.descriptor)
                               .senderCount(state.handshake.trainers, workers));
}

/// Returns true if a trainer belongs to this job: its job, its model, and its
/// fingerprints of state layout and training are those of this server. Its mode
/// and its flags may differ, also the packing of gradients, which is a part of
/// the training fingerprint. If a fingerprint differs, or if this version
/// cannot decode the handshake, the trainer may belong to another job and have
/// a wrong address.
bool TrainerAdmission::isOfJob(const Message &handshake) const {
  const Expected<Handshake> given = decodeHandshake(handshake);
  if (!given)
    return false;
  Handshake whose = state.handshake;
  whose.job = given->job;
  whose.model = given->model;
  whose.layoutFingerprint = given->layoutFingerprint;
  // Replaces the packing in the fingerprint by that of this server, because the
  // packing is a flag and may differ.
  const auto packingOf = [](const Handshake &of) {
    return gradientPackingOf(of.gradientPacking)
        .value_or(GradientPacking::None);
  };
  whose.trainingFingerprint = fingerprintWith(
      fingerprintWith(given->trainingFingerprint, packingOf(*given)),
      packingOf(state.handshake));
  return compareHandshakes(whose, state.handshake).ok();
}

bool TrainerAdmission::mayBeOfJob(const Message &handshake) const {
  const Expected<Handshake> given = decodeHandshake(handshake);
  // A handshake that cannot be decoded comes from another version of PDL, and
  // may belong to any job.
  if (!given)
    return true;
  Handshake whose = state.handshake;
  whose.job = given->job;
  return compareHandshakes(whose, state.handshake).ok();
}
