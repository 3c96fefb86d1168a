//===- LockFile.h - A file that one process holds ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_LOCKFILE_H
#define PDLRT_CORE_LOCKFILE_H

#include <string>
#include <utility>

namespace pdlrt {

/// A file that is there as long as a process holds it, by a lock that goes with
/// the process: what a dead one has left is taken by the next. Not thread-safe.
class LockFile {
public:
  /// None is held.
  LockFile() = default;
  LockFile(LockFile &&other) noexcept;
  LockFile &operator=(LockFile &&other) noexcept;
  /// Removes the file if it is still what its name stands for.
  ~LockFile();

  /// Takes the file as it is, or makes it if it is not there. `reason` is 0
  /// then; EWOULDBLOCK where another process holds it; else why it cannot be
  /// opened, or, with the file open and held by this object all the same, why
  /// it cannot be locked: some file systems have no locks.
  static LockFile take(const std::string &path, int &reason);
  /// Makes a new file and gives it the name of one that another process holds,
  /// which has it no more then. It has `content` from the first moment on.
  /// `reason` as for `take`.
  static LockFile takeOver(const std::string &path, const std::string &content,
                           int &reason);

  /// Whether a file is held.
  explicit operator bool() const { return file >= 0; }
  /// Whether its name still stands for it: nobody has taken over.
  bool isOwn() const;
  /// Gives the file this content instead of what it has; 0, or why that failed.
  int write(const std::string &content) const;
  /// Leaves the file where it is and holds none.
  void leave();

private:
  LockFile(std::string path, int file) : path(std::move(path)), file(file) {}

  std::string path;
  int file = -1;
};

} // namespace pdlrt

#endif // PDLRT_CORE_LOCKFILE_H
