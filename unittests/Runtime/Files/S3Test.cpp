//===- S3Test.cpp - Requests to S3-compatible stores ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/S3Settings.h"
#include "Files/S3/S3Store.h"
#include "Files/S3/S3Upload.h"
#include "Files/S3/Signature.h"
#include "Files/S3/XmlReader.h"
#include "Files/StoredStream.h"

#include "gmock/gmock.h"

#include <fmt/format.h>
#include <functional>
#include <map>
#include <mutex>

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

// The examples of "Signature Calculations for the Authorization Header" in the
// documentation of Amazon S3.
constexpr int64_t exampleTime = 1369353600; // 2013-05-24 00:00 UTC

std::string
exampleSignature(const std::string &path,
                 std::vector<std::pair<std::string, std::string>> query,
                 std::vector<std::pair<std::string, std::string>> headers) {
  S3Request request = {"GET", "", path, std::move(query), std::move(headers),
                       ""};
  const S3Credentials credentials = {
      "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  request.host = "examplebucket.s3.amazonaws.com";
  request.bodyDigest = hexSha256("");
  for (const auto &[name, value] :
       signRequest(request, credentials, "us-east-1", exampleTime))
    if (name == "authorization")
      return value.substr(value.rfind('=') + 1);
  return {};
}

TEST(SignatureTest, PublishedExamples) {
  EXPECT_EQ(exampleSignature("/test.txt", {}, {{"range", "bytes=0-9"}}),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(exampleSignature("/", {{"lifecycle", ""}}, {}),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(exampleSignature("/", {{"prefix", "J"}, {"max-keys", "2"}}, {}),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(XmlReaderTest, ReadsElements) {
  const auto xml = readXml("<?xml version=\"1.0\"?>\n<!-- a --><a:L xmlns='x'>"
                           "<K>1 &lt; 2 &amp;&#x20AC;&#65;</K><E/><K>b</K>"
                           "</a:L>\n");
  ASSERT_TRUE(xml);
  EXPECT_EQ(xml->name, "L");
  ASSERT_EQ(xml->elements.size(), 3u);
  EXPECT_EQ(xml->textOf("K"), "1 < 2 &\u20acA");
  EXPECT_EQ(xml->elements[2].text, "b");
  EXPECT_EQ(xml->find("none"), nullptr);
}

TEST(XmlReaderTest, RefusesOtherTexts) {
  for (const char *text :
       {"", "a", "<a>", "<a></b>", "<a>&none;</a>", "<a>&#0;</a>", "<a b></a>",
        "<a/><b/>", "<!DOCTYPE a><a/>", "<a><![CDATA[x]]></a>", "<a b='1></a>",
        "<a>&#xD800;</a>", "<a>&amp</a>", "</a>", "<a", "<a>x</a>y"})
    EXPECT_FALSE(readXml(text)) << text;
  std::string deep, end;
  for (int i = 0; i < 1000; ++i)
    deep += "<a>", end += "</a>";
  EXPECT_FALSE(readXml(deep + end));
}

HttpResponse
respond(int status, std::string body = {},
        std::vector<std::pair<std::string, std::string>> headers = {}) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  response.headers = std::move(headers);
  return response;
}

/// A store in memory that answers requests as S3 does, with failures.
class MemoryStore final : public HttpClient {
public:
  /// Returns the status that a request fails with; 0: none; -1: the request is
  /// carried out, but its response is lost.
  using Fault = std::function<int(const HttpRequest &, size_t number)>;

  HttpResponse send(const HttpRequest &request) override {
    const std::lock_guard lock(mutex);
    const int fault = onRequest ? onRequest(request, requests) : 0;
    ++requests;
    if (fault > 0)
      return respond(fault, "<Error><Code>SlowDown</Code></Error>");
    HttpResponse response = answer(request);
    if (fault < 0) {
      response = {};
      response.error = "the connection was cut";
      response.isTransient = true;
      return response;
    }
    if (request.out && response.status / 100 == 2) {
      response.outBytes = std::min(response.body.size(), request.outBytes);
      response.body.copy(request.out, response.outBytes);
    }
    return response;
  }

  std::mutex mutex;
  std::map<std::string, std::string> objects;
  std::map<int, std::string> parts;
  size_t requests = 0, aborts = 0, pageSize = 1000;
  Fault onRequest;

private:
  static std::string tagOf(const std::string &bytes) {
    return '"' + std::to_string(std::hash<std::string>()(bytes)) + '"';
  }
  static std::string headerOf(const HttpRequest &request,
                              std::string_view name) {
    for (const auto &[key, value] : request.headers)
      if (key == name)
        return value;
    return {};
  }
  HttpResponse answer(const HttpRequest &request) {
    const std::string rest = request.url.substr(sizeof("http://h/b/") - 1);
    const std::string key = rest.substr(0, rest.find('?'));
    const std::string query = key.size() < rest.size()
                                  ? "&" + rest.substr(key.size() + 1)
                                  : std::string();
    if (query.find("&list-type=2") != std::string::npos)
      return list(query);
    if (query.find("&uploads=") != std::string::npos)
      return respond(200, "<R><UploadId>u</UploadId></R>");
    if (const size_t at = query.find("&partNumber="); at != std::string::npos) {
      parts[std::stoi(query.substr(at + 12))] = request.body;
      return respond(200, {}, {{"etag", tagOf(std::string(request.body))}});
    }
    if (query.find("&uploadId=") != std::string::npos) {
      if (request.method == "DELETE") {
        ++aborts;
        parts.clear();
        return respond(204);
      }
      if (parts.empty())
        return respond(404);
      objects[key].clear();
      for (const auto &[number, bytes] : parts)
        objects[key] += bytes;
      parts.clear();
      return respond(200, "<CompleteMultipartUploadResult/>");
    }
    const auto found = objects.find(key);
    if (request.method == "PUT") {
      const std::string match = headerOf(request, "if-match");
      const bool isRefused =
          (headerOf(request, "if-none-match") == "*" &&
           found != objects.end()) ||
          (!match.empty() &&
           (found == objects.end() || tagOf(found->second) != match));
      if (isRefused)
        return respond(412);
      objects[key] = request.body;
      return respond(200);
    }
    if (request.method == "DELETE") {
      objects.erase(key);
      return respond(204);
    }
    if (found == objects.end())
      return respond(404);
    HttpResponse response =
        respond(200, {},
                {{"etag", tagOf(found->second)},
                 {"content-length", std::to_string(found->second.size())},
                 {"last-modified", "Sun, 29 Nov 2026 10:00:00 GMT"}});
    if (request.method == "HEAD")
      return response;
    if (headerOf(request, "if-match") != tagOf(found->second))
      return respond(412);
    unsigned long long first = 0, last = 0;
    EXPECT_EQ(std::sscanf(headerOf(request, "range").c_str(), "bytes=%llu-%llu",
                          &first, &last),
              2);
    response.status = 206;
    response.body = found->second.substr(first, last - first + 1);
    return response;
  }
  HttpResponse list(const std::string &query) {
    const auto parameter = [&](const std::string &name) {
      const size_t at = query.find("&" + name + "=");
      if (at == std::string::npos)
        return std::string();
      const size_t begin = at + name.size() + 2;
      return query.substr(begin, query.find('&', begin) - begin);
    };
    const auto decoded = [&](const std::string &name) {
      std::string text = parameter(name);
      for (size_t at; (at = text.find("%2F")) != std::string::npos;)
        text.replace(at, 3, "/");
      return text;
    };
    const std::string prefix = decoded("prefix");
    const std::string after = decoded("continuation-token");
    std::string entries, last;
    size_t count = 0;
    for (const auto &[key, bytes] : objects) {
      if (!key.starts_with(prefix) || (!after.empty() && key <= after))
        continue;
      if (count++ == pageSize) {
        entries += "<IsTruncated>true</IsTruncated><NextContinuationToken>" +
                   last + "</NextContinuationToken>";
        break;
      }
      last = key;
      const size_t slash = key.find('/', prefix.size());
      if (parameter("delimiter").empty() || slash == std::string::npos)
        entries += fmt::format(
            "<Contents><Key>{}</Key><Size>{}</Size><ETag>{}</ETag>"
            "<LastModified>2026-11-29T10:00:00.000Z</LastModified></Contents>",
            key, bytes.size(), tagOf(bytes));
      else if (entries.find("<Prefix>" + key.substr(0, slash + 1)) ==
               std::string::npos)
        entries += "<CommonPrefixes><Prefix>" + key.substr(0, slash + 1) +
                   "</Prefix></CommonPrefixes>";
    }
    return respond(200, "<ListBucketResult>" + entries + "</ListBucketResult>");
  }
};

class S3StoreTest : public testing::Test {
protected:
  S3StoreTest() {
    S3Environment environment = {[](const char *name) -> const char * {
      const std::string_view asked = name;
      return asked == "AWS_ACCESS_KEY_ID"       ? "id"
             : asked == "AWS_SECRET_ACCESS_KEY" ? "hidden"
                                                : nullptr;
    }};
    S3Settings settings;
    settings.endpoint = "http://h";
    settings.hasBucketInPath = true;
    settings.maxAttempts = 4;
    store = createS3Store(std::make_unique<S3Client>(
        http, settings, std::move(environment), [this](double seconds) {
          const std::lock_guard lock(http.mutex);
          slept += seconds;
        }));
  }
  /// Writes a file of `size` bytes and returns them.
  std::string write(const std::string &key, size_t size) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i)
      bytes[i] = char('a' + i % 23 + i / 100000 % 3);
    auto writer = store->create("s3://b/" + key, size);
    EXPECT_TRUE(writer.ok());
    for (size_t at = 0; at < size; at += 3000000)
      EXPECT_TRUE(
          (*writer)
              ->write(bytes.data() + at, std::min<size_t>(3000000, size - at))
              .ok());
    const Status status = (*writer)->commit();
    EXPECT_TRUE(status.ok()) << status.message();
    return bytes;
  }

  MemoryStore http;
  double slept = 0;
  std::unique_ptr<Store> store;
};

constexpr size_t partBytes = size_t(16) << 20;

TEST_F(S3StoreTest, SmallAndLargeFiles) {
  for (const size_t size : {size_t(0), size_t(5), partBytes - 1, partBytes,
                            partBytes + 1, 5 * partBytes + 7}) {
    const std::string bytes = write("x", size);
    EXPECT_TRUE(http.objects["x"] == bytes) << size;
  }
  EXPECT_EQ(http.aborts, 0u);
}

TEST_F(S3StoreTest, AbortsWhatIsNotCommitted) {
  {
    auto writer = store->create("s3://b/x", 0);
    ASSERT_TRUE(writer.ok());
    const std::string part(partBytes + 1, 'x');
    ASSERT_TRUE((*writer)->write(part.data(), part.size()).ok());
  }
  EXPECT_EQ(http.aborts, 1u);
  EXPECT_TRUE(http.objects.empty());
}

TEST_F(S3StoreTest, RetriesAndLostResponses) {
  // The first attempt of each request fails, and the response to the second one
  // is lost.
  std::map<std::string, int> attempts;
  http.onRequest = [&](const HttpRequest &request, size_t) {
    const int attempt = attempts[request.method + request.url]++ % 3;
    return attempt == 0 ? 503 : attempt == 1 ? -1 : 0;
  };
  const std::string bytes = write("x", 3 * partBytes);
  EXPECT_TRUE(http.objects["x"] == bytes);
  EXPECT_GT(slept, 0);
  // A repeated request finds what its lost predecessor has written.
  EXPECT_TRUE(store->publish("s3://b/y", "text", {}).ok());
  EXPECT_EQ(http.objects["y"], "text");
  http.onRequest = [](const HttpRequest &, size_t) { return 503; };
  const size_t before = http.requests;
  const auto found = store->find("s3://b/x");
  EXPECT_EQ(found.status().code(), PDL_UNAVAILABLE);
  EXPECT_THAT(found.status().message(),
              HasSubstr("s3://b/x: cannot be read: 503 SlowDown (4 attempts)"));
  EXPECT_EQ(http.requests, before + 4);
}

TEST_F(S3StoreTest, PublishesOnce) {
  EXPECT_TRUE(store->publish("s3://b/m", "1", {}).ok());
  EXPECT_EQ(store->publish("s3://b/m", "2", {}).code(),
            PDL_FAILED_PRECONDITION);
  EXPECT_EQ(http.objects["m"], "1");
  const auto info = store->find("s3://b/m");
  ASSERT_TRUE(info.ok() && *info);
  EXPECT_TRUE(store->publish("s3://b/m", "3", {(*info)->version}).ok());
  EXPECT_EQ(store->publish("s3://b/m", "4", {(*info)->version}).code(),
            PDL_FAILED_PRECONDITION);
  EXPECT_EQ(http.objects["m"], "3");
  // Another process has written other bytes, and our response was lost.
  http.objects["n"] = "other";
  http.onRequest = [first = true](const HttpRequest &request, size_t) mutable {
    return request.method == "PUT" && std::exchange(first, false) ? -1 : 0;
  };
  EXPECT_EQ(store->publish("s3://b/n", "mine", {}).code(),
            PDL_FAILED_PRECONDITION);
}

TEST_F(S3StoreTest, ListsPagesAndFolders) {
  http.pageSize = 2;
  for (const char *key : {"p/a", "p/b/1", "p/b/2", "p/c", "p/d/1", "q"})
    http.objects[key] = "x";
  const auto all = store->list("s3://b/p", true);
  ASSERT_TRUE(all.ok()) << all.status().message();
  std::vector<std::string> paths;
  for (const StoredFileInfo &info : *all)
    paths.push_back(info.path);
  EXPECT_THAT(paths, ElementsAre("s3://b/p/a", "s3://b/p/b/1", "s3://b/p/b/2",
                                 "s3://b/p/c", "s3://b/p/d/1"));
  EXPECT_EQ(all->front().modified, 1795946400);
  EXPECT_EQ(all->front().bytes, 1u);
  http.pageSize = 1000;
  const auto direct = store->list("s3://b/p/", false);
  ASSERT_TRUE(direct.ok());
  EXPECT_EQ(direct->size(), 2u);
  const auto folders = store->listFolders("s3://b/p");
  ASSERT_TRUE(folders.ok());
  EXPECT_THAT(*folders, ElementsAre("s3://b/p/b", "s3://b/p/d"));
}

TEST_F(S3StoreTest, NoticesChanges) {
  http.objects["x"] = "abcdef";
  const auto file = store->open("s3://b/x");
  ASSERT_TRUE(file.ok());
  char bytes[3];
  ASSERT_TRUE((*file)->readAt(2, 3, bytes).ok());
  EXPECT_EQ(std::string(bytes, 3), "cde");
  http.objects["x"] = "ABCDEF";
  EXPECT_THAT((*file)->readAt(2, 3, bytes).message(),
              HasSubstr("was changed or removed"));
  EXPECT_EQ(store->open("s3://b/none").status().code(), PDL_NOT_FOUND);
  EXPECT_TRUE(store->remove("s3://b/x").ok());
  EXPECT_TRUE(store->remove("s3://b/x").ok());
  EXPECT_TRUE(http.objects.empty());
}

TEST_F(S3StoreTest, StreamReadsAndSkips) {
  const std::string bytes = write("x", 20000003);
  for (const uint64_t step : {uint64_t(0), uint64_t(1000), uint64_t(9000000)}) {
    auto file = store->open("s3://b/x");
    ASSERT_TRUE(file.ok());
    StoredStream stream(*file);
    std::string piece(777777, '\0');
    uint64_t at = 0;
    while (true) {
      const auto count = stream.read(piece.data(), piece.size());
      ASSERT_TRUE(count.ok());
      if (*count == 0)
        break;
      ASSERT_TRUE(bytes.compare(at, *count, piece, 0, *count) == 0) << at;
      at += *count;
      if (at + step <= bytes.size()) {
        stream.skip(step);
        at += step;
      }
    }
    EXPECT_EQ(at, bytes.size());
  }
}

TEST(S3AddressTest, Parses) {
  const auto address = S3Address::parse("s3://a.b-c/d//e f");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->bucket, "a.b-c");
  EXPECT_EQ(address->key, "d//e f");
  EXPECT_EQ(S3Address::parse("s3://b").status().ok(), true);
  for (const char *bad : {"s3://", "s3:///x", "s3://a b/x", "/a/b"})
    EXPECT_FALSE(S3Address::parse(bad).ok()) << bad;
}

TEST(StoreTest, Schemes) {
  EXPECT_EQ(schemeOf("s3://b/x"), "s3");
  EXPECT_EQ(schemeOf("/a/b://c"), "");
  EXPECT_EQ(schemeOf("://x"), "");
  EXPECT_TRUE(isInObjectStore("s3://b/x"));
  EXPECT_FALSE(isInObjectStore("hdfs://b/x"));
  EXPECT_THAT(storeOf("hdfs://b/x").status().message(), HasSubstr("s3://"));
}

} // namespace
