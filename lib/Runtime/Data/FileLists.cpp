//===- FileLists.cpp - Lists, folders and patterns of files ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileLists.h"

#include "Data/CellSplitter.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <glob.h>
#include <system_error>

using namespace pdlrt;

namespace fs = std::filesystem;

static Expected<std::vector<std::string>> filesIn(const std::string &folder,
                                                  const std::string &flag) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    std::error_code ignored;
    if (!name.starts_with('.') && !name.starts_with('_') &&
        !entry->is_directory(ignored))
      files.push_back(entry->path());
  }
  if (error)
    return Status::ofErrno(error.value(),
                           folder + ": cannot be read: " + error.message() +
                               "; name a folder that can");
  if (files.empty())
    return Status::notFound(folder + ": has no files for " + flag +
                            " (names that begin with . or _, and folders in "
                            "it, do not count); name another folder");
  std::ranges::sort(files);
  return files;
}

static bool isPattern(const std::string &entry) {
  std::error_code ignored;
  return entry.find_first_of("*?[") != std::string::npos &&
         !fs::exists(entry, ignored);
}

static std::vector<std::string> matchesOf(const std::string &pattern) {
  glob_t found = {};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::ranges::sort(files);
  return files;
}

static Expected<std::vector<std::string>> linesOf(const std::string &list) {
  std::ifstream stream(list, std::ios::binary);
  if (!stream)
    return Status::notFound(list +
                            ": cannot be read as a list of files; name a "
                            "file that can");
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (const std::string_view text = trim(line);
        !text.empty() && !text.starts_with('#'))
      lines.emplace_back(text);
  if (lines.empty())
    return Status::notFound(list + ": lists no files; write one on each line");
  return lines;
}

/// Appends the files of an entry that is no list.
static Status appendFiles(const std::string &entry, bool mayBeFar,
                          const std::string &flag,
                          std::vector<std::string> &files) {
  std::error_code ignored;
  std::vector<std::string> matches = {entry};
  if (isPattern(entry)) {
    matches = matchesOf(entry);
    if (matches.empty() && mayBeFar)
      matches = {entry};
    if (matches.empty())
      return Status::notFound(entry + ": no file matches this pattern of " +
                              flag + "; check its folder and its name");
  }
  for (const std::string &match : matches) {
    if (!fs::is_directory(match, ignored)) {
      files.push_back(match);
      continue;
    }
    auto found = filesIn(match, flag);
    PDLRT_RETURN_IF_ERROR(found.status());
    files.insert(files.end(), found->begin(), found->end());
  }
  return {};
}

Expected<std::vector<std::string>>
pdlrt::expandFileLists(const std::vector<std::string> &entries, bool mayBeFar,
                       const std::string &flag) {
  std::vector<std::string> files;
  for (const std::string &entry : entries) {
    if (!entry.starts_with('@')) {
      PDLRT_RETURN_IF_ERROR(appendFiles(entry, mayBeFar, flag, files));
      continue;
    }
    const std::string list = entry.substr(1);
    auto lines = linesOf(list);
    PDLRT_RETURN_IF_ERROR(lines.status());
    for (const std::string &line : *lines)
      PDLRT_RETURN_IF_ERROR(
          appendFiles(line, mayBeFar, flag, files).withContext(list));
  }
  return files;
}
