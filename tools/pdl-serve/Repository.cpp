//===- Repository.cpp - The folder of models ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repository.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <new>
#include <optional>
#include <sys/stat.h>
#include <system_error>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Status;
namespace fs = std::filesystem;

namespace {
/// What is at a path, so that a change is seen.
struct Stamp {
  std::string path;
  uint64_t device = 0, number = 0, size = 0;
  int64_t seconds = 0, nanoseconds = 0;

  bool operator==(const Stamp &) const = default;
};

} // namespace

/// What a version consists of at one look.
struct Repository::Content {
  Stamp library;
  /// The newest checkpoint, the export or the dump.
  Stamp values;
  /// The folder of checkpoints; empty of others.
  std::string checkpoints;

  bool operator==(const Content &) const = default;
};

namespace {
/// What a version is given that asks servers: a thread of its own does so, as
/// they may take long to answer, and other versions do not wait for them.
struct Asked {
  Status status;
  /// Null: the one that there is was refreshed.
  std::shared_ptr<Version> version;
};

bool isDone(const std::future<Asked> &asking) {
  return asking.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}
} // namespace

struct Repository::Watched {
  std::shared_ptr<Version> version;
  /// What `version` was loaded from, and what could not be loaded since.
  std::optional<Content> loaded, failed;
  std::string reason;
  /// Servers that are asked, and for what.
  std::future<Asked> asking;
  Content askedFor;
};

struct Repository::Leaving {
  std::vector<std::future<Asked>> asking;
};

static Stamp stampOf(const fs::path &path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0)
    return {path.string()};
  return {path.string(),          uint64_t(about.st_dev),
          uint64_t(about.st_ino), uint64_t(about.st_size),
          about.st_mtim.tv_sec,   about.st_mtim.tv_nsec};
}

/// The only file of that kind in a folder.
static Expected<fs::path> onlyFile(const fs::path &folder,
                                   std::string_view ending, const char *what) {
  fs::path found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(".") || !name.ends_with(ending))
      continue;
    if (!found.empty())
      return Status::invalid(
          fmt::format("{} has two of {}, {} and {}; leave one", folder.string(),
                      what, found.filename().string(), name));
    found = at->path();
  }
  if (error)
    return Status::invalid(folder.string() + ": " + error.message());
  return found;
}

static Expected<fs::path> newestCheckpoint(const fs::path &folder) {
  std::error_code error;
  const fs::directory_iterator readable(folder, error);
  if (error)
    return Status::invalid(folder.string() + ": " + error.message());
  const std::vector<int64_t> found = pdlrt::listCheckpoints(folder.string());
  if (!found.empty())
    return fs::path(
        pdlrt::CheckpointFolder::nameIn(folder.string(), found.front()));
  if (fs::exists(folder / pdlrt::manifestName, error))
    return Status::invalid(folder.string() +
                           " is one checkpoint; name the folder that it is in");
  return Status::invalid(folder.string() + " has no checkpoint yet");
}

