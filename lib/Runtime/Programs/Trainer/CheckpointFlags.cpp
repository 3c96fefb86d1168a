//===- CheckpointFlags.cpp - Flags of checkpoints -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/CheckpointFlags.h"

#include "pdlrt/Core/FlagValues.h"

using namespace pdlrt;

/// Of steps, and of checkpoints.
static constexpr int64_t maxNumber = int64_t(1) << 60;

void pdlrt::addCheckpointFlags(CLI::App &command, CheckpointFlags &flags,
                               SessionOptions &session, CLI::Option *initFrom) {
  CLI::Option *folder =
      command
          .add_option("--checkpoint", session.checkpoint,
                      "Save everything that is needed to go on to this folder: "
                      "after each epoch, at the end, and on Ctrl-C. SIGUSR2 "
                      "saves now")
          ->type_name("FOLDER")
          ->check(notEmpty())
          ->group("Checkpoints");
  command
      .add_option("--checkpoint-steps", flags.steps,
                  "Save after every N steps too")
      ->type_name("N")
      ->transform(wholeNumber(1, maxNumber))
      ->needs(folder)
      ->group("Checkpoints");
  command
      .add_option("--checkpoint-minutes", flags.minutes,
                  "Save when N minutes have passed since the last save, too")
      ->type_name("N")
      ->check(CLI::Range(1e-3, 1e6))
      ->needs(folder)
      ->group("Checkpoints");
  command
      .add_flag(
          "--checkpoint-at-end", session.checkpointAtEnd,
          "Do not save after each epoch: only at the end, on signals, and "
          "as --checkpoint-steps and --checkpoint-minutes say")
      ->needs(folder)
      ->group("Checkpoints");
  command
      .add_option(
          "--max-failed-saves", session.maxFailedSaves,
          "How many saves in a row may fail, for example because a disk "
          "is full; after one more the training stops in order")
      ->type_name("N")
      ->transform(wholeNumber(0, 1000))
      ->capture_default_str()
      ->needs(folder)
      ->group("Checkpoints");
  command
      .add_option("--emergency-checkpoint", session.emergencyCheckpoint,
                  "Save the last checkpoint to this folder if it cannot be "
                  "saved to --checkpoint. Servers need the flag, too")
      ->type_name("FOLDER")
      ->check(notEmpty())
      ->needs(folder)
      ->group("Checkpoints");
  command
      .add_option("--checkpoint-keep", session.checkpointKeep,
                  "Keep the newest N checkpoints, with all that deltas among "
                  "them need; 0 keeps all")
      ->type_name("N")
      ->transform(wholeNumber(0, maxNumber))
      ->capture_default_str()
      ->needs(folder)
      ->group("Checkpoints");
  command
      .add_option(
          "--checkpoint-deltas", session.checkpointDeltas,
          "Between two whole checkpoints write N deltas: of tables only "
          "the rows that changed since the checkpoint before; 0 writes "
          "none")
      ->type_name("N")
      ->transform(wholeNumber(0, maxNumber))
      ->capture_default_str()
      ->needs(folder)
      ->group("Checkpoints");
  command
      .add_flag("--resume", session.resume,
                "Go on from the newest whole checkpoint in --checkpoint; begin "
                "if there is none yet. --steps and --epochs count from the "
                "beginning. In the middle of an epoch, data, batch size and "
                "replicas must be as they were")
      ->needs(folder)
      ->excludes(initFrom)
      ->group("Checkpoints");
}

void pdlrt::takeCheckpointFlags(CLI::App &command, const CheckpointFlags &flags,
                                SessionOptions &options) {
  const auto given = [&](const char *name) {
    CLI::Option *option = command.get_option_no_throw(name);
    return option && option->count() > 0;
  };
  if (given("--checkpoint-steps"))
    options.checkpointSteps = flags.steps;
  if (given("--checkpoint-minutes"))
    options.checkpointMinutes = flags.minutes;
}
