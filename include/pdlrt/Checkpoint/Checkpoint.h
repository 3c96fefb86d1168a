//===- Checkpoint.h - The whole state of a training, on disk ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint is a folder `step-<number>` with safetensors files and
// `manifest.json`, which names them with their sizes and checksums:
//
//   dense...safetensors   parameters and their slots, `<parameter>` and
//                         `<parameter>.slot.<slot>`: all rows, or those that
//                         the manifest says, ascending
//   table-<n>-...         rows of table n of the shards that the manifest
//                         says, ordered by
//                         (shard, key): `keys` I64 [rows], `values` and
//                         `slot.<slot>` [rows, width]; of a delta: those that
//                         have changed, and `erased` I64, keys that are no more
//   trainer.safetensors   sums of the running epoch: `loss`, `metric.<name>...`
//
// A delta is one whose rows of tables change those of the checkpoint before,
// which its manifest names, with the digest of that one's manifest, and which
// stands beside it. It is opened as if it were whole: with all that it follows,
// back to a whole one.
//
// The folder is written under another name and renamed when all of it is on
// the disk. Which process wrote which rows and shards is free: a reader puts
// together any parts that cover all rows and the 1024 logical shards once.
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

/// What is compared with its checksum when a checkpoint is opened; the manifest
/// always is, and the sizes of all files.
enum class CheckpointCheck {
  Everything, ///< every file, so all of it is read
  Parameters, ///< all but tables: for who takes no rows
  /// Files of kind Trainer alone, which are small: for who goes on where a
  /// training stands, but leaves the state to others.
  Progress
};

/// A checkpoint that was read and found whole. Immutable.
class Checkpoint {
public:
  /// Opens the folder `path`. A file that is missing or cut is an error that
  /// names it, and so is one that `check` finds changed by a single bit. The
  /// threads of `scheduler` read; null: that of the caller. Fails with
  /// PDL_OUT_OF_MEMORY where this process may have no more files open, which
  /// says nothing of the checkpoint.
  ///
  /// What a delta follows is opened and checked with it, its tables alone. An
  /// error names the delta, and what is wrong of that.
  static Expected<Checkpoint>
  open(const std::string &path,
       CheckpointCheck check = CheckpointCheck::Everything,
       Scheduler *scheduler = nullptr);
  /// The same without what it follows, for who has that state already.
  static Expected<Checkpoint>
  openAlone(const std::string &path,
            CheckpointCheck check = CheckpointCheck::Everything,
            Scheduler *scheduler = nullptr);

  bool isDelta() const { return content.after.has_value(); }
  /// What a delta follows, the whole one first; each with its tables alone.
  const std::vector<Checkpoint> &earlier() const { return before; }
  /// Calls visit(checkpoint) for these and for itself, in that order, until one
  /// returns an error.
  template <typename Visit> Status forEachLink(Visit visit) const {
    for (const Checkpoint &each : before)
      PDLRT_RETURN_IF_ERROR(visit(each));
    return visit(*this);
  }
  /// For a delta that follows it.
  CheckpointLink link() const;

  const std::string &path() const { return folder; }
  const CheckpointManifest &manifest() const { return content; }
  /// By `manifest().parts`.
  const SafetensorsFile &file(size_t part) const { return files[part]; }
  /// The only part of that kind; an error if there is none or several.
  Expected<const SafetensorsFile *> only(PartKind kind) const;
  /// A tensor of one of its files; an error where it is not there, or is of
  /// another type or shape.
  Expected<const TensorView *>
  tensorOf(const SafetensorsFile &file, const std::string &name,
           TensorType type, const std::vector<int64_t> &shape) const;
  /// Copies rows [first, end) of a parameter (`tensor` is its name) or of one
  /// of its slots, whichever parts hold them. An error where a part is not what
  /// the manifest says.
  Status copyRows(const CheckpointSymbol &symbol, const std::string &tensor,
                  CheckpointRange rows, void *out) const;
  /// An error about `what`, with the checkpoint's name.
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

/// Writes one checkpoint. What is not committed disappears with the writer.
/// Not thread-safe.
class CheckpointWriter {
public:
  /// Nothing is done before `addPart`. `path` is the final name of the folder.
  explicit CheckpointWriter(std::string path);
  CheckpointWriter(CheckpointWriter &&other) noexcept;
  CheckpointWriter &operator=(CheckpointWriter &&) = delete;
  ~CheckpointWriter();

  /// Of a process that writes parts into the `folder()` of another one's
  /// writer, which commits them: nothing is removed here.
  static CheckpointWriter into(const std::string &folder);

