//===- TemporaryFile.cpp - Atomically written files -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/TemporaryFile.h"

#include "Files/FileFailure.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

using namespace pdlrt;

TemporaryFile::TemporaryFile(std::string finalPath)
    : finalPath(std::move(finalPath)),
      path(this->finalPath + ".tmp." + std::to_string(getpid())) {}

TemporaryFile::~TemporaryFile() {
  if (file < 0)
    return;
  ::close(file);
  ::unlink(path.c_str());
}

Status TemporaryFile::create() {
  if (isInObjectStore(finalPath)) {
    auto store = storeOf(finalPath);
    PDLRT_RETURN_IF_ERROR(store.status());
    auto writer = (*store)->create(finalPath, /*expectedBytes=*/0);
    PDLRT_RETURN_IF_ERROR(writer.status());
    stored = *std::move(writer);
    return {};
  }
  file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file < 0 ? failure("cannot be created") : Status();
}

Status TemporaryFile::write(const void *data, size_t size) {
  written.add(data, size);
  if (stored)
    return stored->write(data, size);
  const char *bytes = static_cast<const char *>(data);
  while (size) {
    const ssize_t count = ::write(file, bytes, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failure("cannot be written");
    bytes += count;
    size -= static_cast<size_t>(count);
  }
  return {};
}

Status TemporaryFile::commit() {
  if (stored)
    return stored->commit();
  if (::fsync(file) != 0)
    return failure("cannot be flushed to the disk");
  if (::rename(path.c_str(), finalPath.c_str()) != 0)
    return failure("cannot be replaced");
  ::close(file);
  file = -1;
  // The new name must survive a crash too.
  const size_t slash = finalPath.rfind('/');
  return flushFolder(slash == std::string::npos ? "."
                     : slash == 0               ? "/"
                                                : finalPath.substr(0, slash));
}

Status TemporaryFile::failure(const char *what) const {
  return fileFailure(finalPath, what, errno);
}

Status pdlrt::flushFolder(const std::string &path) {
  if (isInObjectStore(path))
    return {};
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Writing names into a folder does not require permission to read it.
  if (folder < 0 && errno == EACCES)
    return {};
  const int reason = folder < 0 || ::fsync(folder) != 0 ? errno : 0;
  if (folder >= 0)
    ::close(folder);
  // Some file systems do not support this, and do not need it.
  if (reason == 0 || reason == EINVAL || reason == ENOTSUP)
    return {};
  return Status::ofErrno(reason,
                         path +
                             ": the names in this folder cannot be flushed "
                             "to the disk: " +
                             std::strerror(reason) + "; check the disk");
}

Status pdlrt::renameToNew(const std::string &from, const std::string &to) {
  int reason = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                           RENAME_NOREPLACE) == 0
                   ? 0
                   : errno;
  // Some file systems do not support this flag.
  if (reason == EINVAL || reason == ENOSYS) {
    struct stat found;
    reason = ::lstat(to.c_str(), &found) == 0             ? EEXIST
             : std::rename(from.c_str(), to.c_str()) != 0 ? errno
                                                          : 0;
  }
  if (reason == EEXIST)
    return Status::failedPrecondition(
        to + ": something has that name by now, and stays; "
             "name another one");
  if (reason != 0)
    return fileFailure(to, "cannot be written", reason);
  const size_t slash = to.find_last_of('/');
  return flushFolder(slash == std::string::npos ? "."
                     : slash == 0               ? "/"
                                                : to.substr(0, slash));
}

uint64_t pdlrt::hashBytes(const void *data, size_t size) {
  return XXH3_64bits(data, size);
}
