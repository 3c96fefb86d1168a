//===- ModelCache.cpp - Copies of models in an object store ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelCache.h"
#include "VersionFolder.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Files/OutputFiles.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <system_error>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::MutexLock;
using pdlrt::Status;
using pdlrt::StoredFileInfo;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The folder of a complete version.
struct ModelCache::Copied {
  std::string folder;
  CopiedFiles files;
};

/// State of a version in the store.
struct ModelCache::Watched {
  /// Contents (`StoredVersion::content`) that are being downloaded, that the
  /// folder of models shows, and that could not be copied.
  std::string running, copied, failed;
  std::string problem;
  int failures = 0;
  Clock::time_point nextAttempt;
  bool isRunning = false;
  Status result;
  std::atomic<bool> isDone{false};
  /// Declared last: its end is awaited before the other members are destroyed.
  std::jthread thread;
};

/// Maximum number of downloads at a time. Each needs up to 32 MiB of memory.
static constexpr int maxDownloads = 8;
/// Pauses after downloads that failed: they double up to the second value.
static constexpr auto firstPause = std::chrono::milliseconds(500);
static constexpr auto maxPause = std::chrono::milliseconds(60000);

ModelCache::ModelCache(std::string address,
                       std::unique_ptr<pdlrt::FileCache> cache)
    : address(std::move(address)), files(std::move(cache)),
      modelFolder(files->folder() + "/models"),
      versionFolder(files->folder() + "/versions") {}

ModelCache::~ModelCache() { (void)stop(); }

Expected<std::unique_ptr<ModelCache>>
ModelCache::open(const std::string &address, const std::string &folder,
                 uint64_t maxBytes) {
  PDLRT_RETURN_IF_ERROR(pdlrt::storeOf(address).status());
  auto files = pdlrt::FileCache::open(folder, maxBytes);
  PDLRT_RETURN_IF_ERROR(files.status());
  std::unique_ptr<ModelCache> cache(
      new ModelCache(pdlrt::withoutSlashes(address), *std::move(files)));
  // They are only links, and are made anew.
  for (const std::string &links : {cache->modelFolder, cache->versionFolder}) {
    std::error_code error;
    fs::remove_all(links, error);
    fs::create_directories(links, error);
    if (error)
      return Status::ofErrno(error.value(),
                             links + ": cannot be made: " + error.message() +
                                 "; check --model-cache");
  }
  return cache;
}

void ModelCache::start(std::chrono::milliseconds interval,
                       std::function<void()> wakeOthers) {
  wake = std::move(wakeOthers);
  hasStopped = false;
  thread = std::thread([this, interval] { watch(interval); });
}

bool ModelCache::stop() {
  isStopping = true;
  if (!thread.joinable())
    return hasStopped;
  {
    MutexLock lock(mutex);
    changed.notify_all();
    changed.wait_for(lock, std::chrono::seconds(1),
                     [this] { return hasStopped.load(); });
  }
  // A thread that was detached may stop at once, and must not be destroyed.
  const bool isOver = hasStopped;
  isOver ? thread.join() : thread.detach();
  return isOver;
}

