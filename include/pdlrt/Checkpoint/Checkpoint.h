//===- Checkpoint.h - The complete state of a training run ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint is a folder `step-<number>` with safetensors files and
// `manifest.json`, which lists them with their sizes and checksums:
//
// - `dense...safetensors`: parameters `<parameter>` and their slots
//   `<parameter>.slot.<slot>`. A tensor has all rows of its parameter, or the
//   rows that the manifest lists for this file, in ascending order.
// - `table-<n>-...`: rows of table n that belong to the shards listed in the
//   manifest, ordered by (shard, key). The tensors are `keys` I64 [rows], and
//   `values` and `slot.<slot>` [rows, width]. In a delta, these tensors have
//   only changed rows, and `erased` I64 has the keys that no longer have a row.
// - `trainer.safetensors`: the accumulated loss and metrics of the running
//   epoch, `loss` and `metric.<name>...`
//
// A delta is a checkpoint whose tables contain only the rows that changed since
// the previous checkpoint. Its manifest has the name of the previous
// checkpoint, which is in the same parent folder, and the digest of that
// checkpoint's manifest. Opening a delta also opens all its predecessors, back
// to a full checkpoint, so that a reader sees the complete state.
//
// The folder is written under a temporary name and renamed when all files are
// on the disk. Rows of parameters and shards of tables may be divided among
// writing processes in any way. A reader accepts all divisions in which each
// row of a parameter and each of the 1024 shards of a table is in exactly one
// file.
//
// In an object store, nothing can be renamed. There the files are in a
// subfolder `parts.<number>` of the checkpoint, and the checkpoint appears with
// its manifest, which names the subfolder and is written last.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_CHECKPOINT_H
#define PDLRT_CHECKPOINT_CHECKPOINT_H

#include "pdlrt/Checkpoint/Manifest.h"
#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Sched/Scheduler.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

inline constexpr const char *manifestName = "manifest.json";

/// The files whose checksums are verified when a checkpoint is opened. The
/// checksum of the manifest and the sizes of all open files are always
/// verified.
enum class CheckpointCheck {
  Everything, ///< All files. They are read completely.
  Parameters, ///< All files except tables: for readers that need no rows.
  /// Only files of kind Trainer, which are small: for a process that resumes
  /// training while other processes read parameters and tables. In an object
  /// store, the other files are not even opened.
  Progress
};

/// Use of a file of a checkpoint.
enum class PartUse {
  None,  ///< The file is not opened, and not among the parts of the checkpoint.
  Read,  ///< Only its size is verified when it is opened.
  Verify ///< Its checksum is verified too.
};

/// Selects the files of a checkpoint that a process reads.
class PartSelection {
public:
  PartSelection(CheckpointCheck check) : check(check) {}
  /// Selects by a function of a file. It must select the same files of all
  /// checkpoints in a folder.
  explicit PartSelection(std::function<PartUse(const CheckpointPart &)> choose)
      : choose(std::move(choose)) {}
  /// Returns the use of a file of the checkpoint in folder `path`.
  PartUse useOf(const CheckpointPart &part, const std::string &path) const;

private:
  CheckpointCheck check = CheckpointCheck::Everything;
  std::function<PartUse(const CheckpointPart &)> choose;
};

/// A checkpoint that was opened and verified. Immutable.
class Checkpoint {
public:
  /// Opens the folder `path`. Returns an error that names the file if a file is
  /// missing or truncated, or if it is verified and any bit of it has changed.
  /// `parts` selects the files, also of predecessors. The threads of
  /// `scheduler` read the files; if `scheduler` is null, the calling thread
  /// does. Returns PDL_OUT_OF_MEMORY if this process cannot open more files,
  /// and PDL_UNAVAILABLE if an object store does not respond; the checkpoint
  /// may be intact nevertheless.
  ///
  /// If the checkpoint is a delta, also opens and verifies the table files of
  /// its predecessors; their other files are not needed. An error message about
  /// a predecessor names the delta and the faulty predecessor.
  static Expected<Checkpoint>
  open(const std::string &path,
       const PartSelection &parts = CheckpointCheck::Everything,
       Scheduler *scheduler = nullptr);
  /// Like `open`, but does not open the predecessors of a delta: for callers
  /// whose model already has the predecessors' state.
  static Expected<Checkpoint>
  openAlone(const std::string &path,
            const PartSelection &parts = CheckpointCheck::Everything,
            Scheduler *scheduler = nullptr);

  bool isDelta() const { return content.after.has_value(); }
  /// Returns the predecessors of a delta, the full checkpoint first. Only their
  /// table files are open. Empty for a full checkpoint.
  const std::vector<Checkpoint> &earlier() const { return before; }
  /// Calls visit(checkpoint) for each predecessor and then for this checkpoint.
  /// Stops at the first error.
  template <typename Visit> Status forEachLink(Visit visit) const {
    for (const Checkpoint &each : before)
      PDLRT_RETURN_IF_ERROR(visit(each));
    return visit(*this);
  }
  /// Returns the link to this checkpoint, which the next delta stores in its
  /// manifest.
  CheckpointLink link() const;

