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
#include "pdlrt/State/Placement.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Returns an error that lists the differences if a program cannot use a
/// checkpoint for `use` (ModelParts.h). `old` says whether a checkpoint of
/// layout 1 is accepted, and receives a description of the parts that could not
/// be checked. If `old` is null, layout 1 is rejected.
Status checkSameModel(const pdl_descriptor &descriptor,
                      const Checkpoint &checkpoint, CheckpointUse use,
                      OldLayout *old = nullptr);
/// Like the function above, for the manifest of a checkpoint. `path` is the
/// checkpoint's name in messages.
Status checkSameModel(const pdl_descriptor &descriptor,
                      const CheckpointManifest &manifest,
                      const std::string &path, CheckpointUse use,
                      OldLayout *old = nullptr);

/// Sets the fields of a manifest that describe the program, its symbols and the
/// applied updates: all except settings, progress and parts.
void describeModel(const Model &model, CheckpointManifest &manifest);

/// Limits of file sizes and memory for saving a model.
struct TablePartSizes {
  /// Size at which a table's file ends, after the shard with which the file
  /// reaches it. If 1/256 of the size of all tables of this process is more,
  /// files end at that size, which limits their number: all files of a
  /// checkpoint are open while it is read.
  size_t bytesInPart = size_t(32) << 20;
  /// Maximum memory for building parts, of all threads together. If 1/32 of the
  /// memory of all tables of this process is more, that is the limit. A part
  /// that does not fit is written in pieces. It then uses up to 32 bytes per
  /// row, and a copy of each row that is not in memory; this may exceed the
  /// limit.
  size_t memory = size_t(64) << 20;
  /// Maximum memory of a snapshot for copied rows and for information about
  /// keys, of all tables together. If 1/32 of the tables' memory is more, that
  /// is the limit. When the limit is reached, writes to rows wait until memory
  /// is available. New keys use this memory too, but never wait.
  size_t copyLimit = size_t(4) << 20;
  /// A snapshot copies parameters and their slots if their total size is at
  /// most this. If 1/32 of the tables' memory, but at most `maxCopied`, is
  /// more, that is the limit. Steps wait during the copy. Larger parameters are
  /// not copied, nor are parameters for whose copy memory is insufficient:
  /// steps wait until they are on the disk.
  size_t copied = size_t(32) << 20;
  size_t maxCopied = size_t(256) << 20;
};

/// Writes the values and slots that the model holds, and adds them to the
/// checkpoint. A server's model holds only the server's own part; the parts of
/// all servers together are complete. `saved` selects the table rows; with
/// Changed, the parts are those of a delta. `denseFile` is the name of the file
/// for parameters, which must differ between servers. As many threads of
/// `scheduler` as memory permits write the tables; if `scheduler` is null, the
/// calling thread does. `model` must not change during the call. After an
/// error, the next save must cover all rows. Throws std::bad_alloc.
Status saveParts(const Model &model, const std::string &denseFile,
                 CheckpointWriter &writer, Scheduler *scheduler = nullptr,
                 const TablePartSizes &sizes = {},
                 SavedRows saved = SavedRows::All);

/// A snapshot of a model's values and slots. Training continues while the
/// snapshot is written. A model has at most one snapshot at a time.
class StateSnapshot {
public:
  /// Takes a snapshot. The arguments are those of `saveParts`. The model must
  /// not change during the call. Parameters that are not copied
  /// (`TablePartSizes::copied`) are written to `writer` during the call. The
  /// model must outlive the snapshot. Throws std::bad_alloc.
  static Expected<std::unique_ptr<StateSnapshot>>
  take(Model &model, const std::string &denseFile, CheckpointWriter &writer,
       const TablePartSizes &sizes = {}, SavedRows saved = SavedRows::All);
  /// Ends the snapshot: from now on, tables do not copy rows before they
  /// change. May run on any thread.
  ~StateSnapshot();
  StateSnapshot(const StateSnapshot &) = delete;
  StateSnapshot &operator=(const StateSnapshot &) = delete;

  /// Writes the parts that `saveParts` would have written at the time of the
  /// snapshot, and adds them to `writer`. Call once, on any thread. Starts one
  /// more thread, which waits for the disk. Throws std::bad_alloc.
  Status write(CheckpointWriter &writer);
  /// Returns the maximum memory that copied rows have used at any time so far,
  /// in bytes. Call during the snapshot.
  size_t maxCopiedBytes() const;

private:
  struct Plan;
  explicit StateSnapshot(Model &model);

  Model &model;
  std::unique_ptr<Plan> plan;
};

/// Saves the complete state of a model: writes the values and slots of all
/// symbols to `writer`, and sets the fields of `manifest` that `describeModel`
/// sets, with the step counts of groups. `model` must not change during the
/// call.
Status saveModel(const Model &model, CheckpointWriter &writer,
                 CheckpointManifest &manifest, Scheduler *scheduler = nullptr,
                 SavedRows saved = SavedRows::All);

/// Sets the state of a fresh model to the state in a checkpoint. The model must
/// have been created with the checkpoint's seed. A server's model reads only
/// its own part, and the number of servers may have been another one. If `use`
/// is Values, restores only values and the slot that frozen programs read
/// (`pdl_symbol::frozen_part`). Runs on the threads of `scheduler`; if null, on
/// the calling thread. A model that was restored for training can be saved as a
/// delta of this checkpoint. Throws std::bad_alloc.
Status restoreModel(Model &model, const Checkpoint &checkpoint,
                    CheckpointUse use, Scheduler *scheduler = nullptr);

/// Selects the files that owner `owner` of a job needs for `restoreModel`. If
/// all owners restore the same checkpoint, each file is verified by at least
/// one of them.
///
/// In a folder of a host, which may be a copy, an owner verifies all files that
/// it needs. In an object store, in which files do not change, only one of the
/// owners that need a file verifies it (`isStored`), so that the others need
/// not read all of it. The arguments must outlive the selection.
PartSelection partsOfOwner(const pdl_descriptor &descriptor,
                           const Placement &placement, int32_t owner,
                           bool isStored);

/// Applies a delta to a model that has the state of the delta's predecessor.
/// Reads all parameters, but only changed rows of tables. `delta` may have been
/// opened by `openAlone`. If it is a full checkpoint, replaces the complete
/// state. No thread may read the model during the call. After an error, the
/// model must not be used. Throws std::bad_alloc.
Status restoreChanges(Model &model, const Checkpoint &delta, CheckpointUse use,
                      Scheduler *scheduler = nullptr);

/// Returns an error if `checkpoint` was written in the middle of an epoch, by a
/// run whose flags differ from `settings`, the flags of this run. Flags that
/// only change the division of rows among replicas may differ.
Status
checkSettings(const Checkpoint &checkpoint,
              const std::vector<std::pair<std::string, std::string>> &settings);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELCHECKPOINT_H
