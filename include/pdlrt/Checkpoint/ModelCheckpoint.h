//===- ModelCheckpoint.h - State to and from a checkpoint -------*- C++ -*-===//
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

/// Refuses a checkpoint that does not have what `use` needs, and says what
/// differs (ModelParts.h). `old`: whether a checkpoint of layout 1 is accepted
/// (null: it is not); gets what could not be checked.
Status checkSameModel(const pdl_descriptor &descriptor,
                      const Checkpoint &checkpoint, CheckpointUse use,
                      OldLayout *old = nullptr);
/// The same of what has such a manifest, and is called `path`.
Status checkSameModel(const pdl_descriptor &descriptor,
                      const CheckpointManifest &manifest,
                      const std::string &path, CheckpointUse use,
                      OldLayout *old = nullptr);

/// Fills in what a manifest says of the program, its symbols and the updates
/// applied: all but settings, progress and parts.
void describeModel(const Model &model, CheckpointManifest &manifest);

/// How tables are cut into parts, and written.
struct TablePartSizes {
  /// A part ends with the shard that brings its file to so many bytes, or to
  /// 1/256 of all tables of this process where that is more: all files of a
  /// checkpoint are open while it is read.
  size_t bytesInPart = size_t(32) << 20;
  /// What parts take in memory, of all threads together: at most so many bytes,
  /// or 1/32 of what all tables of this process have in memory where that is
  /// more. A part that does not fit is written piece by piece, and takes up to
  /// 32 bytes a row and a copy of each row that is not in memory, whatever that
  /// is.
  size_t memory = size_t(64) << 20;
  /// Of a moment, what is held for rows that are put aside and for what is
  /// known of keys, of all tables together: at most so many bytes, or 1/32 of
  /// what these have in memory where that is more. Keys that come new are
  /// counted, but do not wait for room: rows are written no more before there
  /// is some.
  size_t aside = size_t(4) << 20;
  /// Parameters and slots are copied where they are at most so many bytes, or
  /// 1/32 of all tables of this process, up to `mostCopied`, where that is
  /// more: steps stand still meanwhile. Else, and where there is no memory for
  /// copies, they are written before others may change them.
  size_t copied = size_t(32) << 20;
  size_t mostCopied = size_t(256) << 20;
};

/// Adds what the model holds of values and slots: all, or a server's own, in
/// parts that together with those of other servers are the whole. `saved`: of
/// tables; where that is Changed, the parts are those of a delta. Behind an
/// error the next save has to be of all rows. `denseFile`:
/// name of the file of parameters, unlike that of other servers. Parts of
/// tables are written on the threads of `scheduler`, as far as there is memory
/// for them; null: on that of the caller. `model` does not change meanwhile.
/// Throws std::bad_alloc.
Status saveParts(const Model &model, const std::string &denseFile,
                 CheckpointWriter &writer, Scheduler *scheduler = nullptr,
                 const TablePartSizes &sizes = {},
                 SavedRows saved = SavedRows::All);

/// What a model held of values and slots at a moment, to be written while it is
/// trained on. A model has one at a time.
class StateMoment {
public:
  /// The moment is now: the model does not change meanwhile. What is said of
  /// the other arguments at `saveParts`; parameters that are not copied are
  /// added to `writer` at once. The model outlives the moment. Throws
  /// std::bad_alloc.
  static Expected<std::unique_ptr<StateMoment>>
  take(Model &model, const std::string &denseFile, CheckpointWriter &writer,
       const TablePartSizes &sizes = {}, SavedRows saved = SavedRows::All);
  /// Tables need no longer keep what they were. Any thread.
  ~StateMoment();
  StateMoment(const StateMoment &) = delete;
  StateMoment &operator=(const StateMoment &) = delete;

  /// Once, in any one thread, with another one that waits for the disk: adds to
  /// the writer what `saveParts` would have added at the moment. Throws
  /// std::bad_alloc.
  Status write(CheckpointWriter &writer);
  /// Bytes that were held at most for what was put aside; while the moment
  /// lasts.
  size_t mostBytesAside() const;

private:
  struct Plan;
  explicit StateMoment(Model &model);

  Model &model;
  std::unique_ptr<Plan> plan;
};

/// Adds values, slots and step counts of all symbols and groups: the parts to
/// `writer`, the rest to `manifest`. `model` does not change meanwhile.
Status saveModel(const Model &model, CheckpointWriter &writer,
                 CheckpointManifest &manifest, Scheduler *scheduler = nullptr,
                 SavedRows saved = SavedRows::All);

/// Sets the state of a fresh model, made with the checkpoint's seed: all, or
/// what a server's model holds of it, whoever wrote which parts, on the threads
/// of `scheduler`; null: on that of the caller. Slots and step counts are left
/// as they are where only values are used. A model that is trained on may be
/// saved as changes of the checkpoint. Throws std::bad_alloc.
Status restoreModel(Model &model, const Checkpoint &checkpoint,
                    CheckpointUse use, Scheduler *scheduler = nullptr);

/// Makes of the state of the checkpoint that a delta follows that of the delta,
/// which may have been opened alone; a whole one takes the place of all. Reads
/// no more than has changed, and parameters. Whether the model has the state
/// before is for the caller to know. Nobody reads the model meanwhile; behind
/// an error it is of no use. Throws std::bad_alloc.
Status restoreChanges(Model &model, const Checkpoint &delta, CheckpointUse use,
                      Scheduler *scheduler = nullptr);

/// Refuses to go on in the middle of an epoch with other flags than those that
/// it was begun with. `settings`: those of this run.
Status
checkSettings(const Checkpoint &checkpoint,
              const std::vector<std::pair<std::string, std::string>> &settings);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELCHECKPOINT_H
