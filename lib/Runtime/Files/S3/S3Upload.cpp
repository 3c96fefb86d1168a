//===- S3Upload.cpp - Uploads a file in parts -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/S3Upload.h"

#include "Files/S3/XmlReader.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

static constexpr size_t minPartBytes = size_t(16) << 20;
/// S3 allows 10,000 parts. Fewer leave room if a file is larger than expected.
static constexpr uint64_t plannedParts = 4000;
static constexpr const char *writeVerb = "cannot be written";

size_t S3Upload::partBytesFor(uint64_t expectedBytes) {
  constexpr uint64_t step = uint64_t(1) << 20;
  const uint64_t wanted = (expectedBytes / plannedParts + step) / step * step;
  return std::max<uint64_t>(minPartBytes, wanted);
}

S3Upload::S3Upload(S3Client &client, S3Address address, uint64_t expectedBytes)
    : client(client), address(std::move(address)),
      partBytes(partBytesFor(expectedBytes)) {}

S3Upload::~S3Upload() {
  if (!isCommitted && !uploadId.empty())
    abort();
}

Status S3Upload::write(const void *data, size_t size) {
  const auto *next = static_cast<const char *>(data);
  while (size > 0) {
    const size_t some = std::min(size, partBytes - filling.size());
    filling.append(next, some);
    next += some;
    size -= some;
    total += some;
    if (filling.size() == partBytes)
      PDLRT_RETURN_IF_ERROR(sendPart());
  }
  return {};
}

Status S3Upload::begin() {
  S3Call call = {"POST", address, writeVerb, {{"uploads", ""}}};
  auto response = client.send(call);
  PDLRT_RETURN_IF_ERROR(response.status());
  const auto xml = readXml(response->http.body);
  uploadId = xml ? xml->textOf("UploadId") : std::string_view();
  if (uploadId.empty())
    return Status::ioError(address.text() +
                           ": cannot be written: the store's answer has no "
                           "UploadId; check AWS_ENDPOINT_URL_S3");
  return {};
}

/// Waits for the oldest part that is being sent.
Status S3Upload::finishOldest() {
  const std::unique_ptr<Part> part = std::move(pending.front());
  pending.pop_front();
  PDLRT_RETURN_IF_ERROR(part->task->wait());
  tags.push_back(std::move(part->tag));
  return {};
}

/// Sends the part that is being filled, in the background.
Status S3Upload::sendPart() {
  if (uploadId.empty())
    PDLRT_RETURN_IF_ERROR(begin());
  if (pending.size() >= maxPending)
    PDLRT_RETURN_IF_ERROR(finishOldest());
  auto part = std::make_unique<Part>();
  part->bytes = std::exchange(filling, {});
  Part *const sent = part.get();
  const size_t number = ++started;
  part->task = std::make_unique<BackgroundTask>("upload", [this, sent, number] {
    S3Call call = {
        "PUT",
        address,
        writeVerb,
        {{"partNumber", std::to_string(number)}, {"uploadId", uploadId}}};
    call.body = sent->bytes;
    auto response = client.send(call);
    PDLRT_RETURN_IF_ERROR(response.status());
    sent->tag = response->http.header("etag");
    sent->bytes = {};
    return sent->tag.empty()
               ? Status::ioError(address.text() +
                                 ": cannot be written: the store's answer has "
                                 "no ETag; check AWS_ENDPOINT_URL_S3")
               : Status();
  });
  pending.push_back(std::move(part));
  return {};
}

Status S3Upload::checkSize() {
  S3Call call = {"HEAD", address, writeVerb};
  auto response = client.send(call);
  PDLRT_RETURN_IF_ERROR(response.status());
  const std::string_view bytes = response->http.header("content-length");
  if (bytes == std::to_string(total))
    return {};
  return Status::dataLoss(
      fmt::format("{}: has {} bytes in the store instead of {}; write it again",
                  address.text(), bytes, total));
}

/// Writes a file that is smaller than a part.
Status S3Upload::putWhole() {
  S3Call call = {"PUT", address, writeVerb};
  call.body = filling;
  PDLRT_RETURN_IF_ERROR(client.send(call).status());
  return {};
}

Status S3Upload::complete() {
  std::string body = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < tags.size(); ++i) {
    std::string tag;
    for (const char c : tags[i])
      tag += c == '"' ? "&quot;" : c == '&' ? "&amp;" : std::string(1, c);
    body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag>"
                        "</Part>",
                        i + 1, tag);
  }
  body += "</CompleteMultipartUpload>";
  S3Call call = {"POST", address, writeVerb, {{"uploadId", uploadId}}};
  call.body = body;
  // 404: an earlier attempt has completed the upload, and its response was
  // lost. `checkSize` then decides.
  auto response = client.send(call, {404});
  PDLRT_RETURN_IF_ERROR(response.status());
  if (response->http.status == 404 && !response->isRepeated)
    return Status::unavailable(address.text() +
                               ": cannot be written: the store has dropped the "
                               "upload; write it again");
  // The store may find an error after it has sent the status 200. Stores name
  // the element of a success differently.
  const auto xml = readXml(response->http.body);
  if (response->http.status == 200 && (!xml || xml->name == "Error"))
    return Status::unavailable(
        address.text() + ": cannot be written: " +
        std::string(xml ? xml->textOf("Message") : "the answer is no XML") +
        "; write it again");
  return checkSize();
}

Status S3Upload::commit() {
  if (uploadId.empty()) {
    PDLRT_RETURN_IF_ERROR(putWhole());
    isCommitted = true;
    return {};
  }
  if (!filling.empty())
    PDLRT_RETURN_IF_ERROR(sendPart());
  while (!pending.empty())
    PDLRT_RETURN_IF_ERROR(finishOldest());
  PDLRT_RETURN_IF_ERROR(complete());
  isCommitted = true;
  return {};
}

/// Drops the parts, which would stay in the store otherwise.
void S3Upload::abort() {
  // The tasks use the identifier.
  pending.clear();
  S3Call call = {"DELETE", address, writeVerb, {{"uploadId", uploadId}}};
  const auto ignored = client.send(call, {404});
}
