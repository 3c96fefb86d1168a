//===- TrainerSaves.h - Saves of trainers, seen by a server -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_TRAINERSAVES_H
#define LIB_RUNTIME_JOB_TRAINERSAVES_H

#include "Job/SaveSchedule.h"
#include "Job/StallLimit.h"
#include "pdlrt/Server/SaveService.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pdlrt {

/// Returns the size in bytes of all files in a folder.
uint64_t bytesIn(const std::string &folder);

/// Follows the last save of trainers until it is published. Trainer 0 publishes
/// a save, and may die before. Servers see that in the folder, which all
/// processes share. Not thread-safe.
class TrainerSaves {
public:
  enum class Progress {
    /// No save is open.
    None,
    /// Files are being written.
    Running,
    /// The save is open, but no file has grown for `patience`.
    Stalled,
    /// The save is a checkpoint now.
    Published,
    /// The folder is gone: the save has failed, or its checkpoint was removed.
    Lost,
  };
  /// Maximum time in which no file grows, for example while the disk flushes.
  static constexpr std::chrono::seconds patience{10};

  /// Returns the progress of `last`, the last save that trainers have begun.
  /// Published and Lost are returned once. A published save serves the
  /// `requests` that there were when it began, and `schedule` is told.
  Progress follow(const BegunSave &last, int requests, SaveSchedule::Time now,
                  SaveSchedule &schedule);

private:
  struct Open {
    BegunSave save;
    SaveSchedule::Time began;
    int requests;
    StallLimit limit;
  };
  int64_t seen = 0;
  std::optional<Open> open;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_TRAINERSAVES_H
