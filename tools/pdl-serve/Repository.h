//===- Repository.h - The folder of models ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FOLDER/MODEL/VERSION/ contains one library (*.so) and its values. The values
// are a folder `checkpoints`, whose newest checkpoint is used; a folder
// `export`, which `pdl-checkpoint export` has made; or one dump
// (*.safetensors). A version is a positive integer. Other names are skipped,
// such as names that begin with a dot. So a version can be prepared under
// another name and then renamed.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_REPOSITORY_H
#define PDL_TOOLS_PDL_SERVE_REPOSITORY_H

#include "ModelCache.h"
#include "Outcome.h"
#include "ServingMetrics.h"
#include "Version.h"
#include "pdlrt/Core/Mutex.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdlserve {

struct FolderContent;

/// Result of a search.
struct Found {
  std::shared_ptr<Version> version;
  int32_t program = 0;
};

/// Manages the loaded versions of models. One thread calls `look`. Loads run on
/// threads of their own. Other functions may be called by any thread.
class Repository {
public:
  /// `required`: models (NAME) and versions (NAME/VERSION) that must be loaded
  /// before the server is ready. If it is empty, these are all versions that
  /// the first look finds. `cache`: copies the models to `folder`; must outlive
  /// the repository; null if the folder is not a copy.
  Repository(std::string folder, LoadOptions options,
             std::vector<std::string> required, ServingMetrics &metrics,
             ModelCache *cache = nullptr);
  Repository(const Repository &) = delete;
  Repository &operator=(const Repository &) = delete;
  ~Repository();

  /// Compares the folder with the loaded versions, and starts loads in the
  /// background. Logs each failure once. Versions that are loaded continue to
  /// respond.
  void look();
  /// Blocks until a load has ended, `wake` was called, or the time has passed.
  void waitForChange(std::chrono::milliseconds time);
  void wake();
  /// Returns true if loads are running. The destructor waits for them. Call on
  /// the thread that calls `look`, or after that thread has ended.
  bool isLoading() const;

  /// Finds a program by the name MODEL or MODEL@PROGRAM. If `version` is empty,
  /// selects the highest loaded version.
  Outcome find(std::string_view name, std::string_view version,
               Found &found) const;
  /// Returns true if the server is ready: at least one version and all required
  /// ones are loaded. Otherwise sets `why` to a message that names a version
  /// that is not loaded.
  bool isReady(std::string &why) const;
  /// Returns an error unless the requested version is loaded and its servers
  /// respond.
  Outcome checkReady(std::string_view name, std::string_view version) const;

  /// Status of a version, as reported to clients.
  struct Entry {
    std::string model, version;
    /// Reason why the folder's current content is not loaded.
    std::string reason;
    /// True until the first load of the version has ended.
    bool isLoading = false;
    /// Null if the version is not loaded.
    std::shared_ptr<Version> loaded;

    bool isReady() const { return loaded && !loaded->isUnavailable(); }
  };
  /// Returns all versions in the folder, ordered by model and version.
  std::vector<Entry> entries() const;
  /// Returns the loaded versions of a model, ascending.
  std::vector<std::string> versionsOf(const std::string &model) const;

private:
  struct Watched;
  using Versions = std::map<int64_t, std::shared_ptr<Version>>;
  using Models = std::map<std::string, Versions, std::less<>>;
  using Key = std::pair<std::string, int64_t>;

  /// Result of a load.
  struct LoadResult {
    pdlrt::Status status;
    /// The loaded version. Null if the load has failed, or has only replaced
    /// the values of an existing version.
    std::shared_ptr<Version> version;
    /// True if an older checkpoint was loaded because the newest one failed.
    bool isOlder = false;
  };
  using Load = std::function<LoadResult()>;
  struct Loading;

  /// Returns false if the folder could not be read.
  bool listFolder(std::set<Key> &keys);
  /// Like `listFolder`, for versions that are copied from a store.
  bool listStore(std::set<Key> &keys);
  /// Returns why the content in the store is not copied; empty if it is, or is
  /// being copied.
  std::string problemOfCopy(const Key &key) const;
  /// Tells the cache which folders are in use.
  void releaseCopies();
  void listModel(const std::filesystem::path &model, std::set<Key> &keys);
  /// Logs once that a path is neither a model nor a version. `why`: the reason.
  void passOver(const std::filesystem::path &path, const std::string &why);
  void lookAt(const Key &key, Watched &watched);
  void startLoad(const Key &key, Watched &watched,
                 const FolderContent &content);
  static bool isDone(const std::unique_ptr<Loading> &load);
  void takeResult(const Key &key, Watched &watched);
  bool isWorthARetry(Watched &watched, const std::string &path);
  /// Starts a load of `content`. `version`: the version whose values are
  /// replaced; if null, the load creates a new version.
  void run(Watched &watched, const FolderContent &content,
           std::shared_ptr<Version> version, Load load);
  /// If a load of `content` from servers was abandoned but still runs, makes it
  /// the current load and returns true. Otherwise returns false.
  bool takeBack(Watched &watched, const FolderContent &content);
  void remove(const Key &key);
  void fail(const Key &key, Watched &watched, const std::string &message);
  void tell(const Key &key, Watched &watched, const FolderContent &content,
            const std::string &what);
  void reportValues(const Key &key, const Watched &watched,
                    const std::string &what);
  std::string pathOf(const Key &key) const;
  /// Returns an error if the requested version, or each version of the model,
  /// is being loaded for the first time.
  Outcome checkLoading(std::string_view model, std::string_view version) const;
  void publish();
  /// Returns text for a message about a required model or version that is not
  /// in the folder. It lists the names in the folder, and suggests the most
  /// similar one.
  std::string describeNames(const std::string &missing) const
      PDLRT_REQUIRES(mutex);
  /// Warns about required models and versions that are not in the folder.
  void warnOfMissing() const PDLRT_REQUIRES(mutex);
  void countRows(const Key &key, Version &version);
  void countReplaced();

  const std::string folder;
  const LoadOptions options;
  const std::vector<std::string> required;
  ServingMetrics &metrics;
  /// Used only by the thread that calls `look`.
  std::map<Key, Watched> all;
  /// Replaced versions, which requests may still use.
  std::vector<std::pair<Key, std::shared_ptr<Version>>> replaced;
  /// Loads whose results are no longer needed.
  std::vector<std::unique_ptr<Loading>> leaving;
  bool wasUnreadable = false;
  std::set<std::string> passedOver;
  /// Number of running loads of values from files.
  size_t reading = 0;

  mutable pdlrt::Mutex mutex;
  pdlrt::ConditionVariable changed;
  bool hasChanged PDLRT_GUARDED_BY(mutex) = false;
  std::shared_ptr<const Models> current PDLRT_GUARDED_BY(mutex);
  std::vector<Entry> listed PDLRT_GUARDED_BY(mutex);
  /// Versions found by the first look.
  std::optional<std::set<std::pair<std::string, std::string>>>
      foundFirst PDLRT_GUARDED_BY(mutex);

  /// Null if the folder is no copy of a store.
  ModelCache *const cache;
  /// Versions in the store, with their problems. Used only by the thread that
  /// calls `look`.
  std::map<Key, std::string> inStore;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_REPOSITORY_H