Expected<Repository::Content> Repository::contentOf(const std::string &where) {
  const fs::path folder = where;
  auto library = onlyFile(folder, ".so", "libraries");
  if (!library)
    return std::move(library).status();
  if (library->empty())
    return Status::invalid(folder.string() +
                           " has no library; put one there that pdl-translate "
                           "--emit=library made");
  auto dump = onlyFile(folder, ".safetensors", "dumps");
  if (!dump)
    return std::move(dump).status();
  std::error_code ignored;
  const fs::path checkpoints = folder / "checkpoints",
                 mapped = folder / "export";
  const fs::path servers = folder / serversFileName;
  const bool hasCheckpoints = fs::exists(checkpoints, ignored),
             hasExport = fs::exists(mapped, ignored),
             hasServers = fs::exists(servers, ignored);
  const std::array sources = {
      std::pair(hasCheckpoints, checkpoints), std::pair(hasExport, mapped),
      std::pair(hasServers, servers), std::pair(!dump->empty(), *dump)};
  std::string found;
  for (const auto &[isThere, path] : sources) {
    if (isThere)
      found += (found.empty() ? "" : ", ") + path.filename().string();
    else if (fs::is_symlink(path, ignored))
      return Status::invalid(
          fmt::format("{} is a link to {}, and nothing is there (yet); a link "
                      "is read from the folder that it is in",
                      path.string(), fs::read_symlink(path, ignored).string()));
  }
  if (found.empty())
    return Status::invalid(folder.string() +
                           " needs one of a folder 'checkpoints', a folder "
                           "'export', a dump (*.safetensors) and a file "
                           "'servers.json'");
  if (std::ranges::count(sources, true, &decltype(sources)::value_type::first) >
      1)
    return Status::invalid(fmt::format("{} has several of which there may be "
                                       "one: {}; leave one",
                                       folder.string(), found));
  Content content;
  content.library = stampOf(*library);
  if (hasServers) {
    content.values = stampOf(servers);
  } else if (hasExport) {
    content.values = stampOf(mapped);
  } else if (!hasCheckpoints) {
    content.values = stampOf(*dump);
  } else {
    auto newest = newestCheckpoint(checkpoints);
    if (!newest)
      return std::move(newest).status();
    content.values = stampOf(*newest);
    content.checkpoints = checkpoints.string();
  }
  return content;
}

/// 0: not the name of a version.
static int64_t versionNumber(const std::string &name) {
  const auto number = name.starts_with("0")
                          ? Status::invalid("")
                          : pdlrt::parseWholeNumber(name, 1, INT64_MAX);
  return number ? int64_t(*number) : 0;
}

Repository::Repository(std::string folder, Metrics &metrics)
    : folder(std::move(folder)), metrics(metrics),
      leaving(std::make_unique<Leaving>()),
      current(std::make_shared<const Models>()) {}

Repository::~Repository() = default;

void Repository::passOver(const fs::path &path, const char *why) {
  if (passedOver.insert(path.string()).second)
    pdlrt::logInfo(fmt::format("{} is passed over: {}", path.string(), why));
}

bool Repository::listFolder(std::vector<Key> &keys) {
  std::error_code error;
  std::string where = folder;
  for (fs::directory_iterator model(folder, error), end; !error && model != end;
       model.increment(error)) {
    const std::string name = model->path().filename().string();
    std::error_code ignored;
    if (name.starts_with("."))
      continue;
    // '@' stands before the name of a program.
    if (name.find('@') != std::string::npos || !model->is_directory(ignored)) {
      passOver(model->path(), "models are folders, without @ in their names");
      continue;
    }
    std::error_code inner;
    for (fs::directory_iterator version(model->path(), inner);
         !inner && version != end; version.increment(inner)) {
      const std::string inModel = version->path().filename().string();
      const int64_t number = versionNumber(inModel);
      if (number && version->is_directory(ignored))
        keys.emplace_back(name, number);
      else if (!inModel.starts_with("."))
        passOver(version->path(), "versions are folders, named by whole "
                                  "numbers from 1 on");
    }
    // It may have been taken away meanwhile.
    if (inner && inner != std::errc::no_such_file_or_directory) {
      error = inner;
      where = model->path().string();
      break;
    }
  }
  if (error && !wasUnreadable)
    pdlrt::logWarning(fmt::format("{}: {}; the models stay as they are", where,
                                  error.message()));
  wasUnreadable = bool(error);
  return !error;
}

/// What a loading says, with a sentence where there is no memory for it.
template <typename Load> static Status loadWith(Load &&load) {
  try {
    return load();
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory("there is no memory for it");
  }
}

void Repository::fail(const Key &key, Watched &watched,
                      const std::string &sentence) {
  if (sentence == watched.reason)
    return;
  watched.reason = sentence;
  const auto &[model, number] = key;
  metrics.countLoad(model, std::to_string(number), false);
  publish();
  pdlrt::logWarning(fmt::format("model {}, version {}: {}{}", model, number,
                                sentence,
                                watched.version ? "; what was loaded before "
                                                  "goes on"
                                                : ""));
}

