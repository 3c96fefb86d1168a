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
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pdlserve {

/// What was asked for.
struct Found {
  std::shared_ptr<Version> version;
  int32_t program = 0;
};

/// The versions that answer. One thread looks at the folder; any may ask.
class Repository {
public:
  Repository(std::string folder, Metrics &metrics);
  Repository(const Repository &) = delete;
  Repository &operator=(const Repository &) = delete;
  ~Repository();

  /// Brings the models to what lies in the folder. What cannot be loaded is
  /// told once in the log, and what was loaded before goes on.
  void look();
  /// The same as the first look. Versions that ask servers are there behind it
  /// where these answer within `patience`, else later.
  void lookFirst(std::chrono::milliseconds patience);
  /// Whether servers are being asked, for which the destructor waits. Of the
  /// thread that looks.
  bool isAsking() const;

  /// A program by MODEL or MODEL@PROGRAM, of a version or, where it is empty,
  /// of the highest that answers.
  Outcome find(std::string_view name, std::string_view version,
               Found &found) const;
  /// At least one model answers.
  bool isReady() const;

  /// A version as a client is told of it.
  struct Entry {
    std::string model, version;
    /// Why what lies in the folder is not what answers.
    std::string reason;
    /// Null: it does not answer.
    std::shared_ptr<Version> loaded;
  };
  /// All versions in the folder, by model and version.
  std::vector<Entry> entries() const;
  /// The versions of a model that answer, ascending.
  std::vector<std::string> versionsOf(const std::string &model) const;

private:
  struct Content;
  struct Watched;
  struct Leaving;
  using Versions = std::map<int64_t, std::shared_ptr<Version>>;
  using Models = std::map<std::string, Versions, std::less<>>;
  using Key = std::pair<std::string, int64_t>;

  /// False: the folder could not be read.
  bool listFolder(std::vector<Key> &keys);
  /// Says once that a name is none of a model or of a version.
  void passOver(const std::filesystem::path &path, const char *why);
  void lookAt(const Key &key, Watched &watched);
  void askServers(const Key &key, Watched &watched, const Content &content);
  void fail(const Key &key, Watched &watched, const std::string &sentence);
  void tell(const Key &key, Watched &watched, const Content &content,
            const std::string &what);
  void tellValues(const Key &key, const Watched &watched,
                  const std::string &what);
  static pdlrt::Expected<Content> contentOf(const std::string &folder);
  void publish();

  const std::string folder;
  Metrics &metrics;
  /// Of the thread that looks.
  std::map<Key, Watched> all;
  /// Servers that were asked for what is not wanted any more.
  std::unique_ptr<Leaving> leaving;
  bool wasUnreadable = false;
  std::set<std::string> passedOver;

  mutable std::mutex mutex;
  std::shared_ptr<const Models> current;
  std::vector<Entry> listed;
};

} // namespace pdlserve

#endif // PDLSERVE_REPOSITORY_H
