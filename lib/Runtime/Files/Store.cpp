//===- Store.cpp - The registry of stores ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/Store.h"

#include "Files/S3/S3Store.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Files/OutputFiles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <utility>

using namespace pdlrt;

StoredFile::~StoredFile() = default;
StoreWriter::~StoreWriter() = default;
Store::~Store() = default;

namespace {

/// A store other than this host's folders.
struct StoreKind {
  std::string_view scheme;
  /// Returns the store, which lives as long as the program.
  Expected<Store *> (*store)();
};

} // namespace

static constexpr std::array<StoreKind, 1> storeKinds = {{{"s3", s3Store}}};

std::string_view pdlrt::schemeOf(std::string_view address) {
  const size_t end = address.find("://");
  if (end == std::string_view::npos || end == 0)
    return {};
  const std::string_view scheme = address.substr(0, end);
  const bool isScheme = std::ranges::all_of(scheme, [](unsigned char c) {
    return std::isalnum(c) || c == '+' || c == '-' || c == '.';
  });
  return isScheme ? scheme : std::string_view();
}

bool pdlrt::isInObjectStore(std::string_view address) {
  const std::string_view scheme = schemeOf(address);
  return std::ranges::any_of(
      storeKinds, [&](const StoreKind &kind) { return kind.scheme == scheme; });
}

Expected<Store *> pdlrt::storeOf(const std::string &address) {
  const std::string_view scheme = schemeOf(address);
  if (scheme.empty())
    return &localStore();
  std::string known;
  for (const StoreKind &kind : storeKinds) {
    if (kind.scheme == scheme)
      return kind.store();
    known += (known.empty() ? "" : ", ") + std::string(kind.scheme) + "://";
  }
  return Status::invalidArgument(
      address + ": no store has addresses of the scheme " +
      std::string(scheme) + "; name a path, or an address of " + known);
}

std::string pdlrt::absolutePlace(const std::string &path) {
  std::error_code error;
  return isInObjectStore(path)
             ? withoutSlashes(path)
             : std::filesystem::absolute(path, error).string();
}

Expected<bool> pdlrt::isStored(const std::string &path) {
  auto store = storeOf(path);
  PDLRT_RETURN_IF_ERROR(store.status());
  auto found = (*store)->find(path);
  PDLRT_RETURN_IF_ERROR(found.status());
  return found->has_value();
}

Status pdlrt::removeStoredFolder(const std::string &folder) {
  auto store = storeOf(folder);
  PDLRT_RETURN_IF_ERROR(store.status());
  auto files = (*store)->list(folder, true);
  PDLRT_RETURN_IF_ERROR(files.status());
  for (const StoredFileInfo &file : *files)
    PDLRT_RETURN_IF_ERROR((*store)->remove(file.path));
  return {};
}

Expected<std::string> pdlrt::readStoredFile(const std::string &path,
                                            uint64_t maxBytes) {
  auto store = storeOf(path);
  PDLRT_RETURN_IF_ERROR(store.status());
  auto file = (*store)->open(path);
  PDLRT_RETURN_IF_ERROR(file.status());
  const uint64_t bytes = (*file)->info().bytes;
  if (bytes > maxBytes)
    return Status::invalidArgument(
        path + ": has " + std::to_string(bytes) + " bytes, more than the " +
        std::to_string(maxBytes) + " that such a file may have");
  std::string text(bytes, '\0');
  PDLRT_RETURN_IF_ERROR((*file)->readAt(0, text.size(), text.data()));
  return text;
}

namespace {

/// Versions of the files that this program reads.
struct PinnedFiles {
  Mutex mutex;
  std::map<std::string, StoredFileInfo, std::less<>>
      files PDLRT_GUARDED_BY(mutex);
};

} // namespace

static PinnedFiles &pinnedFiles() {
  static auto *files = new PinnedFiles;
  return *files;
}

void pdlrt::pinFile(const StoredFileInfo &info) {
  PinnedFiles &pinned = pinnedFiles();
  const MutexLock lock(pinned.mutex);
  pinned.files.try_emplace(info.path, info);
}

Expected<StoredFileInfo> pdlrt::pinnedInfo(const std::string &path) {
  PinnedFiles &pinned = pinnedFiles();
  {
    const MutexLock lock(pinned.mutex);
    if (const auto found = pinned.files.find(path); found != pinned.files.end())
      return found->second;
  }
  auto store = storeOf(path);
  PDLRT_RETURN_IF_ERROR(store.status());
  auto found = (*store)->find(path);
  PDLRT_RETURN_IF_ERROR(found.status());
  const std::optional<StoredFileInfo> &info = *found;
  if (!info)
    return Status::notFound(path +
                            ": there is no such object; check the address");
  const MutexLock lock(pinned.mutex);
  return pinned.files.try_emplace(path, *info).first->second;
}

Expected<std::shared_ptr<const StoredFile>>
pdlrt::openPinned(const std::string &path) {
  auto info = pinnedInfo(path);
  PDLRT_RETURN_IF_ERROR(info.status());
  auto store = storeOf(path);
  PDLRT_RETURN_IF_ERROR(store.status());
  return (*store)->open(path, &*info);
}