  const std::string &path() const { return folder; }
  const CheckpointManifest &manifest() const { return content; }
  /// Returns the file of `manifest().parts[part]`.
  const SafetensorsFile &file(size_t part) const { return files[part]; }
  /// Returns the only file of kind `kind`. Returns an error if this checkpoint
  /// has no such file or several.
  Expected<const SafetensorsFile *> only(PartKind kind) const;
  /// Returns a tensor of one of this checkpoint's files, or an error if it is
  /// missing or has another type or shape.
  Expected<const TensorView *>
  tensorOf(const SafetensorsFile &file, const std::string &name,
           TensorType type, const std::vector<int64_t> &shape) const;
  /// Copies the rows `rows` of the tensor `tensor`, which is a parameter or one
  /// of its slots, to `out`. Collects them from all parts of this checkpoint.
  /// Returns an error if the content of a part does not match the manifest.
  Status copyRows(const CheckpointSymbol &symbol, const std::string &tensor,
                  CheckpointRange rows, void *out) const;
  /// Returns an error with code PDL_DATA_LOSS. It says that this checkpoint is
  /// damaged, with the reason `what`.
  Status damaged(const std::string &what) const;

private:
  Status checkDigest(size_t part) const;
  static Expected<Checkpoint> openFiles(const std::string &path,
                                        const PartSelection &parts,
                                        Scheduler *scheduler, bool tablesAlone);
  Status openEarlier(const PartSelection &parts, Scheduler *scheduler);
  Checkpoint(std::string folder, CheckpointManifest content)
      : folder(std::move(folder)), content(std::move(content)) {}

  std::string folder;
  CheckpointManifest content;
  uint64_t digest = 0;
  std::vector<SafetensorsFile> files;
  std::vector<Checkpoint> before;
};

/// Writes one checkpoint. The destructor removes the written files unless the
/// checkpoint was committed. Not thread-safe.
class CheckpointWriter {
public:
  /// `path` is the final name of the folder. Nothing is created on the disk
  /// until the first call of `addPart` or `folder`.
  explicit CheckpointWriter(std::string path);
  CheckpointWriter(CheckpointWriter &&other) noexcept;
  CheckpointWriter &operator=(CheckpointWriter &&) = delete;
  ~CheckpointWriter();

  /// Creates a writer that adds parts to `folder`, the temporary folder of
  /// another process's writer. The other process commits the checkpoint. The
  /// destructor of this writer removes nothing.
  static CheckpointWriter into(const std::string &folder);

  /// Returns the temporary folder that holds the parts until `commit`. Creates
  /// the folder if necessary.
  Expected<std::string> folder();
  /// Adds a part that another process has written to `folder()`.
  void addWritten(CheckpointPart part) { parts.push_back(std::move(part)); }
  /// Returns the parts that were added so far.
  const std::vector<CheckpointPart> &addedParts() const { return parts; }
  /// Writes `tensors` to the disk as the file of `part`, and adds the part with
  /// the digest of this file.
  Status addPart(CheckpointPart part, const SafetensorsWriter &tensors);
  /// Writes the manifest with the added parts, and renames the folder to its
  /// final name. Replaces an existing folder of that name. If `digest` is not
  /// null, sets it to the digest of the manifest, which a CheckpointLink to
  /// this checkpoint contains.
  Status commit(CheckpointManifest manifest, uint64_t *digest = nullptr);
  /// Like `commit`, but returns an error if the final name already exists.
  Status commitNew(CheckpointManifest manifest);

private:
  Status commitStored(CheckpointManifest manifest, uint64_t *digest);

  std::string path, temporary;
  bool ownsFolder = true;
  std::vector<CheckpointPart> parts;
};

/// A folder of checkpoints. The process that has locked the file `.pdl-writer`
/// in the folder owns it; only the owner saves checkpoints in it. A folder in
/// an object store has no lock, and no owner. Not thread-safe.
class CheckpointFolder {
public:
  /// Becomes the owner of the folder, which is created if necessary. Removes
  /// incomplete checkpoints of interrupted processes; in an object store, only
  /// files that are older than a day. Returns an error if another process owns
  /// the folder, or if the folder is itself a checkpoint.
  static Expected<CheckpointFolder> open(const std::string &path);
  /// Like `open`, but returns nullopt and changes nothing if another process
  /// owns the folder. For a process whose previous incarnation may still be the
  /// owner. If the file system has no locks, it is not known whether the last
  /// owner is still running. Then returns nullopt if that owner has recorded
  /// `job` (see `note`) and `job` is not 0; otherwise becomes the owner.
  static Expected<std::optional<CheckpointFolder>>
  openIfFree(const std::string &path, uint64_t job = 0);
  /// Like `open`, for a new incarnation of a process that the servers of job
  /// `job` have accepted. Records the job. If the owner has recorded the same
  /// job (`note`), takes the folder over: the previous owner then commits no
  /// more checkpoints. Its incomplete checkpoints are not removed, because
  /// servers may still write to them. Returns an error if a process of another
  /// job owns the folder.
  static Expected<CheckpointFolder> takeOver(const std::string &path,
                                             uint64_t job);
  /// Like `open`, for a process that saves on behalf of a job. If the folder
  /// has no owner, becomes the owner and records the job. If a process of the
  /// same job owns the folder, that process stays the owner, and this one may
  /// save too. Neither of the two removes files of the other. Returns an error
  /// if a process of another job owns the folder.
  static Expected<CheckpointFolder> openFor(const std::string &path,
                                            uint64_t job);
  CheckpointFolder(CheckpointFolder &&other) noexcept = default;
  CheckpointFolder &operator=(CheckpointFolder &&) = delete;

