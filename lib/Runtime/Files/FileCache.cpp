//===- FileCache.cpp - Copies of stored files on this host ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/FileCache.h"

#include "Files/FileFailure.h"
#include "Files/RunningDigest.h"
#include "Files/StoredStream.h"
#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/WholeNumber.h"
#include "pdlrt/Files/FileBytes.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <new>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <xxhash.h>

using namespace pdlrt;
namespace fs = std::filesystem;

/// A copy, or one that is being downloaded.
struct pdlrt::CacheEntry {
  /// Empty: the download has not ended.
  std::string path;
  uint64_t bytes = 0, hash = 0;
  /// True if this process has downloaded the copy, or compared it with its
  /// checksum.
  bool isVerified = false;
  /// True while a thread downloads or verifies the copy.
  bool isBusy = false;
  bool isDiscarded = false;
  /// Number of objects that refer to the copy.
  size_t users = 0;
  /// Order of the last uses.
  uint64_t lastUse = 0;

  bool isIdle() const { return users == 0 && !isBusy; }
};

using CacheEntries = std::map<std::string, CacheEntry, std::less<>>;

/// The state of a cache, which its copies share.
struct pdlrt::CacheState {
  std::string folder;
  uint64_t maxBytes = 0;
  LockFile lock;
  mutable Mutex mutex;
  ConditionVariable changed;
  CacheEntries entries PDLRT_GUARDED_BY(mutex);
  uint64_t usedBytes PDLRT_GUARDED_BY(mutex) = 0;
  uint64_t uses PDLRT_GUARDED_BY(mutex) = 0;

  void remove(CacheEntries::iterator entry) PDLRT_REQUIRES(mutex);
  /// Removes idle copies until `bytes` more fit.
  Status makeRoom(uint64_t bytes, const std::string &name)
      PDLRT_REQUIRES(mutex);
  void release(CacheEntry &entry) PDLRT_REQUIRES(mutex);
};

void CacheState::remove(CacheEntries::iterator entry) {
  if (!entry->second.path.empty())
    ::unlink(entry->second.path.c_str());
  usedBytes -= entry->second.bytes;
  entries.erase(entry);
}

Status CacheState::makeRoom(uint64_t bytes, const std::string &name) {
  std::vector<CacheEntries::iterator> idle;
  uint64_t idleBytes = 0;
  for (auto entry = entries.begin(); entry != entries.end(); ++entry)
    if (entry->second.isIdle()) {
      idle.push_back(entry);
      idleBytes += entry->second.bytes;
    }
  const uint64_t inUse = usedBytes - idleBytes;
  // Checked first, so that nothing is removed in vain.
  if (bytes > maxBytes || inUse > maxBytes - bytes)
    return Status::resourceExhausted(fmt::format(
        "{}: has {} bytes, and the cache {} has room for {}, of which {} are "
        "in use; make the cache larger",
        name, bytes, folder, maxBytes, inUse));
  std::ranges::sort(idle, {},
                    [](const auto &entry) { return entry->second.lastUse; });
  for (auto next = idle.begin(); usedBytes > maxBytes - bytes; ++next)
    remove(*next);
  return {};
}

