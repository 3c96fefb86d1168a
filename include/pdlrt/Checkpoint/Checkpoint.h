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
//   `<parameter>.slot.<slot>`. It has all rows, or the rows that the manifest
//   lists, ascending.
// - `table-<n>-...`: rows of table n that belong to the shards listed in the
//   manifest, ordered by (shard, key). The tensors are `keys` I64 [rows], and
//   `values` and `slot.<slot>` [rows, width]. In a delta, only changed rows are
//   there, and `erased` I64 has the keys that no longer have a row.
// - `trainer.safetensors`: sums of the running epoch, `loss` and
//   `metric.<name>...`
//
// A delta is a checkpoint that contains only the table rows that changed since
// the previous checkpoint. Its manifest has the name of the previous
// checkpoint, which is in the same parent folder, and the digest of that
// checkpoint's manifest. Opening a delta also opens all its predecessors, back
// to a full checkpoint, so that a reader sees the complete state.
//
// The folder is written under a temporary name and renamed when all files are
// on the disk. Rows and shards may be divided among writing processes in any
// way: a reader combines any parts that together cover each row and each of the
// 1024 logical shards exactly once.
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
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

inline constexpr const char *manifestName = "manifest.json";

/// The files whose checksums are verified when a checkpoint is opened. The
/// checksum of the manifest and the sizes of all files are always verified.
enum class CheckpointCheck {
  Everything, ///< All files, so everything is read.
  Parameters, ///< All files except tables: for readers that need no rows.
  /// Only files of kind Trainer, which are small: for a process that resumes
  /// training but leaves the state to other processes.
  Progress
};

/// A checkpoint that was opened and verified. Immutable.
class Checkpoint {
public:
  /// Opens the folder `path`. Returns an error that names the file if a file is
  /// missing or truncated, or if `check` covers it and a single bit has
  /// changed. The threads of `scheduler` read the files; if null, the caller
  /// does. Fails with PDL_OUT_OF_MEMORY if this process may not open more
  /// files, which says nothing about the checkpoint.
  ///
  /// Also opens and verifies the predecessors of a delta, but only their
  /// tables. An error about a predecessor names both the delta and the faulty
  /// predecessor.
  static Expected<Checkpoint>
  open(const std::string &path,
       CheckpointCheck check = CheckpointCheck::Everything,
       Scheduler *scheduler = nullptr);
  /// Like `open`, but without the predecessors: for callers that already have
  /// their state.
  static Expected<Checkpoint>
  openAlone(const std::string &path,
            CheckpointCheck check = CheckpointCheck::Everything,
            Scheduler *scheduler = nullptr);

  bool isDelta() const { return content.after.has_value(); }
  /// Returns the predecessors of a delta, the full checkpoint first. Only the
  /// tables of each are open.
  const std::vector<Checkpoint> &earlier() const { return before; }
  /// Calls visit(checkpoint) for each predecessor and then for this checkpoint.
  /// Stops at the first error.
  template <typename Visit> Status forEachLink(Visit visit) const {
    for (const Checkpoint &each : before)
      PDLRT_RETURN_IF_ERROR(visit(each));
    return visit(*this);
  }
  /// Returns the link that a following delta stores in its manifest.
  CheckpointLink link() const;

  const std::string &path() const { return folder; }
  const CheckpointManifest &manifest() const { return content; }
  /// Returns the file of `manifest().parts[part]`.
  const SafetensorsFile &file(size_t part) const { return files[part]; }
  /// Returns the only file of that kind, or an error if there is none or more
  /// than one.
  Expected<const SafetensorsFile *> only(PartKind kind) const;
  /// Returns a tensor of one of this checkpoint's files, or an error if it is
  /// missing or has another type or shape.
  Expected<const TensorView *>
  tensorOf(const SafetensorsFile &file, const std::string &name,
           TensorType type, const std::vector<int64_t> &shape) const;
  /// Copies rows [first, end) of the tensor `tensor`, which is a parameter or
  /// one of its slots, from all parts that contain them. Returns an error if a
  /// part differs from what the manifest says.
  Status copyRows(const CheckpointSymbol &symbol, const std::string &tensor,
                  CheckpointRange rows, void *out) const;
  /// Returns a data-loss error: this checkpoint is damaged, because of `what`.
  Status damaged(const std::string &what) const;

private:
  Status checkDigest(size_t part) const;
  static Expected<Checkpoint> openFiles(const std::string &path,
                                        CheckpointCheck check,
                                        Scheduler *scheduler, bool tablesAlone);
  Status openEarlier(CheckpointCheck check, Scheduler *scheduler);
  Checkpoint(std::string folder, CheckpointManifest content)
      : folder(std::move(folder)), content(std::move(content)) {}

  std::string folder;
  CheckpointManifest content;
  uint64_t digest = 0;
  std::vector<SafetensorsFile> files;
  std::vector<Checkpoint> before;
};

/// Writes one checkpoint. If it is not committed, the destructor removes what
/// was written. Not thread-safe.
class CheckpointWriter {
public:
  /// Creates nothing before the first `addPart`. `path` is the final name of
  /// the folder.
  explicit CheckpointWriter(std::string path);
  CheckpointWriter(CheckpointWriter &&other) noexcept;
  CheckpointWriter &operator=(CheckpointWriter &&) = delete;
  ~CheckpointWriter();

