//===- OutputFiles.cpp - Checks of output paths ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Core/FileIdentity.h"
#include "pdlrt/Files/Store.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace pdlrt;
namespace fs = std::filesystem;

static fs::path folderOf(const std::string &path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

/// Returns true if the folder is a checkpoint, which has a manifest.
static bool isPartOfCheckpoint(const std::string &path) {
  std::error_code ignored;
  return fs::exists(folderOf(path) / "manifest.json", ignored);
}

static Status refusePartOfCheckpoint(const std::string &path) {
  return Status::failedPrecondition(
      "cannot write " + path + ": folder " + folderOf(path).string() +
      " is a checkpoint, which would be damaged; name a "
      "file elsewhere");
}

Status pdlrt::checkReplaceable(const std::string &path) {
  if (path == "-")
    return Status::invalidArgument(
        "cannot write to the standard output what is not "
        "text; name a file (./- for one of that name)");
  std::error_code ignored;
  const fs::file_status target = fs::symlink_status(path, ignored);
  if (fs::is_symlink(target))
    return Status::failedPrecondition(
        "cannot write " + path +
        ": it is a link, and would be replaced itself; "
        "name the file that it stands for");
  if (fs::exists(target) && !fs::is_regular_file(target))
    return Status::failedPrecondition(
        "cannot write " + path +
        ": it is there and is no regular file; name "
        "another");
  if (isPartOfCheckpoint(path))
    return refusePartOfCheckpoint(path);
  const fs::path folder = folderOf(path);
  if (access(folder.c_str(), W_OK | X_OK) == 0)
    return {};
  return Status::ofErrno(
      errno, "cannot write " + path + ": folder " + folder.string() + ": " +
                 std::strerror(errno) + "; create it, or name another");
}

/// Returns true if both paths refer to the same file. The file need not exist.
static bool isSameFile(const std::string &a, const std::string &b) {
  const auto left = FileIdentity::of(a), right = FileIdentity::of(b);
  if (left || right)
    return left == right;
  std::error_code error;
  const fs::path first = fs::weakly_canonical(a, error);
  return !error && first == fs::weakly_canonical(b, error) && !error;
}

/// Returns true if writing to the path overwrites nothing, as for a pipe or a
/// device.
static bool isBottomless(const std::string &path) {
  struct stat found;
  return path.empty() || path == "-" ||
         (stat(path.c_str(), &found) == 0 && S_ISCHR(found.st_mode));
}

Status pdlrt::checkLocal(const std::string &flag, const std::string &path) {
  const std::string_view scheme = schemeOf(path);
  if (scheme.empty())
    return {};
  return Status::invalidArgument(
      flag + " " + path + ": must be a path of this host, not an " +
      std::string(scheme) + ":// address; name a path");
}

Status pdlrt::checkOutputs(const std::vector<NamedFile> &outputs,
                           const std::vector<NamedFile> &inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile &output = outputs[i];
    if (isBottomless(output.path))
      continue;
    PDLRT_RETURN_IF_ERROR(checkLocal(output.flag, output.path));
    for (const NamedFile &input : inputs)
      if (!input.path.empty() && isSameFile(output.path, input.path))
        return Status::invalidArgument(output.flag + " " + output.path +
                                       " is the file of " + input.flag +
                                       ", and would destroy it; name another");
    for (size_t j = 0; j < i; ++j)
      if (!outputs[j].path.empty() && isSameFile(output.path, outputs[j].path))
        return Status::invalidArgument(
            outputs[j].flag + " and " + output.flag + " both name " +
            output.path +
            ", and one would destroy the other; give each "
            "a file of its own");
    if (isPartOfCheckpoint(output.path))
      return refusePartOfCheckpoint(output.path);
  }
  return {};
}

std::string pdlrt::withoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}