void CacheState::release(CacheEntry &entry) {
  --entry.users;
  if (!entry.isDiscarded || !entry.isIdle())
    return;
  const auto found = std::ranges::find_if(
      entries, [&](const auto &each) { return &each.second == &entry; });
  remove(found);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

CachedCopy::CachedCopy(std::shared_ptr<CacheState> state, CacheEntry &entry)
    : state(std::move(state)), entry(entry) {}

CachedCopy::~CachedCopy() {
  const MutexLock lock(state->mutex);
  state->release(entry);
}

const std::string &CachedCopy::path() const { return entry.path; }

void CachedCopy::discard() const {
  const MutexLock lock(state->mutex);
  entry.isDiscarded = true;
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// Length of the part of a name that identifies the stored file.
static constexpr size_t keyLength = 32;
static constexpr size_t hashLength = 16;

static std::string keyOf(const StoredFileInfo &file) {
  const std::string text =
      fmt::format("{}\n{}\n{}", file.path, file.version, file.bytes);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// End of the names of incomplete copies.
static constexpr std::string_view partSuffix = ".part";

/// Returns true if `name` begins with a key of a stored file.
static bool hasKey(std::string_view name) {
  return name.size() >= keyLength &&
         name.find_first_not_of("0123456789abcdef") >= keyLength;
}

/// Takes over the copies that earlier processes have left. Removes incomplete
/// copies, and leaves other files alone.
static void readCopies(CacheState &state, const std::string &folder)
    PDLRT_REQUIRES(state.mutex) {
  struct Found {
    std::string name;
    CacheEntry entry;
    int64_t seconds, nanoseconds;
  };
  std::vector<Found> all;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    struct stat about = {};
    if (!hasKey(name) || ::lstat(at->path().c_str(), &about) != 0 ||
        !S_ISREG(about.st_mode))
      continue;
    if (std::string_view(name).substr(keyLength) == partSuffix) {
      ::unlink(at->path().c_str());
      continue;
    }
    CacheEntry entry;
    const char *const last = name.data() + name.size();
    if (name.size() != keyLength + 1 + hashLength || name[keyLength] != '-' ||
        std::from_chars(name.data() + keyLength + 1, last, entry.hash, 16)
                .ptr != last)
      continue;
    entry.path = at->path();
    entry.bytes = uint64_t(about.st_size);
    all.push_back({name.substr(0, keyLength), entry, about.st_atim.tv_sec,
                   about.st_atim.tv_nsec});
  }
  std::ranges::sort(all, {}, [](const Found &found) {
    return std::pair(found.seconds, found.nanoseconds);
  });
  for (Found &found : all) {
    found.entry.lastUse = ++state.uses;
    if (const auto [entry, isNew] =
            state.entries.emplace(found.name, found.entry);
        isNew)
      state.usedBytes += entry->second.bytes;
    else
      ::unlink(found.entry.path.c_str());
  }
}

/// Names of the file that marks a folder as a cache, and of the lock file,
/// which exists while a process uses the cache.
static constexpr const char *markName = "/.pdl-cache",
                            *lockName = "/.pdl-cache.lock";

/// Returns an error if the folder has files and is no cache. Files of users
/// must not be taken for copies.
static Status checkIsCache(const std::string &folder) {
  std::error_code ignored;
  const fs::directory_iterator first(folder, ignored);
  if (ignored || first == fs::directory_iterator() ||
      fs::exists(folder + markName, ignored))
    return {};
  return Status::failedPrecondition(
      folder + ": has files that are not those of a cache; name a new folder, "
               "an empty one, or that of an earlier cache");
}

Expected<std::unique_ptr<FileCache>> FileCache::open(const std::string &given,
                                                     uint64_t maxBytes) {
  std::error_code error;
  PDLRT_RETURN_IF_ERROR(checkIsCache(given));
  fs::create_directories(given, error);
  // Users compare paths of copies with canonical paths.
  const std::string folder =
      error ? std::string() : fs::canonical(given, error).string();
  if (error)
    return fileFailure(given, "the cache cannot be made", error.value());
  const std::string files = folder + "/files";
  const int mark =
      ::open((folder + markName).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (mark < 0)
    return fileFailure(folder, "the cache cannot be made", errno);
  ::close(mark);
  auto state = std::make_shared<CacheState>();
  state->folder = folder;
  state->maxBytes = maxBytes;
  int reason = 0;
  state->lock = LockFile::take(folder + lockName, reason);
  if (reason == EWOULDBLOCK)
    return Status::failedPrecondition(
        folder + ": another process uses this cache; name another folder");
  if (!state->lock)
    return fileFailure(folder, "the cache cannot be used", reason);
  fs::create_directory(files, error);
  if (error)
    return fileFailure(folder, "the cache cannot be made", error.value());
  {
    const MutexLock lock(state->mutex);
    readCopies(*state, files);
    PDLRT_RETURN_IF_ERROR(state->makeRoom(0, folder));
  }
  return std::unique_ptr<FileCache>(new FileCache(folder, std::move(state)));
}

uint64_t FileCache::usedBytes() const {
  const MutexLock lock(state->mutex);
  return state->usedBytes;
}

//===----------------------------------------------------------------------===//
// Downloads
//===----------------------------------------------------------------------===//

/// Size of the pieces that are read and written.
static constexpr size_t pieceBytes = size_t(1) << 20;

namespace {
/// A file that is being written. The destructor removes it unless it was
/// renamed.
struct PartialCopy {
  explicit PartialCopy(std::string path)
      : path(std::move(path)),
        file(::open(this->path.c_str(),
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {}
  PartialCopy(const PartialCopy &) = delete;
  PartialCopy &operator=(const PartialCopy &) = delete;
  ~PartialCopy() {
    if (file >= 0)
      ::close(file);
    ::unlink(path.c_str());
  }
  Status write(const char *bytes, size_t count) const {
    while (count > 0) {
      const ssize_t written = ::write(file, bytes, count);
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return fileFailure(path, "cannot be written", errno);
      bytes += written;
      count -= size_t(written);
    }
    return {};
  }
  const std::string path;
  const int file;
};
} // namespace

/// Downloads a file. Sets `path` to `target` with the checksum of the content,
/// and `hash` to that checksum.
static Status download(const StoredFileInfo &file, const std::string &target,
                       const std::atomic<bool> *cancel, std::string &path,
                       uint64_t &hash) {
  auto store = storeOf(file.path);
  PDLRT_RETURN_IF_ERROR(store.status());
  auto opened = (*store)->open(file.path, &file);
  PDLRT_RETURN_IF_ERROR(opened.status());
  const PartialCopy part(fmt::format("{}{}", target, partSuffix));
  if (part.file < 0)
    return fileFailure(part.path, "cannot be created", errno);
  StoredStream stream(*std::move(opened));
  RunningDigest digest;
  std::vector<char> piece(pieceBytes);
  while (true) {
    if (cancel && cancel->load())
      return Status::cancelled(file.path + ": is no longer needed");
    const Expected<size_t> count = stream.read(piece.data(), piece.size());
    PDLRT_RETURN_IF_ERROR(count.status());
    if (*count == 0)
      break;
    digest.add(piece.data(), *count);
    PDLRT_RETURN_IF_ERROR(part.write(piece.data(), *count));
  }
  if (digest.size() != file.bytes)
    return Status::dataLoss(
        fmt::format("{}: {} of its {} bytes came; it is requested again later",
                    file.path, digest.size(), file.bytes));
  hash = digest.digest().hash;
  path = fmt::format("{}-{:016x}", target, hash);
  return ::rename(part.path.c_str(), path.c_str()) == 0
             ? Status()
             : fileFailure(path, "cannot be written", errno);
}

/// Returns the digest of a file of this host.
static Expected<FileDigest> digestOfCopy(const std::string &path,
                                         const std::atomic<bool> *cancel) {
  auto file = FileBytes::open(path, "remove it");
  PDLRT_RETURN_IF_ERROR(file.status());
  RunningDigest digest;
  std::vector<char> piece(pieceBytes);
  for (uint64_t begin = 0; begin < file->size(); begin += piece.size()) {
    if (cancel && cancel->load())
      return Status::cancelled(path + ": is no longer needed");
    const auto count =
        size_t(std::min<uint64_t>(piece.size(), file->size() - begin));
    PDLRT_RETURN_IF_ERROR(file->readAt(begin, count, piece.data()));
    digest.add(piece.data(), count);
  }
  return digest.digest();
}

namespace {
/// A copy on the disk, and the checksum of its content.
struct CopyOnDisk {
  /// Empty: there is none.
  std::string path;
  uint64_t hash = 0;
};
} // namespace

/// Verifies a copy of an earlier process. Downloads the file to `target` if
/// there is no copy or if it is damaged. Sets `copy` to the result.
static Status verifyOrDownload(const StoredFileInfo &file,
                               const std::string &target,
                               const std::atomic<bool> *cancel,
                               CopyOnDisk &copy) try {
  if (!copy.path.empty()) {
    const Expected<FileDigest> digest = digestOfCopy(copy.path, cancel);
    if (digest && *digest == FileDigest{file.bytes, copy.hash})
      return {};
    if (!digest && digest.status().code() == PDL_CANCELLED)
      return digest.status();
    logWarning(copy.path + ": the copy of " + file.path +
               " is damaged, and is downloaded again");
    ::unlink(copy.path.c_str());
    copy.path.clear();
  }
  return download(file, target, cancel, copy.path, copy.hash);
} catch (const std::bad_alloc &) {
  // Threads that wait for the copy must not wait forever.
  return Status::resourceExhausted("not enough memory to download a file");
}

Expected<std::shared_ptr<const CachedCopy>>
FileCache::fetch(const StoredFileInfo &file,
                 const std::optional<FileDigest> &expected,
                 const std::atomic<bool> *cancel) {
  constexpr std::chrono::milliseconds betweenChecks(100);
  const std::string key = keyOf(file);
  const std::string target = state->folder + "/files/" + key;
  MutexLock lock(state->mutex);
  auto found = state->entries.find(key);
  while (found != state->entries.end() && found->second.isBusy) {
    if (cancel && cancel->load())
      return Status::cancelled(file.path + ": is no longer needed");
    state->changed.wait_for(lock, betweenChecks);
    found = state->entries.find(key);
  }
  // A copy of another length is damaged. Its file counts with its own length.
  if (found != state->entries.end() && found->second.isIdle() &&
      found->second.bytes != file.bytes) {
    logWarning(found->second.path + ": the copy of " + file.path +
               " is damaged, and is downloaded again");
    state->remove(found);
    found = state->entries.end();
  }
  if (found == state->entries.end()) {
    PDLRT_RETURN_IF_ERROR(state->makeRoom(file.bytes, file.path));
    found = state->entries.try_emplace(key).first;
    found->second.bytes = file.bytes;
    state->usedBytes += file.bytes;
  }
  // Nodes of a map keep their addresses, and busy entries are not removed.
  CacheEntry &entry = found->second;
  Status status;
  if (!entry.isVerified) {
    CopyOnDisk copy{entry.path, entry.hash};
    entry.isBusy = true;
    lock.unlock();
    status = verifyOrDownload(file, target, cancel, copy);
    lock.lock();
    entry.isBusy = false;
    entry.path = std::move(copy.path);
    entry.hash = copy.hash;
    entry.isVerified = status.ok();
    state->changed.notify_all();
  }
  if (status.ok() && expected &&
      *expected != FileDigest{file.bytes, entry.hash}) {
    status = Status::dataLoss(
        file.path + ": is not what its manifest says: it is damaged, or being "
                    "replaced; write it again");
    // Other users may have the copy. It is removed after the last of them.
    entry.isDiscarded = true;
  }
  if (!status.ok()) {
    if (entry.isIdle() && status.code() != PDL_CANCELLED)
      state->remove(found);
    else if (entry.isIdle() && entry.path.empty())
      state->remove(found);
    return status;
  }
  ++entry.users;
  entry.lastUse = ++state->uses;
  // For the order of uses in the next process. Only the time of the access:
  // readers notice a changed file by the time of its last change.
  const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  (void)::utimensat(AT_FDCWD, entry.path.c_str(), times, 0);
  lock.unlock();
  return std::make_shared<const CachedCopy>(state, entry);
}

//===----------------------------------------------------------------------===//
// The cache of the process
//===----------------------------------------------------------------------===//

static Expected<FileCache *> openProcessCache() {
  const char *const folder = std::getenv("PDL_STORE_CACHE");
  const char *const limit = std::getenv("PDL_STORE_CACHE_BYTES");
  if (!folder || !*folder || !limit)
    return Status::failedPrecondition(
        "set PDL_STORE_CACHE to a folder of this host and "
        "PDL_STORE_CACHE_BYTES to its largest size: files that are mapped are "
        "downloaded first");
  const Expected<uint64_t> bytes = parseWholeNumber(limit, 1, UINT64_MAX);
  if (!bytes)
    return Status(bytes.status()).withContext("PDL_STORE_CACHE_BYTES");
  auto cache = FileCache::open(folder, *bytes);
  if (!cache)
    return Status(cache.status()).withContext("PDL_STORE_CACHE");
  return cache->release();
}

Expected<FileCache *> pdlrt::processFileCache() {
  static const Expected<FileCache *> cache = openProcessCache();
  return cache;
}
