//===- Repository.h - The folder of models ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FOLDER/MODEL/VERSION/ contains one library (*.so) and its values: a folder
// `checkpoints`, whose newest checkpoint is followed; a folder `export`, made
// by pdl-checkpoint export; or one dump (*.safetensors). A version is a
// positive integer. Other names, such as names that begin with a dot, are
// skipped, so that a version can be prepared under another name and then
// renamed.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_REPOSITORY_H
#define PDL_TOOLS_PDL_SERVE_REPOSITORY_H

#include "Outcome.h"
#include "ServingMetrics.h"
#include "Version.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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

/// Manages the loaded versions. One thread calls `look`, and loads run on their
/// own threads. Other functions may be called by any thread.
class Repository {
public:
  /// `required`: models (NAME) and versions (NAME/VERSION) that must be loaded
  /// before the server is ready. Empty: all versions of the first look.
  Repository(std::string folder, LoadOptions options,
             std::vector<std::string> required, ServingMetrics &metrics);
  Repository(const Repository &) = delete;
  Repository &operator=(const Repository &) = delete;
  ~Repository();

  /// Compares the folder with the loaded versions, and starts loads in the
  /// background. Failures are logged once; versions that were loaded before
  /// continue to answer.
  void look();
  /// Blocks until a load has ended, `wake` was called, or the time has passed.
  void waitForChange(std::chrono::milliseconds time);
  void wake();
  /// Returns true if loads are running, for which the destructor waits. Call on
  /// the thread that calls `look`, or after it has ended.
  bool isLoading() const;

  /// Finds a program by MODEL or MODEL@PROGRAM. If `version` is empty, uses the
  /// highest loaded version.
  Outcome find(std::string_view name, std::string_view version,
               Found &found) const;
  /// Returns true if the server is ready: at least one version is loaded, and
  /// all required ones are. Otherwise sets `why` to a message that names a
  /// missing one.
  bool isReady(std::string &why) const;
  /// Returns an error unless the requested version is loaded and its servers
  /// respond.
  Outcome checkReady(std::string_view name, std::string_view version) const;

  /// Status of a version, as reported to clients.
  struct Entry {
    std::string model, version;
    /// Reason why the folder's current content is not loaded.
    std::string reason;
    /// True until its first load has ended.
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
    /// Null if the load only updated the values of the existing version, or
    /// failed to.
    std::shared_ptr<Version> version;
    /// True if the newest checkpoint failed and an older one was loaded.
    bool isOlder = false;
  };
  using Load = std::function<LoadResult()>;
  struct Loading;

  /// Returns false if the folder could not be read.
  bool listFolder(std::set<Key> &keys);
  void listModel(const std::filesystem::path &model, std::set<Key> &keys);
  /// Logs once that a name is not a model or version.
  void passOver(const std::filesystem::path &path, const std::string &why);
  void lookAt(const Key &key, Watched &watched);
  void startLoad(const Key &key, Watched &watched,
                 const FolderContent &content);
  static bool isDone(const std::unique_ptr<Loading> &load);
  void takeResult(const Key &key, Watched &watched);
  bool isWorthARetry(Watched &watched, const std::string &path);
  /// Starts a load of `content`. `version`: the version that gets the values;
  /// if null, the load creates a new one.
  void run(Watched &watched, const FolderContent &content,
           std::shared_ptr<Version> version, Load load);
  /// Continues an abandoned load of `content` from servers. Returns false if
  /// there is none.
  bool takeBack(Watched &watched, const FolderContent &content);
  void remove(const Key &key);
  void fail(const Key &key, Watched &watched, const std::string &sentence);
  void tell(const Key &key, Watched &watched, const FolderContent &content,
            const std::string &what);
  void reportValues(const Key &key, const Watched &watched,
                    const std::string &what);
  std::string pathOf(const Key &key) const;
  /// Returns an error if the version, or all versions of the model, are being
  /// loaded for the first time.
  Outcome checkLoading(std::string_view model, std::string_view version) const;
  void publish();
  /// Returns words about a required model or version that is not in the folder:
  /// the names that are, and the one that may be meant.
  std::string describeNames(const std::string &missing) const;
  /// Warns about required models and versions that are not in the folder.
  void warnOfMissing() const;
  void countRows(const Key &key, Version &version);
  void countReplaced();

  const std::string folder;
  const LoadOptions options;
  const std::vector<std::string> required;
  ServingMetrics &metrics;
  /// Only for the thread that calls `look`.
  std::map<Key, Watched> all;
  /// Replaced versions, which requests may still use.
  std::vector<std::pair<Key, std::shared_ptr<Version>>> replaced;
  /// Loads whose results are no longer needed.
  std::vector<std::unique_ptr<Loading>> leaving;
  bool wasUnreadable = false;
  std::set<std::string> passedOver;
  /// Number of running loads of values from files.
  size_t reading = 0;

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool hasChanged = false;
  std::shared_ptr<const Models> current;
  std::vector<Entry> listed;
  /// Versions found by the first look.
  std::optional<std::set<std::pair<std::string, std::string>>> foundFirst;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_REPOSITORY_H