/// What `load` returns, by a thread that may wait for servers.
template <typename Load> static std::future<Asked> askBeside(Load load) {
  const auto ask = [load = std::move(load)]() -> Asked {
    Asked asked;
    asked.status = loadWith([&] { return load(asked.version); });
    return asked;
  };
  try {
    return std::async(std::launch::async, ask);
  } catch (const std::system_error &) {
    std::promise<Asked> none;
    none.set_value({Status::outOfMemory("there is no thread for it"), {}});
    return none.get_future();
  }
}

void Repository::askServers(const Key &key, Watched &watched,
                            const Content &content) {
  if (watched.asking.valid()) {
    if (watched.askedFor == content) {
      if (!isDone(watched.asking))
        return;
      Asked asked = watched.asking.get();
      if (asked.version) {
        watched.version = std::move(asked.version);
        tell(key, watched, content, "loaded");
      } else if (!asked.status.ok()) {
        fail(key, watched, asked.status.message());
      } else {
        // Whatever was broken is gone.
        watched.reason.clear();
      }
      return;
    }
    leaving->asking.push_back(std::move(watched.asking));
  }
  watched.askedFor = content;
  if (watched.loaded != content) {
    // Servers may answer by now.
    watched.asking = askBeside([key, content, &metrics = metrics](
                                   std::shared_ptr<Version> &to) {
      auto opened = Version::open(key.first, key.second, content.library.path,
                                  content.values.path, metrics);
      if (opened)
        to = *std::move(opened);
      return opened.ok() ? Status() : opened.status();
    });
  } else if (!watched.reason.empty() || watched.version->isRefreshDue()) {
    watched.asking =
        askBeside([version = watched.version](std::shared_ptr<Version> &) {
          return version->refresh();
        });
  }
}

/// Publishes what was loaded, and says so.
void Repository::tell(const Key &key, Watched &watched, const Content &content,
                      const std::string &what) {
  const auto &[model, number] = key;
  metrics.countLoad(model, std::to_string(number), true);
  watched.loaded = content;
  watched.failed.reset();
  watched.reason.clear();
  tellValues(key, watched, what + " " + content.values.path);
}

void Repository::tellValues(const Key &key, const Watched &watched,
                            const std::string &what) {
  // Whoever reads of it finds it.
  publish();
  const pdl_serving_state state = watched.version->state();
  pdlrt::logInfo(fmt::format("model {}, version {}: {}, {} rows, {:.1f} MiB",
                             key.first, key.second, what, state.rows,
                             double(state.bytes) / (1 << 20)));
}

void Repository::lookAt(const Key &key, Watched &watched) {
  const auto &[model, number] = key;
  const fs::path path = fs::path(folder) / model / std::to_string(number);
  Expected<Content> content = contentOf(path);
  const bool isOfServers = content && isServersFile(content->values.path);
  // What servers were asked for is not wanted any more.
  if (watched.asking.valid() && !isOfServers)
    leaving->asking.push_back(std::move(watched.asking));
  if (!content) {
    fail(key, watched, content.status().message());
    return;
  }
  if (isOfServers) {
    askServers(key, watched, *content);
    return;
  }
  if (watched.loaded == *content) {
    // Whatever was broken is gone.
    watched.failed.reset();
    watched.reason.clear();
    return;
  }
  if (watched.failed == *content)
    return;
  const bool isNew = !watched.version || watched.version->isConnected() ||
                     watched.loaded->library != content->library;
  bool isOlder = false;
  Status status = loadWith([&]() -> Status {
    if (!isNew)
      return watched.version->reload(content->values.path);
    auto opened = Version::open(model, number, content->library.path,
                                content->values.path, metrics);
    Status status = opened.ok() ? Status() : opened.status();
    if (!opened && !watched.version && !content->checkpoints.empty()) {
      // An older checkpoint is better than none.
      opened = Version::open(model, number, content->library.path,
                             content->checkpoints, metrics);
      isOlder = opened.ok();
    }
    if (opened)
      watched.version = *std::move(opened);
    return status;
  });
  if (status.ok()) {
    tell(key, watched, *content, isNew ? "loaded" : "took the values of");
    return;
  }
  // What was removed or replaced while it was read, as old checkpoints are, has
  // not failed: the next look finds what is there by then.
  if (!isOlder) {
    const Expected<Content> now = contentOf(path);
    if (!now || *now != *content)
      return;
  }
  watched.failed = *content;
  if (isOlder) {
    // Newer values are taken without opening the library again.
    watched.loaded = *content;
    watched.loaded->values = {};
    tellValues(key, watched,
               "loaded an older checkpoint of " + content->checkpoints);
  }
  // Another thing that fails alike is told too.
  watched.reason.clear();
  fail(key, watched, status.message());
}

