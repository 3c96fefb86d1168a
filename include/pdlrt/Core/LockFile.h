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

/// A file that exists while a process holds it. Its lock ends with the process:
/// a file that a dead process has left is taken by the next one. Not
/// thread-safe.
class LockFile {
public:
  /// Holds no file.
  LockFile() = default;
  LockFile(LockFile &&other) noexcept;
  LockFile &operator=(LockFile &&other) noexcept;
  /// Removes the file if its name still refers to it.
  ~LockFile();

  /// Locks the file, or creates it if it does not exist. Sets `reason` to 0 on
  /// success; to EWOULDBLOCK if another process holds it; otherwise to the
  /// error of opening or of locking it. In the last case, the file is open and
  /// held by this object anyway, because some file systems have no locks.
  static LockFile take(const std::string &path, int &reason);
  /// Creates a new file and gives it the name of one that another process
  /// holds, which thereby loses it. It has `content` from the beginning.
  /// `reason` as for `take`.
  static LockFile takeOver(const std::string &path, const std::string &content,
                           int &reason);

  /// Returns true if a file is held.
  explicit operator bool() const { return file >= 0; }
  /// Returns true if its name still refers to it: no process has taken it over.
  bool isOwn() const;
  /// Replaces the content of the file. Returns 0 or an error number.
  int write(const std::string &content) const;
  /// Keeps the file in its place, but no longer holds it.
  void leave();

private:
  LockFile(std::string path, int file) : path(std::move(path)), file(file) {}

  std::string path;
  int file = -1;
};

} // namespace pdlrt

#endif // PDLRT_CORE_LOCKFILE_H
