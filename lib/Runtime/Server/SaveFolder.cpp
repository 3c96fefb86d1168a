//===- SaveFolder.cpp - Folder for a server's checkpoints -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/SaveFolder.h"

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <filesystem>

using namespace pdlrt;
namespace fs = std::filesystem;

/// Returns the absolute path without symbolic links, `..` and a slash at its
/// end. The file need not exist.
static std::string realPath(const std::string &path) {
  if (isInObjectStore(path))
    return absolutePlace(path);
  std::error_code error;
  fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error)
    real = fs::absolute(path, error).lexically_normal();
  return (real.has_filename() ? real : real.parent_path()).string();
}

SaveFolder::SaveFolder(const std::string &folder)
    : isOpen(false), root(folder.empty() ? "" : realPath(folder)) {}

void SaveFolder::allowAlso(const std::string &folder) {
  otherRoot = realPath(folder);
}

/// Returns true if `folder`, which has no links, is below `root`.
static bool isBelow(const std::string &folder, const std::string &root) {
  const fs::path inside = fs::path(folder).lexically_relative(root);
  return !inside.empty() && *inside.begin() != "..";
}

Status SaveFolder::check(const std::string &folder) const {
  if (folder.empty() && !isOpen && !root.empty())
    return Status::failedPrecondition(
        "this server has --checkpoint " + root +
        ", but the trainers, who write checkpoints, have none, and nothing "
        "would be saved; give the flag to all processes, or to none");
  if (folder.empty() || (isOpen && root.empty()))
    return {};
  if (root.empty())
    return Status::failedPrecondition(
        "the trainer writes checkpoints to " + folder +
        ", but this server, in which everybody may take part, was not told "
        "where it may write; start the servers with the same --checkpoint, or "
        "all processes with a --token-file");
  if (realPath(folder) != root)
    return Status::failedPrecondition(
        "the trainer has --checkpoint " + folder +
        ", but the server writes to " + root +
        " only; give all processes the same --checkpoint");
  return {};
}

void SaveFolder::take(const std::string &folder) {
  if (isOpen && root.empty() && !folder.empty())
    root = realPath(folder);
}

Status SaveFolder::allows(const std::string &path) const {
  if (root.empty())
    return Status::failedPrecondition(
        "a request to save names " + path +
        ", but no trainer joined with --checkpoint; start "
        "all trainers with the same --checkpoint");
  const std::string real = realPath(path);
  if (!isBelow(real, root) && (otherRoot.empty() || !isBelow(real, otherRoot)))
    return Status::failedPrecondition(
        "a request to save names " + path + ", but this server writes below " +
        root + (otherRoot.empty() ? "" : " and " + otherRoot) +
        " only: see --checkpoint and "
        "--emergency-checkpoint");
  return {};
}

Status SaveFolder::allowsSave(const std::string &folder) const {
  PDLRT_RETURN_IF_ERROR(allows(folder));
  const fs::path given = folder;
  // A link in an allowed folder may lead to another checkpoint there.
  if (anyName)
    return {};
  if (publishedPathOf(folder).empty() ||
      fs::path(realPath(folder)).filename() != given.filename() ||
      std::ranges::find(given, fs::path("..")) != given.end())
    return Status::failedPrecondition(
        "a request to save names " + folder +
        ", which is not the folder of a checkpoint that is "
        "being written");
  return {};
}
