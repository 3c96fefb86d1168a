//===- Repository.cpp - The folder of models ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repository.h"
#include "VersionFolder.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Suggestion.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <system_error>
#include <thread>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Status;
namespace fs = std::filesystem;

/// Load that runs on its own thread. The destructor waits for its end.
struct Repository::Loading {
  /// `content`: content that is loaded. `version`: version whose values are
  /// replaced; null if the load creates a new version.
  FolderContent content;
  std::shared_ptr<Version> version;
  LoadResult result;
  std::atomic<bool> isDone{false};
  std::jthread thread;
};

struct Repository::Watched {
  std::shared_ptr<Version> version;
  /// `loaded`: the content from which `version` was loaded. `failed`: later
  /// content that could not be loaded.
  std::optional<FolderContent> loaded, failed;
  /// Digests of the names, sizes and times of the folder's files: before the
  /// load that failed, and when the folder was looked at last.
  uint64_t filesOfFailed = 0, filesBefore = 0;
  std::string reason;
  /// `load`: the running load. `content`: the content that it reads.
  std::unique_ptr<Loading> load;
  FolderContent content;
  uint64_t filesOfLoad = 0;
  bool hasEndedALoad = false;
};

bool Repository::isDone(const std::unique_ptr<Loading> &load) {
  return load->isDone;
}

Repository::Repository(std::string folder, LoadOptions options,
                       std::vector<std::string> required,
                       ServingMetrics &metrics, ModelCache *cache)
    : folder(std::move(folder)), options(options),
      required(std::move(required)), metrics(metrics),
      current(std::make_shared<const Models>()), cache(cache) {}

