//===- S3Upload.h - Uploads a file in parts ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_S3_S3UPLOAD_H
#define LIB_RUNTIME_FILES_S3_S3UPLOAD_H

#include "Files/S3/S3Client.h"
#include "pdlrt/Core/BackgroundTask.h"
#include "pdlrt/Files/Store.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// Uploads a new object. A small object is one request; a larger one is a
/// multipart upload, whose parts are sent by threads while the next one fills.
/// The object is invisible until `commit`. The destructor aborts an upload that
/// is not committed. Not thread-safe.
class S3Upload final : public StoreWriter {
public:
  S3Upload(S3Client &client, S3Address address, uint64_t expectedBytes);
  ~S3Upload() override;
  Status write(const void *data, size_t size) override;
  Status commit() override;

  /// Size of a part of a file with this size. All parts but the last one have
  /// the same size, which some stores require.
  static size_t partBytesFor(uint64_t expectedBytes);

private:
  /// A part that is being sent.
  struct Part {
    std::string bytes;
    /// Written by the task, read after its end.
    std::string tag;
    std::unique_ptr<BackgroundTask> task;
  };
  /// Number of parts that are sent at a time.
  static constexpr size_t maxPending = 3;

  Status begin();
  Status sendPart();
  Status finishOldest();
  Status putWhole();
  Status complete();
  /// Returns an error unless the object has `total` bytes.
  Status checkSize();
  void abort();

  S3Client &client;
  const S3Address address;
  const size_t partBytes;
  std::string uploadId;
  std::string filling;
  std::deque<std::unique_ptr<Part>> pending;
  std::vector<std::string> tags;
  uint64_t total = 0;
  /// Number of parts that have been started.
  size_t started = 0;
  bool isCommitted = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_S3_S3UPLOAD_H