  /// Creates a writer for a process that adds parts to the `folder()` of
  /// another process's writer. The other process commits; this writer removes
  /// nothing.
  static CheckpointWriter into(const std::string &folder);

  /// Returns the temporary folder, which holds the parts until `commit`, and
  /// creates it if necessary.
  Expected<std::string> folder();
  /// Adds a part that another process has written to `folder()`.
  void addWritten(CheckpointPart part) { parts.push_back(std::move(part)); }
  /// Returns the parts that were added so far.
  const std::vector<CheckpointPart> &addedParts() const { return parts; }
  /// Writes a part to the disk and sets its digest.
  Status addPart(CheckpointPart part, const SafetensorsWriter &tensors);
  /// Writes the manifest with the added parts, and renames the folder to its
  /// final name. An existing folder of that name is replaced. If `digest` is
  /// not null, it is set to the digest of a link to this checkpoint.
  Status commit(CheckpointManifest manifest, uint64_t *digest = nullptr);
  /// Like `commit`, but returns an error if the final name already exists.
  Status commitNew(CheckpointManifest manifest);

private:
  std::string path, temporary;
  bool ownsFolder = true;
  std::vector<CheckpointPart> parts;
};

/// A folder of checkpoints. Exactly one process owns it and writes to it: the
/// process that has locked the file `.pdl-writer` in it. Not thread-safe.
class CheckpointFolder {
public:
  /// Creates the folder if necessary, and removes the remains of interrupted
  /// processes. Fails if another process writes to the folder, or if the folder
  /// is itself a checkpoint.
  static Expected<CheckpointFolder> open(const std::string &path);
  /// Like `open`, for a process whose previous incarnation may still own the
  /// folder. If another process writes to the folder, changes nothing and
  /// returns none. If the file system has no locks, a process that has recorded
  /// `job` counts as one that writes; 0: none does.
  static Expected<std::optional<CheckpointFolder>>
  openIfFree(const std::string &path, uint64_t job = 0);
  /// Like `open`, for a new incarnation of a job that the servers have
  /// accepted. Takes the folder over from a process that has recorded the same
  /// job (`note`); that process then commits no more checkpoints. Its
  /// unfinished files stay. Fails if a process of another job writes to the
  /// folder.
  static Expected<CheckpointFolder> takeOver(const std::string &path,
                                             uint64_t job);
  /// Like `open`, for a process that saves on behalf of a job. If the folder is
  /// free, becomes its owner and records the job. If a process of the same job
  /// owns the folder, that does not change. Neither process removes what the
  /// other one writes.
  static Expected<CheckpointFolder> openFor(const std::string &path,
                                            uint64_t job);
  CheckpointFolder(CheckpointFolder &&other) noexcept = default;
  CheckpointFolder &operator=(CheckpointFolder &&) = delete;

  /// Returns the error of `open` for a folder to which another process writes.
  static Status isInUse(const std::string &path);

  /// Records the job of this process, which must not be 0, for `takeOver`.
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
  /// Removes checkpoints older than the one of `steps`, so that the newest
  /// `keep` remain. Predecessors of these and of later checkpoints are kept
  /// too. 0 keeps all.
  Status removeOld(int64_t steps, int64_t keep) const;
  struct Pruned {
    /// Names of the removed checkpoints.
    std::vector<std::string> removed;
    /// Messages about unusable checkpoints that were kept, because a user has
    /// renamed them.
    std::vector<std::string> renamed;
    int64_t kept = 0;
    /// Number of kept checkpoints that are only predecessors of kept deltas.
    int64_t needed = 0;
  };
  /// Keeps the newest `keep` checkpoints that are intact, including every bit
  /// of their predecessors, which are kept too. Removes all others except
  /// renamed ones. If no checkpoint is intact, returns an error and removes
  /// nothing.
  Expected<Pruned> prune(int64_t keep) const;

private:
  Status remove(int64_t steps) const;
  CheckpointFolder(std::string folder, LockFile lock)
      : folder(std::move(folder)), lock(std::move(lock)) {}

  std::string folder;
  LockFile lock;
};

/// Returns true for the name of the folder into which a checkpoint is written
/// until it is complete, such as "step-000000000100.tmp.17-1".
bool isUnfinishedCheckpoint(const std::string &name);

/// Returns the step counts of all checkpoints in a folder, newest first,
/// without checking that they are intact. Empty if the folder does not exist.
std::vector<int64_t> listCheckpoints(const std::string &folder);

/// Returns the newest checkpoint in `folder` that passes `check`. Appends
/// messages about newer ones that do not pass to `refused`. Returns none if
/// there are no checkpoints. Returns an error if there are some but none
/// passes, or if memory or the file limit does not suffice to find out.
Expected<std::optional<Checkpoint>>
findNewestCheckpoint(const std::string &folder,
                     std::vector<std::string> &refused,
                     CheckpointCheck check = CheckpointCheck::Everything,
                     Scheduler *scheduler = nullptr);

/// Opens `path`. If it is a folder of checkpoints, opens the newest one in it
/// that passes `check`.
Expected<Checkpoint>
openCheckpoint(const std::string &path, std::vector<std::string> &refused,
               Scheduler *scheduler = nullptr,
               CheckpointCheck check = CheckpointCheck::Everything);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_CHECKPOINT_H
