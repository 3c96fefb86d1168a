//===- Repository.h - The folder of models ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FOLDER/MODEL/VERSION/ holds one library (*.so) and its values: a folder
// `checkpoints`, whose newest checkpoint is followed, a folder `export`, which
// pdl-checkpoint export made, or one dump (*.safetensors). A version is a whole
// number from 1 on; all others, such as names that begin with a point, are
// passed over, so that a version can be prepared beside and renamed.
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_REPOSITORY_H
#define PDLSERVE_REPOSITORY_H

#include "Metrics.h"
#include "Outcome.h"
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

/// What was asked for.
struct Found {
  std::shared_ptr<Version> version;
  int32_t program = 0;
};

/// The versions that answer. One thread looks at the folder, and loads run in
/// threads of their own; any thread may ask.
class Repository {
public:
  /// `required`: models (NAME) and versions (NAME/VERSION) that have to answer
  /// for the server to be ready; none: all that the first look finds.
  Repository(std::string folder, LoadOptions options,
             std::vector<std::string> required, Metrics &metrics);
  Repository(const Repository &) = delete;
  Repository &operator=(const Repository &) = delete;
  ~Repository();

  /// Compares the folder with what is loaded, and starts loads in the
  /// background. What cannot be loaded is told once in the log, and what was
  /// loaded before goes on.
  void look();
  /// Blocks until a load has ended, `wake` was called, or the time has passed.
  void waitForChange(std::chrono::milliseconds time);
  void wake();
  /// Whether loads are under way, for which the destructor waits. Called by the
  /// thread that looks, or after it has ended.
  bool isLoading() const;

  /// A program by MODEL or MODEL@PROGRAM, of a version or, where it is empty,
  /// of the highest that answers.
  Outcome find(std::string_view name, std::string_view version,
               Found &found) const;
  /// Whether the server is ready: at least one version answers, and so do all
  /// that have to. If not, `why` says which does not.
  bool isReady(std::string &why) const;
  /// Whether the version that a client asks for answers, and its servers too.
  Outcome checkReady(std::string_view name, std::string_view version) const;

  /// A version as a client is told of it.
  struct Entry {
    std::string model, version;
    /// Why what lies in the folder is not what answers.
    std::string reason;
    /// Whether its first load has not ended.
    bool isLoading = false;
    /// Null: it does not answer.
    std::shared_ptr<Version> loaded;

    bool isReady() const { return loaded && !loaded->isUnavailable(); }
  };
  /// All versions in the folder, by model and version.
  std::vector<Entry> entries() const;
  /// The versions of a model that answer, ascending.
  std::vector<std::string> versionsOf(const std::string &model) const;

private:
  struct Watched;
  using Versions = std::map<int64_t, std::shared_ptr<Version>>;
  using Models = std::map<std::string, Versions, std::less<>>;
  using Key = std::pair<std::string, int64_t>;

  /// What a load comes to.
  struct LoadResult {
    pdlrt::Status status;
    /// Null: the version that there is has other values, or failed to get them.
    std::shared_ptr<Version> version;
    /// The newest checkpoint failed, and an older one was taken.
    bool isOlder = false;
  };
  using Load = std::function<LoadResult()>;
  struct Loading;

  /// Returns false if the folder could not be read.
  bool listFolder(std::set<Key> &keys);
  void listModel(const std::filesystem::path &model, std::set<Key> &keys);
  /// Says once that a name is none of a model or of a version.
  void passOver(const std::filesystem::path &path, const std::string &why);
  void lookAt(const Key &key, Watched &watched);
  void startLoad(const Key &key, Watched &watched,
                 const FolderContent &content);
  static bool isDone(const std::unique_ptr<Loading> &load);
  void takeResult(const Key &key, Watched &watched);
  bool isWorthARetry(Watched &watched, const std::string &path);
  void run(Watched &watched, const FolderContent &content, Load load);
  void remove(const Key &key);
  void fail(const Key &key, Watched &watched, const std::string &sentence);
  void tell(const Key &key, Watched &watched, const FolderContent &content,
            const std::string &what);
  void tellValues(const Key &key, const Watched &watched,
                  const std::string &what);
  std::string pathOf(const Key &key) const;
  /// Not ok: the version, or all of the model's, are loaded for the first time.
  Outcome checkLoading(std::string_view model, std::string_view version) const;
  void publish();
  void countRows(const Key &key, Version &version);
  void countReplaced();

  const std::string folder;
  const LoadOptions options;
  const std::vector<std::string> required;
  Metrics &metrics;
  /// Of the thread that looks.
  std::map<Key, Watched> all;
  /// Versions that others replaced, and which requests may still use.
  std::vector<std::pair<Key, std::shared_ptr<Version>>> replaced;
  /// Loads of what is not wanted any more.
  std::vector<std::unique_ptr<Loading>> leaving;
  bool wasUnreadable = false;
  std::set<std::string> passedOver;
  /// Loads of values in files that are under way.
  size_t reading = 0;

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool hasChanged = false;
  std::shared_ptr<const Models> current;
  std::vector<Entry> listed;
  /// The versions of the first look.
  std::optional<std::set<std::pair<std::string, std::string>>> foundFirst;
};

} // namespace pdlserve

#endif // PDLSERVE_REPOSITORY_H
