//===- LocalStore.cpp - Files of this host as a store ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/FileFailure.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Files/FileBytes.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>

using namespace pdlrt;
namespace fs = std::filesystem;

static StoredFileInfo infoOf(const std::string &path,
                             const struct stat &found) {
  return {path, uint64_t(found.st_size),
          fmt::format("{:x}-{:x}-{}.{:09}", found.st_dev, found.st_ino,
                      found.st_mtim.tv_sec, found.st_mtim.tv_nsec),
          found.st_mtim.tv_sec};
}

namespace {

class LocalFile final : public StoredFile {
public:
  LocalFile(FileBytes bytes, StoredFileInfo info)
      : bytes(std::move(bytes)), about(std::move(info)) {}
  const StoredFileInfo &info() const override { return about; }
  Status readAt(uint64_t offset, size_t count, void *out,
                const std::atomic<bool> *) const override {
    return bytes.readAt(offset, count, out);
  }

private:
  const FileBytes bytes;
  const StoredFileInfo about;
};

class LocalWriter final : public StoreWriter {
public:
  explicit LocalWriter(const std::string &path) : file(path) {}
  Status create() { return file.create(); }
  Status write(const void *data, size_t size) override {
    return file.write(data, size);
  }
  Status commit() override { return file.commit(); }

private:
  TemporaryFile file;
};

class LocalStore final : public Store {
public:
  Expected<std::vector<StoredFileInfo>> list(const std::string &folder,
                                             bool isRecursive) override;
  Expected<std::vector<std::string>>
  listFolders(const std::string &folder) override;
  Expected<std::optional<StoredFileInfo>>
  find(const std::string &path) override;
  Expected<std::shared_ptr<const StoredFile>>
  open(const std::string &path, const StoredFileInfo *known) override;
  Expected<std::unique_ptr<StoreWriter>>
  create(const std::string &path, uint64_t expectedBytes) override;
  Status publish(const std::string &path, std::string_view bytes,
                 const PublishCondition &condition) override;
  Status remove(const std::string &path) override;
};

} // namespace

static Status cannotList(const std::string &folder,
                         const std::error_code &error) {
  return Status::ofErrno(error.value(),
                         folder + ": cannot be listed: " + error.message() +
                             "; name a folder that can");
}

Expected<std::vector<StoredFileInfo>>
LocalStore::list(const std::string &folder, bool isRecursive) {
  std::vector<StoredFileInfo> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    if (!isRecursive)
      entry.disable_recursion_pending();
    struct stat found;
    const std::string path = entry->path().string();
    if (::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode))
      files.push_back(infoOf(path, found));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return cannotList(folder, error);
  std::ranges::sort(files, {}, &StoredFileInfo::path);
  return files;
}

Expected<std::vector<std::string>>
LocalStore::listFolders(const std::string &folder) {
  std::vector<std::string> folders;
  std::error_code error, ignored;
  fs::directory_iterator entry(folder, error);
  for (const fs::directory_iterator end; !error && entry != end;
       entry.increment(error))
    if (entry->is_directory(ignored))
      folders.push_back(entry->path().string());
  if (error && error != std::errc::no_such_file_or_directory)
    return cannotList(folder, error);
  std::ranges::sort(folders);
  return folders;
}

Expected<std::optional<StoredFileInfo>>
LocalStore::find(const std::string &path) {
  struct stat found;
  if (::stat(path.c_str(), &found) == 0)
    return S_ISREG(found.st_mode) ? std::optional(infoOf(path, found))
                                  : std::nullopt;
  if (errno == ENOENT || errno == ENOTDIR)
    return std::optional<StoredFileInfo>();
  return fileFailure(path, "cannot be examined", errno);
}

Expected<std::shared_ptr<const StoredFile>>
LocalStore::open(const std::string &path, const StoredFileInfo *known) {
  auto bytes = FileBytes::open(path, "name a file");
  PDLRT_RETURN_IF_ERROR(bytes.status());
  auto found = find(path);
  PDLRT_RETURN_IF_ERROR(found.status());
  const std::optional<StoredFileInfo> &info = *found;
  if (!info || info->bytes != bytes->size() ||
      (known && info->version != known->version))
    return Status::failedPrecondition(
        path + ": was changed or removed; do not change a file that is read");
  return std::shared_ptr<const StoredFile>(
      std::make_shared<LocalFile>(*std::move(bytes), *info));
}

/// Creates the folder of a file.
static Status createFolderOf(const std::string &path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty())
    fs::create_directories(folder, error);
  return error
             ? fileFailure(folder.string(), "cannot be created", error.value())
             : Status();
}

Expected<std::unique_ptr<StoreWriter>>
LocalStore::create(const std::string &path, uint64_t) {
  PDLRT_RETURN_IF_ERROR(createFolderOf(path));
  auto writer = std::make_unique<LocalWriter>(path);
  PDLRT_RETURN_IF_ERROR(writer->create());
  return std::unique_ptr<StoreWriter>(std::move(writer));
}

// The check of a replaced version and the rename are two steps: processes of
// one host that replace the same file use a lock of their own (LockFile.h).
Status LocalStore::publish(const std::string &path, std::string_view bytes,
                           const PublishCondition &condition) {
  PDLRT_RETURN_IF_ERROR(createFolderOf(path));
  if (condition.replaced) {
    auto found = find(path);
    PDLRT_RETURN_IF_ERROR(found.status());
    const std::optional<StoredFileInfo> &now = *found;
    if (!now || now->version != *condition.replaced)
      return Status::failedPrecondition(
          path + ": was changed or removed by another process");
    LocalWriter writer(path);
    PDLRT_RETURN_IF_ERROR(writer.create());
    PDLRT_RETURN_IF_ERROR(writer.write(bytes.data(), bytes.size()));
    return writer.commit();
  }
  // Written under another name first, because the new name must not show a
  // part of the bytes.
  const std::string hidden = fmt::format("{}.new.{}", path, ::getpid());
  LocalWriter writer(hidden);
  PDLRT_RETURN_IF_ERROR(writer.create());
  PDLRT_RETURN_IF_ERROR(writer.write(bytes.data(), bytes.size()));
  PDLRT_RETURN_IF_ERROR(writer.commit());
  Status renamed = renameToNew(hidden, path);
  if (!renamed.ok())
    ::unlink(hidden.c_str());
  return renamed;
}

Status LocalStore::remove(const std::string &path) {
  std::error_code error;
  fs::remove(path, error);
  return error ? fileFailure(path, "cannot be removed", error.value())
               : Status();
}

Store &pdlrt::localStore() {
  static auto *store = new LocalStore;
  return *store;
}
