//===- ModelCache.h - Copies of models in an object store -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies models from an object store to a folder of models on this host, which
// a Repository serves. Each version is downloaded on its own, and appears in
// the folder when it is complete:
//
//   FOLDER/files/                   the files of all versions (FileCache.h)
//   FOLDER/versions/MODEL-VERSION-N/  hard links to the files of one version
//   FOLDER/models/MODEL/VERSION     link to the complete folder of a version
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_MODELCACHE_H
#define PDL_TOOLS_PDL_SERVE_MODELCACHE_H

#include "StoredVersion.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Files/FileCache.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pdlserve {

/// Keeps copies of the versions in a store. One thread lists the store, and
/// each download has a thread of its own. Public functions are thread-safe,
/// except `start` and `stop`.
class ModelCache {
public:
  using Key = std::pair<std::string, int64_t>;

  /// Opens the cache in `folder` for the models at `address`: a folder of
  /// models, or the folder of one model. Returns an error if the folder or the
  /// settings of the store cannot be used. Sends no request.
  static pdlrt::Expected<std::unique_ptr<ModelCache>>
  open(const std::string &address, const std::string &folder,
       uint64_t maxBytes);
  ~ModelCache();

  /// Begins to list the store every `interval`. `wake`: called by any thread
  /// when something has changed; must be callable until `stop` has returned.
  void start(std::chrono::milliseconds interval, std::function<void()> wake);
  /// Cancels downloads. Returns false if requests are still running after a
  /// second; then the process must end without destroying the object.
  bool stop();

  /// Returns the folder of models.
  const std::string &models() const { return modelFolder; }
  /// Returns the versions in the store. The value is the reason why the current
  /// content of a version could not be copied; it is empty while the copy is
  /// made, and after that. Returns none before the store has been listed.
  std::optional<std::map<Key, std::string>> versions() const;
  /// Returns why the store could not be listed; empty if it could.
  std::string listProblem() const;
  /// Reports which folders of versions are loaded or being loaded. Older
  /// folders of these versions are removed, and their files may be evicted.
  void releaseAllBut(const std::set<std::string> &used);

private:
  struct Copied;
  struct Watched;

  ModelCache(std::string address, std::unique_ptr<pdlrt::FileCache> files);
  void watch(std::chrono::milliseconds interval);
  void look();
  void lookAt(const Key &key, const StoredVersion &stored, Watched &watched);
  pdlrt::Status copy(const Key &key, const StoredVersion &stored);
  bool isShown(const Key &key) const;
  pdlrt::Status show(const Key &key, CopiedFiles files,
                     const std::string &folder);
  void remove(const Key &key);
  void passOver(const std::string &name, const std::string &why);

  const std::string address;
  const std::unique_ptr<pdlrt::FileCache> files;
  const std::string modelFolder, versionFolder;
  std::function<void()> wake;
  /// Used only by the thread that lists the store.
  std::map<Key, std::unique_ptr<Watched>> all;
  std::set<std::string> passedOver;
  std::atomic<uint64_t> folders{0};
  std::atomic<bool> isStopping{false}, hasStopped{true};

  mutable pdlrt::Mutex mutex;
  pdlrt::ConditionVariable changed;
  std::optional<std::map<Key, std::string>> listed PDLRT_GUARDED_BY(mutex);
  std::string problemOfList PDLRT_GUARDED_BY(mutex);
  /// Complete copies: those that the folder of models shows, and older ones
  /// that may still be in use.
  std::map<Key, Copied> shown PDLRT_GUARDED_BY(mutex);
  std::vector<Copied> older PDLRT_GUARDED_BY(mutex);
  std::thread thread;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_MODELCACHE_H
