//===- TrainerSaves.cpp - Saves of trainers, seen by a server -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/TrainerSaves.h"

#include "pdlrt/Checkpoint/Checkpoint.h"

#include <filesystem>
#include <utility>

using namespace pdlrt;
namespace fs = std::filesystem;

uint64_t pdlrt::bytesIn(const std::string &folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (const auto size = entry->file_size(gone); !gone)
      bytes += size;
  }
  return bytes;
}

TrainerSaves::Progress TrainerSaves::follow(const BegunSave &last, int requests,
                                            SaveSchedule::Time now,
                                            SaveSchedule &schedule) {
  if (last.number != std::exchange(seen, last.number))
    open.emplace(Open{last, now, requests,
                      StallLimit(patience, now.time_since_epoch())});
  if (!open)
    return Progress::None;
  const BegunSave &save = open->save;
  // Checked before the name of the checkpoint, because the folder may be
  // renamed in between.
  if (save.identity && FileIdentity::of(save.folder) == save.identity)
    return open->limit.isExceeded(bytesIn(save.folder), now.time_since_epoch())
               ? Progress::Stalled
               : Progress::Running;
  const bool isPublished =
      save.identity &&
      FileIdentity::of(publishedPathOf(save.folder)) == save.identity;
  if (isPublished)
    schedule.noteSave(open->began, open->requests);
  open.reset();
  return isPublished ? Progress::Published : Progress::Lost;
}