void Repository::look() {
  std::vector<Key> keys;
  if (!listFolder(keys))
    return;
  std::vector<Key> gone;
  for (const auto &[key, watched] : all)
    if (std::ranges::find(keys, key) == keys.end())
      gone.push_back(key);
  std::erase_if(leaving->asking, isDone);
  for (const Key &key : gone) {
    if (std::future<Asked> &asking = all[key].asking; asking.valid())
      leaving->asking.push_back(std::move(asking));
    all.erase(key);
    publish();
    const auto &[model, number] = key;
    metrics.removeVersion(model, std::to_string(number));
    pdlrt::logInfo(fmt::format("model {}, version {}: is gone from the folder "
                               "and answers no more",
                               model, number));
  }
  for (const Key &key : keys)
    lookAt(key, all[key]);
  publish();
}

bool Repository::isAsking() const {
  return !std::ranges::all_of(leaving->asking, isDone) ||
         std::ranges::any_of(all, [](const auto &each) {
           const Watched &watched = each.second;
           return watched.asking.valid() && !isDone(watched.asking);
         });
}

void Repository::lookFirst(std::chrono::milliseconds patience) {
  look();
  const auto until = std::chrono::steady_clock::now() + patience;
  bool isAsked = false;
  for (auto &[key, watched] : all)
    if (watched.asking.valid()) {
      isAsked = true;
      watched.asking.wait_until(until);
    }
  if (isAsked)
    look();
}

void Repository::publish() {
  auto models = std::make_shared<Models>();
  std::vector<Entry> entries;
  for (const auto &[key, watched] : all) {
    const std::string version = std::to_string(key.second);
    entries.push_back({key.first, version, watched.reason, watched.version});
    Metrics::Values values;
    values.isBroken = !watched.reason.empty();
    if (watched.version) {
      (*models)[key.first][key.second] = watched.version;
      const pdl_serving_state state = watched.version->state();
      values.steps = state.steps;
      values.rows = state.rows;
      values.bytes = state.bytes;
      values.loads = state.version;
      metrics.countRows(key.first, version, watched.version->takeRowCounts(),
                        watched.version->isConnected());
    }
    metrics.setVersion(key.first, version, values);
  }
  std::shared_ptr<const Models> old = std::move(models);
  {
    const std::lock_guard lock(mutex);
    std::swap(current, old);
    std::swap(listed, entries);
  }
}

Outcome Repository::find(std::string_view name, std::string_view version,
                         Found &found) const {
  std::shared_ptr<const Models> models;
  {
    const std::lock_guard lock(mutex);
    models = current;
  }
  const size_t at = name.find('@');
  const std::string_view modelName = name.substr(0, at);
  const auto model = models->find(modelName);
  if (model == models->end())
    return {Code::NotFound,
            fmt::format("there is no model '{}' that answers; the index of the "
                        "repository has those that do",
                        modelName)};
  const Versions &versions = model->second;
  if (version.empty()) {
    found.version = versions.rbegin()->second;
  } else {
    const auto wanted = versions.find(versionNumber(std::string(version)));
    if (wanted == versions.end())
      return {Code::NotFound,
              fmt::format("model '{}' has no version '{}' that answers; its "
                          "metadata have those that do",
                          modelName, version)};
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

bool Repository::isReady() const {
  const std::lock_guard lock(mutex);
  return !current->empty();
}

std::vector<Repository::Entry> Repository::entries() const {
  const std::lock_guard lock(mutex);
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
