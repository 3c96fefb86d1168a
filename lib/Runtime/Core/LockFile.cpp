//===- LockFile.cpp - A file that one process locks -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/FileIdentity.h"
#include "pdlrt/Core/RandomNumber.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

using namespace pdlrt;

LockFile::LockFile(LockFile &&other) noexcept
    : path(std::move(other.path)), file(std::exchange(other.file, -1)) {}

LockFile &LockFile::operator=(LockFile &&other) noexcept {
  std::swap(path, other.path);
  std::swap(file, other.file);
  return *this;
}

LockFile::~LockFile() {
  // Removed while it is still locked. A process that has opened the file in the
  // meantime then notices that its file has no name any more.
  if (file >= 0 && isOwn())
    ::unlink(path.c_str());
  leave();
}

LockFile LockFile::take(const std::string &path, int &reason) {
  while (true) {
    const int opened =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    reason = opened < 0 ? errno : 0;
    if (opened < 0)
      return {};
    LockFile taken(path, opened);
    if (::flock(opened, LOCK_EX | LOCK_NB) != 0)
      reason = errno;
    // After the file was opened, its last owner may have removed it, or another
    // process may have replaced it.
    if (reason == EWOULDBLOCK || !taken.isOwn()) {
      taken.leave();
      if (reason == EWOULDBLOCK)
        return {};
      continue;
    }
    return taken;
  }
}

LockFile LockFile::takeOver(const std::string &path, const std::string &content,
                            int &reason) {
  // The new file is locked before it is renamed to `path`. So no process finds
  // a file without an owner, and the previous owner notices that `path` is
  // another file now.
  const std::string name = path + "." + std::to_string(drawNumber());
  const int opened =
      ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  reason = opened < 0 ? errno : 0;
  if (opened < 0)
    return {};
  LockFile taken(path, opened);
  ::flock(opened, LOCK_EX | LOCK_NB);
  reason = taken.write(content);
  if (reason == 0 && ::rename(name.c_str(), path.c_str()) != 0)
    reason = errno;
  if (reason == 0)
    return taken;
  ::unlink(name.c_str());
  taken.leave();
  return {};
}

bool LockFile::isOwn() const {
  const auto named = FileIdentity::of(path);
  return named && named == FileIdentity::of(file);
}

int LockFile::write(const std::string &content) const {
  if (::ftruncate(file, 0) != 0)
    return errno;
  const ssize_t written = ::pwrite(file, content.data(), content.size(), 0);
  if (written < 0)
    return errno;
  return size_t(written) == content.size() ? 0 : ENOSPC;
}

void LockFile::leave() {
  if (file >= 0)
    ::close(std::exchange(file, -1));
}
