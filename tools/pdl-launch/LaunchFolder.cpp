//===- LaunchFolder.cpp - The private folder of a launch ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFolder.h"

#include "pdlrt/Core/RandomNumber.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace pdllaunch;
using pdlrt::Expected;
using pdlrt::Status;

LaunchFolder::~LaunchFolder() = default;

namespace {

/// Prefix of a folder's name, before six random letters.
constexpr const char *folderPrefix = "pdl-launch-";

/// Holds the lock of a folder as long as the object exists. The lock shows
/// other processes that the owner of the folder is alive.
class HeldFolder {
public:
  HeldFolder() = default;
  /// Locks an existing folder. If another process has locked it, holds no
  /// folder.
  explicit HeldFolder(const std::string &path)
      : descriptor(::open(path.c_str(),
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
    struct stat held, named;
    if (descriptor >= 0 &&
        (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 ||
         ::fstat(descriptor, &held) != 0 ||
         ::lstat(path.c_str(), &named) != 0 || held.st_ino != named.st_ino ||
         held.st_uid != ::geteuid())) {
      ::close(descriptor);
      descriptor = -1;
    }
  }
  HeldFolder(HeldFolder &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  HeldFolder &operator=(HeldFolder &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~HeldFolder() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  explicit operator bool() const { return descriptor >= 0; }

private:
  int descriptor = -1;
};

/// Removes the folders of this user's launches that have ended without removing
/// them.
void removeLeftFolders(const std::filesystem::path &base) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(base, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    std::error_code ignored;
    if (name.starts_with(folderPrefix) &&
        name.size() == std::strlen(folderPrefix) + 6)
      if (const HeldFolder left(entry->path()); left)
        std::filesystem::remove_all(entry->path(), ignored);
  }
}

class HeldLaunchFolder final : public LaunchFolder {
public:
  ~HeldLaunchFolder() override {
    std::error_code ignored;
    if (!folder.empty())
      std::filesystem::remove_all(folder, ignored);
  }
  const std::string &path() const override { return folder; }
  Status make() {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    // The name of a socket is limited to 107 bytes.
    if (error || base.native().size() > 60)
      base = "/tmp";
    removeLeftFolders(base);
    // Before the folder is locked, another launch may remove it, because it
    // looks abandoned. Then try again.
    while (!held) {
      std::string pattern = base / (std::string(folderPrefix) + "XXXXXX");
      if (!::mkdtemp(pattern.data()))
        return Status::ofErrno(
            errno,
            "cannot create the folder " + pattern +
                " of the job's sockets and secret: " + std::strerror(errno) +
                "; set TMPDIR to a folder that can be written");
      held = HeldFolder(pattern);
      folder = pattern;
    }
    return {};
  }

private:
  std::string folder;
  HeldFolder held;
};

} // namespace

Expected<std::unique_ptr<LaunchFolder>> LaunchFolder::make() {
  auto folder = std::make_unique<HeldLaunchFolder>();
  PDLRT_RETURN_IF_ERROR(folder->make());
  return std::unique_ptr<LaunchFolder>(std::move(folder));
}

Expected<std::string> pdllaunch::writeToken(const LaunchFolder &folder) {
  std::string token;
  for (int i = 0; i < 4; ++i)
    token += fmt::format("{:016x}", pdlrt::drawNumber());
  token += '\n';
  std::string path = folder.path() + "/token";
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool isWritten =
      file >= 0 &&
      ::write(file, token.data(), token.size()) == ssize_t(token.size());
  const int error = errno;
  if (file >= 0)
    ::close(file);
  if (!isWritten)
    return Status::ofErrno(
        error, "cannot write the job's secret to " + path + ": " +
                   std::strerror(error) +
                   "; set TMPDIR to a folder that can be written, or "
                   "give --token-file to trainers and servers");
  return path;
}