  /// Returns the error of `open` for a folder that another process owns.
  static Status isInUse(const std::string &path);

  /// Records in the folder that its owner belongs to job `job`, for `takeOver`
  /// and `openFor`. `job` must not be 0.
  Status note(uint64_t job) const;
  /// Returns an error if another incarnation has taken over the folder. A
  /// process that no longer owns the folder must not write to it.
  Status checkOwner() const;

  const std::string &path() const { return folder; }
  /// Returns the path of the checkpoint after `steps` steps.
  std::string nameOf(int64_t steps) const { return nameIn(folder, steps); }
  /// Returns the path of the checkpoint after `steps` steps in `folder`, which
  /// this process need not own.
  static std::string nameIn(const std::string &folder, int64_t steps);
  /// Marks the checkpoint after `steps` steps as the best one: the link `best`
  /// in the folder then refers to it, instead of to the one before. Returns an
  /// error in an object store, which has no links.
  Status markBest(int64_t steps) const;
  /// Keeps the newest `keep` of the checkpoints after at most `steps` steps,
  /// and removes the older ones. If `keep` is 0, removes nothing. Also keeps
  /// checkpoints after more than `steps` steps, the best one (as marked, and as
  /// that of `steps` records it), and the predecessors of all that are kept.
  Status removeOld(int64_t steps, int64_t keep) const;
  struct Pruned {
    /// Paths of the removed checkpoints.
    std::vector<std::string> removed;
    /// One message for each checkpoint whose name does not match its step
    /// count, because a user has renamed it. Such a checkpoint cannot be used,
    /// but is not removed.
    std::vector<std::string> renamed;
    int64_t kept = 0;
    /// Number of checkpoints that are kept in addition to `kept`: the best one,
    /// and predecessors of kept deltas.
    int64_t needed = 0;
  };
  /// Keeps the newest `keep` intact checkpoints, the best one (as in
  /// `removeOld`), and their predecessors. A checkpoint is intact if no bit of
  /// it and of its predecessors has changed. Removes all others except renamed
  /// ones. If there are checkpoints but none is intact, returns an error and
  /// removes nothing.
  Expected<Pruned> prune(int64_t keep) const;

private:
  Status remove(int64_t steps) const;
  CheckpointFolder(std::string folder, LockFile lock)
      : folder(std::move(folder)), lock(std::move(lock)) {}

  std::string folder;
  LockFile lock;
};

/// Returns the path that a checkpoint gets when it is complete, for the path of
/// the folder into which it is written, such as "step-000000000100.tmp.17-1",
/// or "step-000000000100/parts.1" in an object store. Empty if that is another
/// folder.
std::string publishedPathOf(const std::string &unfinished);

/// Returns the step counts of all checkpoints in a folder, newest first,
/// without checking that they are intact. Returns an empty list if the folder
/// does not exist, and also, with a warning in the log, if an object store
/// returns an error.
std::vector<int64_t> listCheckpoints(const std::string &folder);

/// Returns the newest checkpoint in `folder` that passes `check`. Appends to
/// `refused` a message for each newer checkpoint that does not pass. Returns
/// nullopt if there are no checkpoints. Returns an error if there are
/// checkpoints but none passes, if memory or the limit of open files does not
/// suffice to check them, or if an object store does not respond.
Expected<std::optional<Checkpoint>>
findNewestCheckpoint(const std::string &folder,
                     std::vector<std::string> &refused,
                     CheckpointCheck check = CheckpointCheck::Everything,
                     Scheduler *scheduler = nullptr);

/// Opens the checkpoint `path`, which may be the link `best` in a folder of
/// checkpoints. If `path` is a folder of checkpoints, opens the
/// newest checkpoint in it that passes `check`; `refused` is as in
/// `findNewestCheckpoint`.
Expected<Checkpoint>
openCheckpoint(const std::string &path, std::vector<std::string> &refused,
               Scheduler *scheduler = nullptr,
               CheckpointCheck check = CheckpointCheck::Everything);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_CHECKPOINT_H