  /// Where parts are written until they are committed; made if it is not there.
  Expected<std::string> folder();
  /// Takes in a part that another process has written to `folder()`.
  void addWritten(CheckpointPart part) { parts.push_back(std::move(part)); }
  /// Those that were added so far.
  const std::vector<CheckpointPart> &addedParts() const { return parts; }
  /// Writes a part to the disk; its digest is filled in.
  Status addPart(CheckpointPart part, const SafetensorsWriter &tensors);
  /// Writes the manifest, with the parts that were added, and gives the folder
  /// its name; one of that name that exists is replaced. `digest`, unless null,
  /// gets that of a link to it.
  Status commit(CheckpointManifest manifest, uint64_t *digest = nullptr);
  /// The same where nothing may have that name; an error if something does.
  Status commitNew(CheckpointManifest manifest);

private:
  std::string path, temporary;
  bool ownsFolder = true;
  std::vector<CheckpointPart> parts;
};

/// A folder of checkpoints, owned by one process that writes them: the one that
/// has locked the file `.pdl-writer` there. Not thread-safe.
class CheckpointFolder {
public:
  /// Makes the folder if it is not there, and removes what an interrupted
  /// process left behind. Fails if another process writes to it, or it is one
  /// checkpoint.
  static Expected<CheckpointFolder> open(const std::string &path);
  /// The same for a process of a job whose earlier start may still hold the
  /// folder: none, and nothing is changed, where another process writes to it.
  static Expected<std::optional<CheckpointFolder>>
  openIfFree(const std::string &path);
  /// `open` for the start that servers have let in: it takes the folder from a
  /// process that has noted the same job (`note`), which then commits no more;
  /// what it left stays. Fails if a process of another job writes to it.
  static Expected<CheckpointFolder> takeOver(const std::string &path,
                                             uint64_t job);
  CheckpointFolder(CheckpointFolder &&other) noexcept = default;
  CheckpointFolder &operator=(CheckpointFolder &&) = delete;

  /// The error of `open` where another process writes to the folder.
  static Status isInUse(const std::string &path);

  /// Notes of which job this process is, which is not 0, for `takeOver`.
  Status note(uint64_t job) const;
  /// An error where another start has taken the folder over: whoever owns it no
  /// more writes no more.
  Status checkOwner() const;

  const std::string &path() const { return folder; }
  /// The name of the checkpoint after `steps` steps.
  std::string nameOf(int64_t steps) const { return nameIn(folder, steps); }
  /// The same in a folder that this process does not write to.
  static std::string nameIn(const std::string &folder, int64_t steps);
  /// Removes checkpoints before that of `steps`, all but the newest so that
  /// `keep` remain, with all that these and later ones follow; 0 keeps all.
  Status removeOld(int64_t steps, int64_t keep) const;
  struct Pruned {
    /// Names of those that were removed.
    std::vector<std::string> removed;
    /// Sentences about those that stay, though nobody can use them: they have
    /// been renamed, by somebody who needs them.
    std::vector<std::string> renamed;
    int64_t kept = 0;
    /// What these follow.
    int64_t needed = 0;
  };
  /// Keeps the newest `keep` that are whole, every bit of them and of what they
  /// follow, with what they follow; removes all others, but those that have
  /// been renamed. An error, and nothing is removed, where none is whole.
  Expected<Pruned> prune(int64_t keep) const;

private:
  Status remove(int64_t steps) const;
  CheckpointFolder(std::string folder, LockFile lock)
      : folder(std::move(folder)), lock(std::move(lock)) {}

  std::string folder;
  LockFile lock;
};

/// The steps of all checkpoints in a folder, newest first, whole or not. Empty
/// if there is no such folder.
std::vector<int64_t> listCheckpoints(const std::string &folder);

/// The newest checkpoint in `folder` that is whole as far as `check` looks;
/// sentences about newer ones that are not go to `refused`. None if there is
/// none at all; an error if there are some, but none is whole, and where there
/// is no memory, or no more files may be open, to find out.
Expected<std::optional<Checkpoint>>
findNewestCheckpoint(const std::string &folder,
                     std::vector<std::string> &refused,
                     CheckpointCheck check = CheckpointCheck::Everything,
                     Scheduler *scheduler = nullptr);

/// Opens `path`, or, if it is a folder of checkpoints, the newest in it that is
/// whole as far as `check` looks.
Expected<Checkpoint>
openCheckpoint(const std::string &path, std::vector<std::string> &refused,
               Scheduler *scheduler = nullptr,
               CheckpointCheck check = CheckpointCheck::Everything);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_CHECKPOINT_H
