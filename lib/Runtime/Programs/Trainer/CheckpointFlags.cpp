//===- CheckpointFlags.cpp - Flags of checkpoints -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/CheckpointFlags.h"

#include "pdlrt/Core/Duration.h"
#include "pdlrt/Files/PlaceFlags.h"
#include "pdlrt/Job/JobFlags.h"

#include <string>

using namespace pdlrt;

std::vector<Flag> pdlrt::checkpointFlags(SessionOptions &session) {
  std::vector<Flag> flags = {
      {.names = "--checkpoint",
       .placeholder = "FOLDER",
       .value = placeValue(session.checkpoint),
       .help = "Save checkpoints, with everything that a resume needs, to this "
               "folder: after each epoch, at the end, and on Ctrl-C. SIGUSR2 "
               "saves at once",
       .isOfJob = true},
      {.names = "--checkpoint-steps",
       .placeholder = "N",
       .value = FlagValue::number(session.checkpointSteps, 1, maxCount),
       .help = "Also save after every N steps"},
      checkpointMinutesFlag(
          session.checkpointMinutes,
          "Also save when N minutes have passed since the last save"),
      {.names = "--checkpoint-event-time",
       .placeholder = "DURATION",
       .value = FlagValue::parsed(
           session.checkpointEventTime,
           [](const std::string &text) { return parseDuration(text, 1); }),
       .help = "Also save when the event time crosses a multiple of this "
               "duration, such as 10min: the highest timestamp of the messages "
               "that were trained. For topics of Kafka without end"},
      {.names = "--checkpoint-at-end",
       .value = FlagValue::isGiven(session.checkpointAtEnd),
       .help = "Do not save after each epoch: only at the end, on signals, and "
               "as --checkpoint-steps, --checkpoint-minutes and "
               "--checkpoint-event-time require"},
      {.names = "--max-failed-saves",
       .placeholder = "N",
       .value = FlagValue::number(session.maxFailedSaves, 0, 1000),
       .help = "Number of consecutive saves that may fail, for example because "
               "a disk is full; one more ends the training in order. Failures "
               "within 10 s of one that counts do not count, and each that "
               "counts doubles this time. The last checkpoint is retried as "
               "often"},
      {.names = "--emergency-checkpoint",
       .placeholder = "FOLDER",
       .value = FlagValue::text(session.emergencyCheckpoint),
       .help = "Save the last checkpoint to this folder if it cannot be saved "
               "to --checkpoint. Servers need the flag, too",
       .isOfJob = true},
      {.names = "--checkpoint-keep",
       .placeholder = "N",
       .value = FlagValue::number(session.checkpointKeep, 0, maxCount),
       .help = "Keep the newest N checkpoints, and those that their deltas "
               "need; 0 keeps all"},
      {.names = "--keep-best",
       .placeholder = "METRIC",
       .value = FlagValue::text(session.keepBest),
       .help = "Also save when a test has the best value so far of this metric "
               "of @evaluate. Keep that checkpoint, in addition to "
               "--checkpoint-keep; the link 'best' in the folder refers to "
               "it. The test after an incomplete epoch does not count"},
      {.names = "--checkpoint-deltas",
       .placeholder = "N",
       .value = FlagValue::number(session.checkpointDeltas, 0, maxCount),
       .help = "Write N deltas between two full checkpoints. A delta contains "
               "only those rows of tables that changed since the previous "
               "checkpoint; 0 writes none"},
      {.names = "--resume",
       .value = FlagValue::isGiven(session.resume),
       .help = "Resume from the newest complete checkpoint in --checkpoint; "
               "start from the beginning if there is none. --steps and "
               "--epochs count from the beginning. Within an epoch, data, "
               "batch size and replicas must be unchanged",
       .excludes = {"--init-from"},
       .isOfJob = true}};
  for (size_t i = 1; i < flags.size(); ++i)
    flags[i].needs = {"--checkpoint"};
  return flags;
}