Repository::~Repository() {
  // Loads that end notify `changed`, so they must end before it is destroyed.
  leaving.clear();
  all.clear();
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

void Repository::passOver(const fs::path &path, const std::string &why) {
  if (passedOver.insert(path.string()).second)
    pdlrt::logInfo(fmt::format("{} is passed over: {}", path.string(), why));
}

std::string Repository::pathOf(const Key &key) const {
  const fs::path path =
      fs::path(folder) / key.first / std::to_string(key.second);
  if (!cache)
    return path.string();
  // A load reads from one copy, even if a newer one appears.
  std::error_code error;
  const fs::path copy = fs::canonical(path, error);
  return error ? path.string() : copy.string();
}

void Repository::listModel(const fs::path &model, std::set<Key> &keys) {
  const std::string name = model.filename().string();
  std::error_code error, ignored;
  for (fs::directory_iterator version(model, error), end;
       !error && version != end; version.increment(error)) {
    const std::string inModel = version->path().filename().string();
    const int64_t number = versionNumber(inModel);
    if (number && version->is_directory(ignored))
      keys.emplace(name, number);
    else if (!inModel.starts_with("."))
      passOver(version->path(), "versions are folders, named by whole "
                                "numbers from 1 on");
  }
  if (!error) {
    // Forgets an earlier problem of the folder, so that the next one is logged
    // again.
    passedOver.erase(model.string());
    return;
  }
  // The folder may have been removed meanwhile.
  if (error == std::errc::no_such_file_or_directory)
    return;
  // An unreadable folder affects only its own versions.
  passOver(model, "it cannot be read (" + error.message() +
                      "); its versions stay as they are");
  for (const auto &[key, watched] : all)
    if (key.first == name)
      keys.insert(key);
}

bool Repository::listFolder(std::set<Key> &keys) {
  std::error_code error;
  for (fs::directory_iterator model(folder, error), end; !error && model != end;
       model.increment(error)) {
    const std::string name = model->path().filename().string();
    std::error_code ignored;
    if (name.starts_with("."))
      continue;
    // '@' separates the name of a program.
    if (name.find('@') != std::string::npos || !model->is_directory(ignored))
      passOver(model->path(), "models are folders, without @ in their names");
    else
      listModel(model->path(), keys);
  }
  if (error && !wasUnreadable)
    pdlrt::logWarning(fmt::format("{}: {}; the models stay as they are", folder,
                                  error.message()));
  wasUnreadable = bool(error);
  return !error;
}

bool Repository::listStore(std::set<Key> &keys) {
  auto versions = cache->versions();
  if (!versions)
    return false;
  inStore = *std::move(versions);
  for (const auto &[key, problem] : inStore)
    keys.insert(key);
  return true;
}

std::string Repository::problemOfCopy(const Key &key) const {
  const auto found = inStore.find(key);
  return found == inStore.end() ? std::string() : found->second;
}

void Repository::releaseCopies() {
  if (!cache)
    return;
  std::set<std::string> used;
  const auto use = [&](const FolderContent &content) {
    used.insert(fs::path(content.library.path).parent_path().string());
  };
  for (const auto &[key, watched] : all) {
    if (watched.loaded)
      use(*watched.loaded);
    if (watched.load)
      use(watched.content);
  }
  for (const auto &load : leaving)
    use(load->content);
  cache->releaseAllBut(used);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

void Repository::fail(const Key &key, Watched &watched,
                      const std::string &message) {
  if (message == watched.reason)
    return;
  watched.reason = message;
  const auto &[model, number] = key;
  metrics.countLoad(model, std::to_string(number), false);
  publish();
  pdlrt::logWarning(fmt::format("model {}, version {}: {}{}", model, number,
                                message,
                                watched.version ? "; what was loaded before "
                                                  "goes on"
                                                : ""));
}

/// Publishes and logs a successful load.
void Repository::tell(const Key &key, Watched &watched,
                      const FolderContent &content, const std::string &what) {
  const auto &[model, number] = key;
  metrics.countLoad(model, std::to_string(number), true);
  watched.loaded = content;
  watched.failed.reset();
  watched.reason.clear();
  reportValues(key, watched, what + " " + content.values.path);
}

void Repository::reportValues(const Key &key, const Watched &watched,
                              const std::string &what) {
  // Publish first, so that readers of the log find the version.
  publish();
  const pdl_serving_state state = watched.version->state();
  pdlrt::logInfo(fmt::format("model {}, version {}: {}, {} rows, {:.1f} MiB",
                             key.first, key.second, what, state.rows,
                             double(state.bytes) / (1 << 20)));
}

/// Starts a load on its own thread.
void Repository::run(Watched &watched, const FolderContent &content,
                     std::shared_ptr<Version> version, Load load) {
  watched.content = content;
  watched.load = std::make_unique<Loading>();
  Loading &loading = *watched.load;
  loading.content = content;
  loading.version = std::move(version);
  const auto loadAndWake = [this, &loading, load = std::move(load)] {
    try {
      loading.result = load();
    } catch (const std::bad_alloc &) {
      loading.result.status = Status::outOfMemory("there is no memory for it");
    } catch (const std::exception &error) {
      loading.result.status = Status::internal(error.what());
    }
    loading.isDone = true;
    wake();
  };
  try {
    loading.thread = std::jthread(loadAndWake);
  } catch (const std::exception &) {
    loading.result.status = Status::outOfMemory("there is no thread for it");
    loading.isDone = true;
  }
}

/// Starts the load of `content`, unless the maximum number of loads is running.
void Repository::startLoad(const Key &key, Watched &watched,
                           const FolderContent &content) {
  const bool readsFromServers = isServersFile(content.values.path);
  // Each load reads and allocates much.
  const size_t maxReading = std::max(2U, std::thread::hardware_concurrency());
  if (!readsFromServers && reading >= maxReading)
    return;
  reading += readsFromServers ? 0 : 1;
  watched.filesOfLoad = digestOfNames(pathOf(key));
  const bool isNew = !watched.version || readsFromServers ||
                     watched.version->isConnected() ||
                     !watched.loaded->hasSameLibrary(content);
  if (!isNew) {
    run(watched, content, watched.version,
        [version = watched.version, content, options = options] {
          return LoadResult{version->reload(content.values.path, options), {}};
        });
    return;
  }
  const bool mayBeOlder = !watched.version && !content.checkpoints.empty();
  run(watched, content, nullptr,
      [key, content, mayBeOlder, options = options, &metrics = metrics] {
        const auto &[model, number] = key;
        LoadResult result;
        auto opened = Version::open(model, number, content.library.path,
                                    content.values.path, options, metrics);
        if (!opened)
          result.status = opened.status();
        if (!opened && mayBeOlder) {
          // An older checkpoint is better than none.
          opened = Version::open(model, number, content.library.path,
                                 content.checkpoints, options, metrics);
          result.isOlder = opened.ok();
        }
        if (opened)
          result.version = *std::move(opened);
        return result;
      });
}

void Repository::takeResult(const Key &key, Watched &watched) {
  LoadResult result = std::move(watched.load->result);
  watched.load.reset();
  const FolderContent content = watched.content;
  const bool readsFromServers = isServersFile(content.values.path);
  reading -= readsFromServers ? 0 : 1;
  const bool isNew = result.version != nullptr;
  if (isNew) {
    std::swap(watched.version, result.version);
    if (result.version)
      replaced.emplace_back(key, std::move(result.version));
  }
  if (result.status.ok()) {
    watched.hasEndedALoad = true;
    if (isNew || watched.loaded != content) {
      tell(key, watched, content, isNew ? "loaded" : "took the values of");
    } else {
      // The servers respond, so the earlier problem is solved.
      watched.reason.clear();
    }
    return;
  }
  if (readsFromServers) {
    watched.hasEndedALoad = true;
    fail(key, watched, result.status.message());
    return;
  }
  // The content may have been removed or replaced during the load, as a job
  // does with old checkpoints. This is not a failure: the next look finds the
  // current content.
  const Expected<FolderContent> now = contentOf(pathOf(key));
  const bool isReplaced = !now || *now != content;
  if (isReplaced && !result.isOlder)
    return;
  watched.hasEndedALoad = true;
  if (result.isOlder) {
    if (isReplaced) {
      metrics.countLoad(key.first, std::to_string(key.second), true);
      watched.failed.reset();
      watched.reason.clear();
    }
    // Newer values are loaded without opening the library again.
    watched.loaded = content;
    watched.loaded->values = {};
    reportValues(key, watched,
                 (isReplaced ? "loaded the newest checkpoint of "
                             : "loaded an older checkpoint of ") +
                     content.checkpoints);
  }
  if (isReplaced)
    return;
  const bool isRetry = watched.failed == content;
  watched.failed = content;
  watched.filesOfFailed = watched.filesBefore = watched.filesOfLoad;
  // A new problem with the same message is logged too.
  if (!isRetry)
    watched.reason.clear();
  fail(key, watched, result.status.message());
}

/// Returns true if files have changed since a load failed, and are stable now.
bool Repository::takeBack(Watched &watched, const FolderContent &content) {
  if (!isServersFile(content.values.path))
    return false;
  const auto found = std::ranges::find_if(leaving, [&](const auto &load) {
    return load->content == content &&
           (!load->version || load->version == watched.version);
  });
  if (found == leaving.end())
    return false;
  watched.content = content;
  watched.load = std::move(*found);
  leaving.erase(found);
  return true;
}

bool Repository::isWorthARetry(Watched &watched, const std::string &path) {
  const uint64_t files = digestOfNames(path);
  const bool standsStill = files == watched.filesBefore;
  watched.filesBefore = files;
  return standsStill && files != watched.filesOfFailed;
}

void Repository::lookAt(const Key &key, Watched &watched) {
  const std::string path = pathOf(key);
  Expected<FolderContent> content = contentOf(path);
  if (watched.load) {
    const bool isWanted = content && watched.content == *content;
    if (watched.load->isDone)
      takeResult(key, watched);
    else if (isWanted || !isServersFile(watched.content.values.path))
      // A load from files is completed first, and then the new content is
      // loaded.
      return;
    else
      // The values of the servers are no longer needed.
      leaving.push_back(std::move(watched.load));
  }
  if (!content) {
    const std::string problem = problemOfCopy(key);
    std::error_code ignored;
    if (cache && problem.empty() && !fs::exists(path, ignored))
      // It is being copied.
      return;
    watched.hasEndedALoad = true;
    fail(key, watched, problem.empty() ? content.status().message() : problem);
    return;
  }
  // A file that was missing for a moment does not cause a second refresh.
  if (takeBack(watched, *content))
    return;
  if (watched.loaded != *content) {
    const bool readsFromServers = isServersFile(content->values.path);
    // The servers may respond by now.
    if (readsFromServers || watched.failed != *content ||
        isWorthARetry(watched, path))
      startLoad(key, watched, *content);
    return;
  }
  watched.failed.reset();
  if (const std::string problem = problemOfCopy(key); !problem.empty()) {
    fail(key, watched, problem);
  } else if (!watched.version->isConnected()) {
    // The earlier problem is solved.
    watched.reason.clear();
  } else if (!watched.reason.empty() || watched.version->isRefreshDue() ||
             watched.version->isUnavailable()) {
    run(watched, *content, watched.version, [version = watched.version] {
      return LoadResult{version->refresh(), {}};
    });
  }
}

void Repository::remove(const Key &key) {
  if (std::unique_ptr<Loading> &load = all[key].load) {
    reading -= isServersFile(all[key].content.values.path) ? 0 : 1;
    leaving.push_back(std::move(load));
  }
  all.erase(key);
  publish();
  const auto &[model, number] = key;
  metrics.removeVersion(model, std::to_string(number));
  pdlrt::logInfo(fmt::format("model {}, version {}: is gone from the folder "
                             "and answers no more",
                             model, number));
}

void Repository::look() {
  std::set<Key> keys;
  if (!(cache ? listStore(keys) : listFolder(keys)))
    return;
  std::vector<Key> gone;
  for (const auto &[key, watched] : all)
    if (!keys.contains(key))
      gone.push_back(key);
  std::erase_if(leaving, isDone);
  for (const Key &key : gone)
    remove(key);
  for (const Key &key : keys)
    lookAt(key, all[key]);
  publish();
  releaseCopies();
  const pdlrt::MutexLock lock(mutex);
  if (foundFirst)
    return;
  foundFirst.emplace();
  for (const auto &[model, number] : keys)
    foundFirst->emplace(model, std::to_string(number));
  warnOfMissing();
}

std::string Repository::describeNames(const std::string &missing) const {
  const bool isVersion = missing.find('/') != std::string::npos;
  std::vector<std::string> names;
  for (const Entry &entry : listed) {
    const std::string name =
        isVersion ? entry.model + "/" + entry.version : entry.model;
    if (std::ranges::find(names, name) == names.end())
      names.push_back(name);
  }
  return pdlrt::suggestName(missing, names) +
         fmt::format("; {} has {}", folder,
                     names.empty() ? "no model"
                                   : fmt::format("{}", fmt::join(names, ", ")));
}

void Repository::warnOfMissing() const {
  for (const std::string &name : required) {
    const size_t slash = name.find('/');
    const bool isThere = std::ranges::any_of(listed, [&](const Entry &entry) {
      return entry.model == name.substr(0, slash) &&
             (slash == std::string::npos ||
              entry.version == name.substr(slash + 1));
    });
    if (!isThere)
      pdlrt::logWarning("--require: " + name +
                        " is not in the folder yet, and the server is not "
                        "ready before it is" +
                        describeNames(name));
  }
}

void Repository::waitForChange(std::chrono::milliseconds time) {
  pdlrt::MutexLock lock(mutex);
  changed.wait_for(lock, time,
                   [this]() PDLRT_REQUIRES(mutex) { return hasChanged; });
  hasChanged = false;
}

void Repository::wake() {
  {
    const pdlrt::MutexLock lock(mutex);
    hasChanged = true;
  }
  changed.notify_all();
}

bool Repository::isLoading() const {
  return !std::ranges::all_of(leaving, isDone) ||
         std::ranges::any_of(all, [](const auto &each) {
           const Watched &watched = each.second;
           return watched.load && !isDone(watched.load);
         });
}

void Repository::publish() {
  auto models = std::make_shared<Models>();
  std::vector<Entry> entries;
  for (const auto &[key, watched] : all) {
    const std::string version = std::to_string(key.second);
    entries.push_back({key.first, version, watched.reason,
                       !watched.version && !watched.hasEndedALoad,
                       watched.version});
    ServingMetrics::Values values;
    values.isBroken = !watched.reason.empty();
    if (watched.version) {
      (*models)[key.first][key.second] = watched.version;
      const pdl_serving_state state = watched.version->state();
      values.steps = state.steps;
      values.rows = state.rows;
      values.bytes = state.bytes;
      values.loads = state.version;
      countRows(key, *watched.version);
    }
    metrics.setVersion(key.first, version, values);
  }
  std::shared_ptr<const Models> old = std::move(models);
  {
    const pdlrt::MutexLock lock(mutex);
    std::swap(current, old);
    std::swap(listed, entries);
  }
  old.reset();
  entries.clear();
  countReplaced();
}

void Repository::countRows(const Key &key, Version &version) {
  metrics.countRows(key.first, std::to_string(key.second),
                    version.takeRowCounts(), version.isConnected());
}

/// Counts the rows that requests have read from versions since these were
/// replaced.
void Repository::countReplaced() {
  std::erase_if(replaced, [&](const auto &each) {
    const auto &[key, version] = each;
    if (!all.contains(key))
      return true;
    // New requests do not find this version any more.
    const bool isLast = version.use_count() == 1;
    countRows(key, *version);
    return isLast;
  });
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

Outcome Repository::find(std::string_view name, std::string_view version,
                         Found &found) const {
  std::shared_ptr<const Models> models;
  {
    const pdlrt::MutexLock lock(mutex);
    models = current;
  }
  const size_t at = name.find('@');
  const std::string_view modelName = name.substr(0, at);
  const auto model = models->find(modelName);
  if (model == models->end()) {
    if (Outcome loading = checkLoading(modelName, version); !loading.ok())
      return loading;
    return {Code::NotFound,
            fmt::format("there is no model '{}' that answers; the index of the "
                        "repository has those that do",
                        modelName)};
  }
  const Versions &versions = model->second;
  if (version.empty()) {
    found.version = versions.rbegin()->second;
  } else {
    const auto wanted = versions.find(versionNumber(std::string(version)));
    if (wanted == versions.end()) {
      if (Outcome loading = checkLoading(modelName, version); !loading.ok())
        return loading;
      return {Code::NotFound,
              fmt::format("model '{}' has no version '{}' that answers; its "
                          "metadata have those that do",
                          modelName, version)};
    }
    found.version = wanted->second;
  }
  found.program = found.version->findProgram(
      at == std::string_view::npos ? "" : name.substr(at + 1));
  if (found.program >= 0 &&
      (at == std::string_view::npos || at + 1 < name.size()))
    return {};
  std::string known;
  for (int32_t p = 0; p < found.version->description().program_count; ++p)
    known +=
        fmt::format("{}@{}", p ? ", " : "", found.version->program(p).name);
  return {Code::NotFound,
          fmt::format("version {} of model '{}' has no program '{}', only {}",
                      found.version->number(), modelName, name.substr(at),
                      known)};
}

bool Repository::isReady(std::string &why) const {
  const pdlrt::MutexLock lock(mutex);
  if (!foundFirst) {
    why = cache ? cache->listProblem() : std::string();
    if (why.empty())
      why = "the folder of models has not been read yet";
    return false;
  }
  // Returns false if there is a version that is not ready, or none at all.
  const auto answers = [&](const std::string &model,
                           const std::string &version) PDLRT_REQUIRES(mutex) {
    const Entry *silent = nullptr;
    for (const Entry &entry : listed) {
      if (entry.model != model ||
          (!version.empty() && entry.version != version))
        continue;
      if (entry.isReady())
        return true;
      silent = &entry;
    }
    why = fmt::format(
        "model {}{}{} does not respond: {}", model,
        version.empty() ? "" : ", version ", version,
        !silent
            ? "it is not in the folder" +
                  describeNames(version.empty() ? model : model + "/" + version)
        : silent->loaded          ? std::string("its servers do not respond")
        : silent->isLoading       ? std::string("it is being loaded")
        : !silent->reason.empty() ? silent->reason
                                  : std::string("it is being loaded"));
    return false;
  };
  for (const std::string &name : required) {
    const size_t slash = name.find('/');
    if (!answers(name.substr(0, slash),
                 slash == std::string::npos ? "" : name.substr(slash + 1)))
      return false;
  }
  if (!required.empty())
    return true;
  for (const auto &[model, version] : *foundFirst) {
    // Versions that were removed from the folder are no longer required.
    const bool isThere = std::ranges::any_of(listed, [&](const Entry &entry) {
      return entry.model == model && entry.version == version;
    });
    if (isThere && !answers(model, version))
      return false;
  }
  if (std::ranges::any_of(listed, &Entry::isReady))
    return true;
  why = "no model answers yet";
  return false;
}

Outcome Repository::checkLoading(std::string_view model,
                                 std::string_view version) const {
  const pdlrt::MutexLock lock(mutex);
  const Entry *loading = nullptr;
  for (const Entry &entry : listed) {
    if (entry.model != model || (!version.empty() && entry.version != version))
      continue;
    if (entry.loaded)
      return {};
    if (entry.isLoading)
      loading = &entry;
  }
  if (!loading)
    return {};
  return {Code::Unavailable,
          fmt::format("version {} of model '{}' is being loaded; send the "
                      "request later",
                      loading->version, loading->model)};
}

Outcome Repository::checkReady(std::string_view name,
                               std::string_view version) const {
  Found found;
  if (Outcome outcome = find(name, version, found); !outcome.ok())
    return outcome;
  if (!found.version->isUnavailable())
    return {};
  return {Code::Unavailable,
          fmt::format("the servers of version {} of model '{}' do not respond",
                      found.version->number(), found.version->model())};
}

std::vector<Repository::Entry> Repository::entries() const {
  const pdlrt::MutexLock lock(mutex);
  return listed;
}

std::vector<std::string>
Repository::versionsOf(const std::string &model) const {
  std::vector<std::string> numbers;
  for (const Entry &entry : entries())
    if (entry.model == model && entry.loaded)
      numbers.push_back(entry.version);
  return numbers;
}
