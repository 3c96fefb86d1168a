//===- S3Store.cpp - S3-compatible object stores --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/S3Store.h"

#include "Files/S3/S3Upload.h"
#include "Files/S3/XmlReader.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <thread>
#include <utility>

using namespace pdlrt;

namespace {

class S3File final : public StoredFile {
public:
  S3File(S3Client &client, S3Address address, StoredFileInfo info)
      : client(client), address(std::move(address)), about(std::move(info)) {}
  const StoredFileInfo &info() const override { return about; }
  Status readAt(uint64_t offset, size_t count, void *out,
                const std::atomic<bool> *cancel) const override;

private:
  S3Client &client;
  const S3Address address;
  const StoredFileInfo about;
};

class S3Store final : public Store {
public:
  explicit S3Store(std::unique_ptr<S3Client> client)
      : client(std::move(client)) {}
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

private:
  /// Calls `take` with each page of a list.
  Status readPages(
      const std::string &folder, bool hasFolders,
      const std::function<Status(const S3Address &, const XmlElement &)> &take);

  const std::unique_ptr<S3Client> client;
};

} // namespace

/// Largest range of one request. A lost connection repeats no more than this.
static constexpr size_t maxRangeBytes = size_t(64) << 20;

static bool readNumber(std::string_view text, uint64_t &number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && !text.empty() &&
         end == text.data() + text.size();
}

