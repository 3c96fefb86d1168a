//===- LockFile.h - A file that one process locks ---------------*- C++ -*-===//
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

/// A file that a process holds by a lock, and removes at the end. If a process
/// dies, the file remains but its lock ends, so that the next process can hold
/// the file. Not thread-safe.
class LockFile {
public:
  /// Holds no file.
  LockFile() = default;
  LockFile(LockFile &&other) noexcept;
  LockFile &operator=(LockFile &&other) noexcept;
  /// Removes the file, unless another process has taken its name over
  /// (`isOwn`).
  ~LockFile();

  /// Opens and locks the file `path`, which is created if it does not exist. On
  /// success, sets `reason` to 0. If another process holds the file, sets
  /// `reason` to EWOULDBLOCK and returns an object without a file. If opening
  /// fails, sets `reason` to the error number and returns an object without a
  /// file. If locking fails for another reason, sets `reason` to the error
  /// number, but returns an object that holds the file without a lock: some
  /// file systems have no locks.
  static LockFile take(const std::string &path, int &reason);
  /// Takes the name `path` over from the process that holds the file: creates a
  /// new locked file with `content` and renames it to `path`. `isOwn` of the
  /// other process then returns false. On success, sets `reason` to 0;
  /// otherwise sets it to the error number and returns an object without a
  /// file.
  static LockFile takeOver(const std::string &path, const std::string &content,
                           int &reason);

  /// Returns true if a file is held.
  explicit operator bool() const { return file >= 0; }
  /// Returns true if the path still refers to this file: no other process has
  /// taken the name over, and the file was not removed.
  bool isOwn() const;
  /// Replaces the content of the file. Returns 0 or an error number.
  int write(const std::string &content) const;
  /// Closes the file, which ends the lock, but does not remove it.
  void leave();

private:
  LockFile(std::string path, int file) : path(std::move(path)), file(file) {}

  std::string path;
  int file = -1;
};

} // namespace pdlrt

#endif // PDLRT_CORE_LOCKFILE_H
