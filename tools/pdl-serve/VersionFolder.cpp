//===- VersionFolder.cpp - Contents of a version's folder -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VersionFolder.h"
#include "ServersFile.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>
#include <xxhash.h>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Status;
namespace fs = std::filesystem;

int64_t pdlserve::versionNumber(const std::string &name) {
  const auto number = name.starts_with("0")
                          ? Status::invalidArgument("")
                          : pdlrt::parseWholeNumber(name, 1, INT64_MAX);
  return number ? int64_t(*number) : 0;
}

bool FolderContent::hasSameLibrary(const FolderContent &other) const {
  Stamp its = other.library;
  its.path = library.path;
  return library == its;
}

static Stamp stampOf(const fs::path &path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0)
    return {path.string()};
  return {path.string(),          uint64_t(about.st_dev),
          uint64_t(about.st_ino), uint64_t(about.st_size),
          about.st_mtim.tv_sec,   about.st_mtim.tv_nsec};
}

/// Returns the file whose name ends with `ending`; an empty path if there is
/// none, an error if there are several.
static Expected<fs::path> onlyFile(const fs::path &folder,
                                   std::string_view ending, const char *what) {
  fs::path found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(".") || !name.ends_with(ending))
      continue;
    if (!found.empty())
      return Status::failedPrecondition(
          fmt::format("{} has two of {}, {} and {}; leave one", folder.string(),
                      what, found.filename().string(), name));
    found = at->path();
  }
  if (error)
    return Status::ofErrno(error.value(),
                           folder.string() + ": " + error.message());
  return found;
}

static Expected<fs::path> newestCheckpoint(const fs::path &folder) {
  std::error_code error;
  const fs::directory_iterator readable(folder, error);
  if (error)
    return Status::ofErrno(error.value(),
                           folder.string() + ": " + error.message());
  const std::vector<int64_t> found = pdlrt::listCheckpoints(folder.string());
  if (!found.empty())
    return fs::path(
        pdlrt::CheckpointFolder::nameIn(folder.string(), found.front()));
  if (fs::exists(folder / pdlrt::manifestName, error))
    return Status::invalidArgument(
        folder.string() + " is one checkpoint; name the folder that it is in");
  return Status::notFound(folder.string() + " has no checkpoint yet");
}

Expected<FolderContent> pdlserve::contentOf(const std::string &where) {
  const fs::path folder = where;
  auto library = onlyFile(folder, ".so", "libraries");
  if (!library)
    return std::move(library).status();
  if (library->empty())
    return Status::notFound(folder.string() +
                            " has no library; put one there that pdl-translate "
                            "--emit=library made");
  auto dump = onlyFile(folder, ".safetensors", "dumps");
  if (!dump)
    return std::move(dump).status();
  std::error_code ignored;
  const fs::path checkpoints = folder / "checkpoints",
                 mapped = folder / "export";
  const fs::path servers = folder / serversFileName;
  const bool hasCheckpoints = fs::exists(checkpoints, ignored),
             hasExport = fs::exists(mapped, ignored),
             hasServers = fs::exists(servers, ignored);
  const std::array sources = {
      std::pair(hasCheckpoints, checkpoints), std::pair(hasExport, mapped),
      std::pair(hasServers, servers), std::pair(!dump->empty(), *dump)};
  std::string found;
  for (const auto &[isThere, path] : sources) {
    if (isThere)
      found += (found.empty() ? "" : ", ") + path.filename().string();
    else if (fs::is_symlink(path, ignored))
      return Status::notFound(
          fmt::format("{} is a link to {}, and nothing is there (yet); a link "
                      "is read from the folder that it is in",
                      path.string(), fs::read_symlink(path, ignored).string()));
  }
  if (found.empty())
    return Status::notFound(folder.string() +
                            " needs one of a folder 'checkpoints', a folder "
                            "'export', a dump (*.safetensors) and a file "
                            "'servers.json'");
  if (std::ranges::count(sources, true, &decltype(sources)::value_type::first) >
      1)
    return Status::failedPrecondition(
        fmt::format("{} has several of which there may be "
                    "one: {}; leave one",
                    folder.string(), found));
  FolderContent content;
  content.library = stampOf(*library);
  if (hasServers) {
    content.values = stampOf(servers);
  } else if (hasExport) {
    content.values = stampOf(mapped);
  } else if (!hasCheckpoints) {
    content.values = stampOf(*dump);
  } else {
    auto newest = newestCheckpoint(checkpoints);
    if (!newest)
      return std::move(newest).status();
    content.values = stampOf(*newest);
    content.checkpoints = checkpoints.string();
  }
  return content;
}

/// Maximum number of files that are examined.
static constexpr size_t maxFiles = 100000;

uint64_t pdlserve::digestOfNames(const std::string &folder) {
  std::vector<std::string> lines;
  std::error_code error, ignored;
  const auto options = fs::directory_options::follow_directory_symlink |
                       fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options, error), end;
       !error && at != end && lines.size() < maxFiles; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(".") || name.find(".tmp") != std::string::npos) {
      at.disable_recursion_pending();
      continue;
    }
    const Stamp stamp = stampOf(at->path());
    lines.push_back(fmt::format("{}:{}:{}:{}:{}", stamp.path, stamp.number,
                                stamp.size, stamp.seconds, stamp.nanoseconds));
  }
  std::ranges::sort(lines);
  uint64_t digest = 0;
  for (const std::string &line : lines)
    digest = XXH3_64bits_withSeed(line.data(), line.size(), digest);
  return digest;
}