/// Returns the text with %XX and + replaced by what they stand for.
static std::string decodeKey(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '+') {
      decoded += ' ';
    } else if (text[i] == '%' && i + 2 < text.size() &&
               std::from_chars(text.data() + i + 1, text.data() + i + 3, byte,
                               16)
                       .ptr == text.data() + i + 3) {
      decoded += char(byte);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

static Status badAnswer(const std::string &address) {
  return Status::ioError(address +
                         ": the store's answer is not one of S3; check "
                         "AWS_ENDPOINT_URL_S3");
}

static Status hasChanged(const std::string &address) {
  return Status::failedPrecondition(
      address + ": was changed or removed after this program had looked it "
                "up; do not change an object that is read");
}

Status S3File::readAt(uint64_t offset, size_t count, void *out,
                      const std::atomic<bool> *cancel) const {
  auto *next = static_cast<char *>(out);
  while (count > 0) {
    const size_t some = std::min(count, maxRangeBytes);
    S3Call call = {"GET", address};
    call.headers = {
        {"if-match", about.version},
        {"range", fmt::format("bytes={}-{}", offset, offset + some - 1)}};
    call.out = next;
    call.outBytes = some;
    call.cancel = cancel;
    auto response = client.send(call, {404, 412, 416});
    PDLRT_RETURN_IF_ERROR(response.status());
    if (response->http.status != 206 && response->http.status != 200)
      return hasChanged(about.path);
    if (response->http.outBytes != some ||
        (response->http.status == 200 && (offset != 0 || some != about.bytes)))
      return badAnswer(about.path);
    next += some;
    offset += some;
    count -= some;
  }
  return {};
}

/// Returns the prefix of the names in a folder.
static std::string prefixOf(const S3Address &address) {
  return address.key.empty() || address.key.ends_with('/') ? address.key
                                                           : address.key + "/";
}

Status S3Store::readPages(
    const std::string &folder, bool hasFolders,
    const std::function<Status(const S3Address &, const XmlElement &)> &take) {
  auto address = S3Address::parse(folder);
  PDLRT_RETURN_IF_ERROR(address.status());
  const S3Address bucket = {address->bucket, ""};
  std::string next;
  while (true) {
    S3Call call = {"GET", bucket, "cannot be listed"};
    call.query = {{"list-type", "2"},
                  {"encoding-type", "url"},
                  {"prefix", prefixOf(*address)}};
    if (hasFolders)
      call.query.emplace_back("delimiter", "/");
    if (!next.empty())
      call.query.emplace_back("continuation-token", next);
    auto response = client->send(call);
    PDLRT_RETURN_IF_ERROR(response.status());
    const auto page = readXml(response->http.body);
    if (!page || page->name != "ListBucketResult")
      return badAnswer(folder);
    PDLRT_RETURN_IF_ERROR(take(bucket, *page));
    if (page->textOf("IsTruncated") != "true")
      return {};
    const std::string_view token = page->textOf("NextContinuationToken");
    if (token.empty() || token == next)
      return badAnswer(folder);
    next = token;
  }
}

/// Reads a time such as 2026-11-29T10:00:00.000Z; 0 if it is no time.
static int64_t readTime(std::string_view text, const char *format) {
  std::tm time = {};
  return ::strptime(std::string(text).c_str(), format, &time) ? ::timegm(&time)
                                                              : 0;
}

Expected<std::vector<StoredFileInfo>> S3Store::list(const std::string &folder,
                                                    bool isRecursive) {
  std::vector<StoredFileInfo> files;
  Status status = readPages(
      folder, !isRecursive,
      [&](const S3Address &bucket, const XmlElement &page) {
        for (const XmlElement &entry : page.elements) {
          if (entry.name != "Contents")
            continue;
          StoredFileInfo info;
          const std::string key = decodeKey(entry.textOf("Key"));
          if (key.empty() || !readNumber(entry.textOf("Size"), info.bytes))
            return badAnswer(folder);
          // Some programs make folders as empty objects.
          if (key.ends_with('/') && info.bytes == 0)
            continue;
          info.path = S3Address{bucket.bucket, key}.text();
          info.version = entry.textOf("ETag");
          info.modified =
              readTime(entry.textOf("LastModified"), "%Y-%m-%dT%H:%M:%S");
          files.push_back(std::move(info));
        }
        return Status();
      });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  std::ranges::sort(files, {}, &StoredFileInfo::path);
  return files;
}

Expected<std::vector<std::string>>
S3Store::listFolders(const std::string &folder) {
  std::vector<std::string> folders;
  Status status = readPages(
      folder, true, [&](const S3Address &bucket, const XmlElement &page) {
        for (const XmlElement &entry : page.elements) {
          if (entry.name != "CommonPrefixes")
            continue;
          std::string key = decodeKey(entry.textOf("Prefix"));
          if (!key.ends_with('/'))
            return badAnswer(folder);
          key.pop_back();
          folders.push_back(S3Address{bucket.bucket, key}.text());
        }
        return Status();
      });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  std::ranges::sort(folders);
  return folders;
}

Expected<std::optional<StoredFileInfo>> S3Store::find(const std::string &path) {
  auto address = S3Address::parse(path);
  PDLRT_RETURN_IF_ERROR(address.status());
  if (address->key.empty())
    return std::optional<StoredFileInfo>();
  S3Call call = {"HEAD", *address};
  auto response = client->send(call, {404});
  PDLRT_RETURN_IF_ERROR(response.status());
  if (response->http.status == 404)
    return std::optional<StoredFileInfo>();
  StoredFileInfo info;
  info.path = path;
  info.version = response->http.header("etag");
  info.modified =
      readTime(response->http.header("last-modified"), "%a, %d %b %Y %H:%M:%S");
  if (!readNumber(response->http.header("content-length"), info.bytes))
    return badAnswer(path);
  return std::optional(std::move(info));
}

Expected<std::shared_ptr<const StoredFile>>
S3Store::open(const std::string &path, const StoredFileInfo *known) {
  auto address = S3Address::parse(path);
  PDLRT_RETURN_IF_ERROR(address.status());
  if (known)
    return std::shared_ptr<const StoredFile>(
        std::make_shared<S3File>(*client, *std::move(address), *known));
  auto found = find(path);
  PDLRT_RETURN_IF_ERROR(found.status());
  const std::optional<StoredFileInfo> &info = *found;
  if (!info)
    return Status::notFound(path +
                            ": there is no such object; check the address");
  return std::shared_ptr<const StoredFile>(
      std::make_shared<S3File>(*client, *std::move(address), *info));
}

Expected<std::unique_ptr<StoreWriter>> S3Store::create(const std::string &path,
                                                       uint64_t expectedBytes) {
  auto address = S3Address::parse(path);
  PDLRT_RETURN_IF_ERROR(address.status());
  return std::unique_ptr<StoreWriter>(
      std::make_unique<S3Upload>(*client, *std::move(address), expectedBytes));
}

Status S3Store::publish(const std::string &path, std::string_view bytes,
                        const PublishCondition &condition) {
  auto address = S3Address::parse(path);
  PDLRT_RETURN_IF_ERROR(address.status());
  S3Call call = {"PUT", *address, "cannot be written"};
  if (condition.replaced)
    call.headers = {{"if-match", *condition.replaced}};
  else
    call.headers = {{"if-none-match", "*"}};
  call.body = bytes;
  auto response = client->send(call, {412});
  PDLRT_RETURN_IF_ERROR(response.status());
  if (response->http.status != 412)
    return {};
  // The response to an earlier attempt was lost; it may have written the file.
  if (response->isRepeated) {
    auto now = open(path, nullptr);
    if (now && (*now)->info().bytes == bytes.size()) {
      std::string found(bytes.size(), '\0');
      PDLRT_RETURN_IF_ERROR((*now)->readAt(0, found.size(), found.data()));
      if (found == bytes)
        return {};
    }
  }
  return Status::failedPrecondition(
      path + (condition.replaced
                  ? ": was changed or removed by another process"
                  : ": something has that name by now, and stays"));
}

Status S3Store::remove(const std::string &path) {
  auto address = S3Address::parse(path);
  PDLRT_RETURN_IF_ERROR(address.status());
  S3Call call = {"DELETE", *address, "cannot be removed"};
  return client->send(call, {404}).status();
}

std::unique_ptr<Store> pdlrt::createS3Store(std::unique_ptr<S3Client> client) {
  return std::make_unique<S3Store>(std::move(client));
}

static Expected<Store *> openS3Store() {
  auto http = curlClient();
  PDLRT_RETURN_IF_ERROR(http.status());
  S3Environment environment = s3Environment();
  auto profile = readS3Profile(environment);
  PDLRT_RETURN_IF_ERROR(profile.status());
  auto settings = readS3Settings(environment, *profile);
  PDLRT_RETURN_IF_ERROR(settings.status());
  auto client = std::make_unique<S3Client>(
      **http, *std::move(settings), std::move(environment), [](double seconds) {
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      });
  return createS3Store(std::move(client)).release();
}

Expected<Store *> pdlrt::s3Store() {
  static const Expected<Store *> store = openS3Store();
  return store;
}
