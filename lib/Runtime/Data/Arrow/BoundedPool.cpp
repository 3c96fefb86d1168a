//===- BoundedPool.cpp - Memory of one file of columns --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BoundedPool.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unistd.h>
#include <utility>

/// Most bytes of a buffer per byte of its file. It is close to the maximum of
/// gzip, and above those of LZ4 and Snappy. Only buffers of one repeated value
/// compress better, with Zstandard or Brotli.
static constexpr int64_t maxRatio = 1024;
/// A buffer of this size is allowed in any file. It leaves space for columns of
/// one repeated value in small files.
static constexpr int64_t alwaysAllowedBytes = int64_t(64) << 20;

namespace {

/// Marks the errors of the allocator. Arrow passes it on with their status.
class LackOfMemory final : public arrow::StatusDetail {
public:
  const char *type_id() const override { return id; }
  std::string ToString() const override { return "the allocator failed"; }

  static constexpr const char *id = "pdl::LackOfMemory";
};

} // namespace

arrow::Status lackOfMemory() {
  return {arrow::StatusCode::OutOfMemory, "there is no memory left",
          std::make_shared<LackOfMemory>()};
}

bool isLackOfMemory(const arrow::Status &status) {
  return status.detail() &&
         std::string_view(status.detail()->type_id()) == LackOfMemory::id;
}

/// Converts a result of the allocator.
static arrow::Status marked(arrow::Status status) {
  return status.IsOutOfMemory() ? lackOfMemory() : std::move(status);
}

static int64_t physicalBytes() {
  static const int64_t bytes =
      int64_t(sysconf(_SC_PHYS_PAGES)) * int64_t(sysconf(_SC_PAGESIZE));
  return bytes > 0 ? bytes : std::numeric_limits<int64_t>::max();
}

int64_t BoundedPool::limitFor(int64_t inputBytes) {
  const int64_t ofRatio =
      inputBytes > std::numeric_limits<int64_t>::max() / maxRatio
          ? std::numeric_limits<int64_t>::max()
          : inputBytes * maxRatio;
  return std::min(std::max(ofRatio, alwaysAllowedBytes), physicalBytes());
}

arrow::Status BoundedPool::check(int64_t size) const {
  if (size >= 0 && size <= limit)
    return arrow::Status::OK();
  return arrow::Status::Invalid("it has ", inputBytes,
                                " bytes, but declares a buffer of ", size,
                                " bytes, above the limit of ", limit,
                                "; if it is not damaged, it needs smaller row "
                                "groups or batches");
}

arrow::Status BoundedPool::Allocate(int64_t size, int64_t alignment,
                                    uint8_t **out) {
  ARROW_RETURN_NOT_OK(check(size));
  ARROW_RETURN_NOT_OK(marked(pool.Allocate(size, alignment, out)));
  users.fetch_add(1, std::memory_order_relaxed);
  stats.DidAllocateBytes(size);
  return arrow::Status::OK();
}

arrow::Status BoundedPool::Reallocate(int64_t oldSize, int64_t newSize,
                                      int64_t alignment, uint8_t **memory) {
  ARROW_RETURN_NOT_OK(check(newSize));
  ARROW_RETURN_NOT_OK(
      marked(pool.Reallocate(oldSize, newSize, alignment, memory)));
  stats.DidReallocateBytes(oldSize, newSize);
  return arrow::Status::OK();
}

void BoundedPool::Free(uint8_t *memory, int64_t size, int64_t alignment) {
  pool.Free(memory, size, alignment);
  stats.DidFreeBytes(size);
  release();
}

void BoundedPool::release() {
  if (users.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete this;
}
