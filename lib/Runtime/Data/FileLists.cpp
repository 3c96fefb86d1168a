//===- FileLists.cpp - Lists, folders and patterns of files ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileLists.h"

#include "Data/CellSplitter.h"
#include "Data/KafkaAddress.h"
#include "Data/KafkaRows.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>
#include <fstream>
#include <glob.h>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

using namespace pdlrt;

namespace fs = std::filesystem;

/// Returns true if a file of a folder counts as data.
static bool isDataName(std::string_view name) {
  return !name.empty() && !name.starts_with('.') && !name.starts_with('_');
}

static Status noFilesIn(const std::string &folder, const std::string &flag) {
  return Status::notFound(folder + ": has no files for " + flag +
                          " (names that begin with . or _, and folders in "
                          "it, do not count); name another folder");
}

static Status noMatch(const std::string &pattern, const std::string &flag) {
  return Status::notFound(pattern + ": no file matches this pattern of " +
                          flag + "; check its folder and its name");
}

static Expected<std::vector<std::string>> filesIn(const std::string &folder,
                                                  const std::string &flag) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    std::error_code ignored;
    if (isDataName(name) && !entry->is_directory(ignored))
      files.push_back(entry->path());
  }
  if (error)
    return Status::ofErrno(error.value(),
                           folder + ": cannot be read: " + error.message() +
                               "; name a folder that can");
  if (files.empty())
    return noFilesIn(folder, flag);
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

/// Returns the text of a list, which may be in an object store.
static Expected<std::string> listTextOf(const std::string &list) {
  constexpr uint64_t maxBytes = uint64_t(1) << 30;
  if (isInObjectStore(list))
    return readStoredFile(list, maxBytes);
  std::ifstream file(list, std::ios::binary);
  if (!file)
    return Status::notFound(list +
                            ": cannot be read as a list of files; name a "
                            "file that can");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

static Expected<std::vector<std::string>> linesOf(const std::string &list) {
  auto text = listTextOf(list);
  PDLRT_RETURN_IF_ERROR(text.status());
  std::istringstream stream(*std::move(text));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (const std::string_view text = trim(line);
        !text.empty() && !text.starts_with('#'))
      lines.emplace_back(text);
  if (lines.empty())
    return Status::notFound(list + ": lists no files; write one on each line");
  return lines;
}

/// Returns the part of a path up to the last slash.
static std::string_view folderPartOf(std::string_view path) {
  return path.substr(0, path.rfind('/'));
}

/// Returns the last name of a path.
static std::string_view namePartOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Returns the objects that match a pattern, and those of matching folders.
static Expected<std::vector<StoredFileInfo>>
matchesInStore(Store &store, const std::string &pattern) {
  const std::string fixed = pattern.substr(0, pattern.find_first_of("*?["));
  auto all = store.list(std::string(folderPartOf(fixed)), true);
  PDLRT_RETURN_IF_ERROR(all.status());
  // Ordered as the matches of a pattern on this host: first by the match, then
  // by the name in a matching folder.
  std::vector<std::pair<std::string, StoredFileInfo>> matches;
  const auto fits = [&](const std::string &path) {
    return ::fnmatch(pattern.c_str(), path.c_str(),
                     FNM_PATHNAME | FNM_PERIOD) == 0;
  };
  for (StoredFileInfo &file : *all) {
    const std::string folder(folderPartOf(file.path));
    if (fits(file.path))
      matches.emplace_back(file.path, std::move(file));
    else if (isDataName(namePartOf(file.path)) && fits(folder))
      matches.emplace_back(folder, std::move(file));
  }
  std::ranges::sort(matches, {}, [](const auto &match) {
    return std::pair<const std::string &, const std::string &>(
        match.first, match.second.path);
  });
  std::vector<StoredFileInfo> files;
  for (auto &[match, file] : matches)
    files.push_back(std::move(file));
  return files;
}

/// Appends the objects of an entry that is an address of a store.
static Status appendStored(const std::string &entry, const std::string &flag,
                           std::vector<std::string> &files) {
  auto store = storeOf(entry);
  if (!store)
    return Status(store.status()).withContext(flag);
  if (!entry.ends_with('/')) {
    auto object = (*store)->find(entry);
    PDLRT_RETURN_IF_ERROR(object.status());
    if (const auto &known = *object; known.has_value()) {
      pinFile(*known);
      files.push_back(entry);
      return {};
    }
  }
  std::vector<StoredFileInfo> found;
  const bool hasWildcards = entry.find_first_of("*?[") != std::string::npos;
  if (hasWildcards) {
    auto matches = matchesInStore(**store, entry);
    PDLRT_RETURN_IF_ERROR(matches.status());
    found = *std::move(matches);
    if (found.empty())
      return noMatch(entry, flag);
  } else {
    auto listed = (*store)->list(entry, false);
    PDLRT_RETURN_IF_ERROR(listed.status());
    for (StoredFileInfo &file : *listed)
      if (isDataName(namePartOf(file.path)))
        found.push_back(std::move(file));
    if (found.empty() && listed->empty())
      return Status::notFound(entry + ": there is neither an object of that "
                                      "name nor a folder with objects; check "
                                      "the address");
    if (found.empty())
      return noFilesIn(entry, flag);
  }
  for (const StoredFileInfo &file : found) {
    pinFile(file);
    files.push_back(file.path);
  }
  return {};
}

/// Appends the files of an entry that is no list.
static Status appendFiles(const std::string &entry, bool mayBeFar,
                          const std::string &flag,
                          std::vector<std::string> &files) {
  if (isKafkaAddress(entry)) {
    auto partitions = expandKafkaAddress(entry);
    PDLRT_RETURN_IF_ERROR(partitions.status());
    files.insert(files.end(), partitions->begin(), partitions->end());
    return {};
  }
  // A command gets the address and may know it.
  if (!schemeOf(entry).empty() && !mayBeFar)
    return appendStored(entry, flag, files);
  std::error_code ignored;
  std::vector<std::string> matches = {entry};
  if (isPattern(entry)) {
    matches = matchesOf(entry);
    if (matches.empty() && mayBeFar)
      matches = {entry};
    if (matches.empty())
      return noMatch(entry, flag);
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
