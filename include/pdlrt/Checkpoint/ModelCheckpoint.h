//===- ModelCheckpoint.h - Saves and restores a model -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_MODELCHECKPOINT_H
#define PDLRT_CHECKPOINT_MODELCHECKPOINT_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Returns an error that lists the differences if a checkpoint lacks what `use`
/// needs (ModelParts.h). `old`: says whether a checkpoint of layout 1 is
/// accepted, and receives what could not be checked. If null, layout 1 is
/// rejected.
Status checkSameModel(const pdl_descriptor &descriptor,
                      const Checkpoint &checkpoint, CheckpointUse use,
                      OldLayout *old = nullptr);
/// The same for a manifest; `path` is the checkpoint's name in messages.
Status checkSameModel(const pdl_descriptor &descriptor,
                      const CheckpointManifest &manifest,
                      const std::string &path, CheckpointUse use,
                      OldLayout *old = nullptr);

/// Sets the fields of a manifest that describe the program, its symbols and the
/// applied updates: all except settings, progress and parts.
void describeModel(const Model &model, CheckpointManifest &manifest);

/// Sizes that control how tables are divided into parts and written.
struct TablePartSizes {
  /// A part ends with the shard at which its file reaches this size, or 1/256
  /// of all tables of this process if that is more. The second limit exists
  /// because all files of a checkpoint are open while it is read.
  size_t bytesInPart = size_t(32) << 20;
  /// Maximum memory for building parts, of all threads together, or 1/32 of the
  /// memory of all tables of this process if that is more. A part that does not
  /// fit is written in pieces. It then uses up to 32 bytes per row and a copy
  /// of each row that is not in memory, without regard to this limit.
  size_t memory = size_t(64) << 20;
  /// Maximum memory of a snapshot for copied rows and for information about
  /// keys, of all tables together, or 1/32 of the tables' memory if that is
  /// more. New keys count towards it but do not wait for memory; writes to rows
  /// wait until memory is available.
  size_t copyLimit = size_t(4) << 20;
  /// Parameters and slots are copied if they have at most this many bytes, or
  /// 1/32 of all tables of this process, up to `maxCopied`, if that is more.
  /// Steps stop during the copy. Larger state, and state for whose copy memory
  /// is insufficient, is written to disk before others may change it.
  size_t copied = size_t(32) << 20;
  size_t maxCopied = size_t(256) << 20;
};

/// Adds the values and slots that the model holds to the checkpoint: all of
/// them, or a server's own, so that the parts of all servers together are
/// complete. `saved`: the table rows to save; if Changed, the parts are those
/// of a delta. `denseFile`: name of the file of parameters, which must differ
/// between servers. Parts of tables are written on as many threads of
/// `scheduler` as memory permits; if null, on the caller's thread. `model` must
/// not change during the call. After an error, the next save must cover all
/// rows. Throws std::bad_alloc.
Status saveParts(const Model &model, const std::string &denseFile,
                 CheckpointWriter &writer, Scheduler *scheduler = nullptr,
                 const TablePartSizes &sizes = {},
                 SavedRows saved = SavedRows::All);

/// A snapshot of a model's values and slots that is written while training
/// continues. A model has at most one at a time.
class StateSnapshot {
public:
  /// Takes the snapshot. The model must not change during the call. For the
  /// other arguments, see `saveParts`. Parameters that are not copied are
  /// written to `writer` immediately. The model must outlive the snapshot.
  /// Throws std::bad_alloc.
  static Expected<std::unique_ptr<StateSnapshot>>
  take(Model &model, const std::string &denseFile, CheckpointWriter &writer,
       const TablePartSizes &sizes = {}, SavedRows saved = SavedRows::All);
  /// Ends the snapshot: tables no longer copy old rows. Can be called on any
  /// thread.
  ~StateSnapshot();
  StateSnapshot(const StateSnapshot &) = delete;
  StateSnapshot &operator=(const StateSnapshot &) = delete;

  /// Adds the parts that `saveParts` would have written at the time of the
  /// snapshot. Call once, on any thread. One more thread waits for the
  /// disk. Throws std::bad_alloc.
  Status write(CheckpointWriter &writer);
  /// Returns the maximum number of bytes that were used for copied rows. Valid
  /// during the snapshot.
  size_t maxCopiedBytes() const;

private:
  struct Plan;
  explicit StateSnapshot(Model &model);

  Model &model;
  std::unique_ptr<Plan> plan;
};

/// Saves the values, slots and step counts of all symbols and groups: adds
/// parts to `writer` and the rest to `manifest`. `model` must not change during
/// the call.
Status saveModel(const Model &model, CheckpointWriter &writer,
                 CheckpointManifest &manifest, Scheduler *scheduler = nullptr,
                 SavedRows saved = SavedRows::All);

/// Restores the state of a fresh model that was created with the checkpoint's
/// seed: all of it, or what a server's model holds, independent of how parts
/// were divided when written. Runs on the threads of `scheduler`; if null, on
/// the caller's. If `use` is Values, slots and step counts stay unchanged. A
/// model restored for training may be saved as a delta of the checkpoint.
/// Throws std::bad_alloc.
Status restoreModel(Model &model, const Checkpoint &checkpoint,
                    CheckpointUse use, Scheduler *scheduler = nullptr);

/// Updates a model from the state of a delta's predecessor to the state of the
/// delta, which may have been opened alone. A full checkpoint replaces the
/// complete state. Reads only changed rows, and parameters. The caller
/// guarantees that the model has the predecessor's state, and that no thread
/// reads the model during the call. After an error, the model must not be used.
/// Throws std::bad_alloc.
Status restoreChanges(Model &model, const Checkpoint &delta, CheckpointUse use,
                      Scheduler *scheduler = nullptr);

/// Returns an error if training would resume in the middle of an epoch with
/// other flags than the epoch began with. `settings`: the flags of this run.
Status
checkSettings(const Checkpoint &checkpoint,
              const std::vector<std::pair<std::string, std::string>> &settings);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELCHECKPOINT_H