void ModelCache::watch(std::chrono::milliseconds interval) {
  while (!isStopping) {
    try {
      look();
    } catch (const std::exception &error) {
      pdlrt::logWarningOnce(address +
                            ": cannot be looked at for now: " + error.what());
    }
    MutexLock lock(mutex);
    if (!isStopping)
      changed.wait_for(lock, interval);
  }
  // Waits for the downloads.
  all.clear();
  const MutexLock lock(mutex);
  hasStopped = true;
  changed.notify_all();
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

void ModelCache::passOver(const std::string &name, const std::string &why) {
  if (passedOver.insert(name).second)
    pdlrt::logInfo(fmt::format("{}/{} is passed over: {}", address, name, why));
}

void ModelCache::look() {
  auto store = pdlrt::storeOf(address);
  auto found = store ? (*store)->list(address, true)
                     : Expected<std::vector<StoredFileInfo>>(store.status());
  if (!found) {
    const MutexLock lock(mutex);
    if (problemOfList.empty())
      pdlrt::logWarning(found.status().message() +
                        "; the models stay as they are");
    problemOfList = found.status().message();
    return;
  }
  const std::string itself = fs::path(address).filename();
  std::map<Key, StoredVersion> versions;
  for (StoredFileInfo &info : *found) {
    const std::string name = info.path.substr(address.size() + 1);
    const std::vector<std::string_view> parts = partsOfName(name);
    if (parts.empty())
      continue;
    // The address may be the folder of one model.
    const bool isModel =
        parts.size() > 1 && versionNumber(std::string(parts[0])) > 0 &&
        (parts.size() == 2 || versionNumber(std::string(parts[1])) == 0);
    const size_t at = isModel ? 0 : 1;
    const std::string model = isModel ? itself : std::string(parts[0]);
    const int64_t number =
        at < parts.size() ? versionNumber(std::string(parts[at])) : 0;
    if (model.find('@') != std::string::npos || parts.size() == at) {
      passOver(std::string(parts[0]),
               "models are folders, without @ in their names");
      continue;
    }
    if (number == 0 || parts.size() < at + 2) {
      passOver(fmt::format("{}", fmt::join(parts.begin(),
                                           parts.begin() + long(at) + 1, "/")),
               "versions are folders, named by whole numbers from 1 on");
      continue;
    }
    const size_t begin = size_t(parts[at + 1].data() - name.data());
    StoredVersion &version = versions[{model, number}];
    version.address = address + "/" + name.substr(0, begin - 1);
    version.files.emplace(name.substr(begin), std::move(info));
  }
  std::vector<Key> gone;
  for (const auto &[key, watched] : all)
    if (!versions.contains(key) && (!watched->isRunning || watched->isDone))
      gone.push_back(key);
  for (const Key &key : gone)
    remove(key);
  std::map<Key, std::string> problems;
  for (const auto &[key, stored] : versions) {
    std::unique_ptr<Watched> &watched = all[key];
    if (!watched)
      watched = std::make_unique<Watched>();
    lookAt(key, stored, *watched);
    problems[key] = watched->problem;
  }
  {
    const MutexLock lock(mutex);
    listed = std::move(problems);
    problemOfList.clear();
  }
  wake();
}

void ModelCache::remove(const Key &key) {
  all.erase(key);
  std::error_code ignored;
  fs::remove(fs::path(modelFolder) / key.first / std::to_string(key.second),
             ignored);
  const MutexLock lock(mutex);
  const auto found = shown.find(key);
  if (found == shown.end())
    return;
  older.push_back(std::move(found->second));
  shown.erase(found);
}

//===----------------------------------------------------------------------===//
// Downloads
//===----------------------------------------------------------------------===//

void ModelCache::lookAt(const Key &key, const StoredVersion &stored,
                        Watched &watched) {
  if (watched.isRunning) {
    if (!watched.isDone)
      return;
    watched.thread.join();
    watched.isRunning = false;
    if (watched.result.ok()) {
      watched.copied = watched.running;
      watched.failures = 0;
      watched.problem.clear();
    } else {
      watched.failed = watched.running;
      watched.problem = watched.result.message();
      watched.nextAttempt =
          Clock::now() +
          std::min<std::chrono::milliseconds>(
              maxPause, firstPause * (1 << std::min(7, watched.failures)));
      ++watched.failures;
    }
  }
  const std::string content = stored.content();
  if (content == watched.copied) {
    watched.problem.clear();
    return;
  }
  if (content == watched.failed && Clock::now() < watched.nextAttempt)
    return;
  if (content != watched.failed)
    watched.failures = 0;
  const auto running = std::ranges::count_if(all, [](const auto &each) {
    return each.second && each.second->isRunning;
  });
  if (running >= maxDownloads)
    return;
  watched.isDone = false;
  watched.running = content;
  watched.thread = std::jthread([this, key, stored, &watched] {
    try {
      watched.result = copy(key, stored);
    } catch (const std::bad_alloc &) {
      watched.result = Status::outOfMemory("there is no memory for it");
    } catch (const std::exception &error) {
      watched.result = Status::internal(error.what());
    }
    watched.isDone = true;
    changed.notify_all();
  });
  // Only now, because a thread that cannot start is tried again.
  watched.isRunning = true;
}

Status ModelCache::copy(const Key &key, const StoredVersion &stored) {
  const auto newFolder = [&] {
    return fmt::format("{}/{}-{}-{}", versionFolder, key.first, key.second,
                       ++folders);
  };
  const std::vector<std::string> checkpoints = stored.checkpoints();
  std::string folder = newFolder();
  auto copied =
      copyVersion(stored, checkpoints.empty() ? "" : checkpoints.front(),
                  folder, *files, isStopping);
  if (copied)
    return show(key, *std::move(copied), folder);
  const Status failure = copied.status();
  // An older checkpoint is better than none.
  if (!isShown(key) && failure.code() == PDL_DATA_LOSS &&
      checkpoints.size() > 1) {
    folder = newFolder();
    copied = copyVersion(stored, checkpoints[1], folder, *files, isStopping);
    if (copied)
      PDLRT_RETURN_IF_ERROR(show(key, *std::move(copied), folder));
  }
  return failure;
}

bool ModelCache::isShown(const Key &key) const {
  const MutexLock lock(mutex);
  return shown.contains(key);
}

Status ModelCache::show(const Key &key, CopiedFiles copies,
                        const std::string &folder) {
  const fs::path link =
      fs::path(modelFolder) / key.first / std::to_string(key.second);
  const fs::path next = link.parent_path() / ("." + link.filename().string());
  std::error_code error;
  fs::create_directories(link.parent_path(), error);
  fs::remove(next, error);
  fs::create_symlink(folder, next, error);
  if (!error)
    fs::rename(next, link, error);
  if (error)
    return Status::ofErrno(
        error.value(), link.string() + ": cannot be made: " + error.message() +
                           "; check --model-cache");
  const MutexLock lock(mutex);
  if (const auto before = shown.find(key); before != shown.end()) {
    older.push_back(std::move(before->second));
    shown.erase(before);
  }
  shown.emplace(key, Copied{folder, std::move(copies)});
  return {};
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

std::optional<std::map<ModelCache::Key, std::string>>
ModelCache::versions() const {
  const MutexLock lock(mutex);
  return listed;
}

std::string ModelCache::listProblem() const {
  const MutexLock lock(mutex);
  return problemOfList;
}

void ModelCache::releaseAllBut(const std::set<std::string> &used) {
  std::vector<Copied> unused;
  {
    const MutexLock lock(mutex);
    const auto rest = std::ranges::partition(
        older, [&](const Copied &each) { return used.contains(each.folder); });
    std::ranges::move(rest, std::back_inserter(unused));
    older.erase(rest.begin(), rest.end());
  }
  for (const Copied &each : unused) {
    std::error_code ignored;
    fs::remove_all(each.folder, ignored);
  }
}
