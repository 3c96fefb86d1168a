//===- WholeFileTest.cpp - Files that are written at once -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/WholeFile.h"
#include "Files/StreamedFile.h"
#include "Files/TemporaryFile.h"
#include "Support/TestFolder.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

/// Behavior of the replaced C functions: the errors of an open and a write that
/// bypass the cache, and of any other write; 0 is none.
int directOpenError = 0, directWriteError = 0, writeError = 0;
/// If set, replaces the result of a write.
std::optional<ssize_t> writeResult;
/// Number of write calls.
int writes = 0;

class WholeFile : public testing::Test {
protected:
  void TearDown() override {
    directOpenError = directWriteError = writeError = writes = 0;
    writeResult.reset();
  }

  /// Returns bytes that differ from their neighbors.
  static std::string bytesOf(size_t size) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i)
      bytes[i] = char(i * 31 + i / 251);
    return bytes;
  }
  Status write(const std::string &bytes) {
    FileImage image;
    std::memcpy(image.reserve(bytes.size()), bytes.data(), bytes.size());
    return image.write(folder.file("f"));
  }
  bool isThere() const { return std::filesystem::exists(folder.file("f")); }

  TestFolder folder;
};

} // namespace

extern "C" int open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  if ((flags & O_DIRECT) && directOpenError != 0) {
    errno = directOpenError;
    return -1;
  }
  return int(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

extern "C" ssize_t pwrite(int file, const void *bytes, size_t count,
                          off_t offset) {
  ++writes;
  const bool isDirect = (fcntl(file, F_GETFL) & O_DIRECT) != 0;
  if (const int error = isDirect ? directWriteError : writeError) {
    errno = error;
    return -1;
  }
  if (writeResult && isDirect)
    return *writeResult;
  return syscall(SYS_pwrite64, file, bytes, count, offset);
}

TEST_F(WholeFile, HoldsWhatWasWritten) {
  for (const size_t size : {0, 1, 4095, 4096, 4097, 12288, 100000}) {
    const std::string bytes = bytesOf(size);
    const Status status = write(bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(folder.read("f"), bytes) << size;
  }
  // Reuse an image that had more bytes, and a file that had more bytes.
  FileImage image;
  std::memset(image.reserve(9000), 'x', 9000);
  ASSERT_TRUE(image.write(folder.file("f")).ok());
  std::memset(image.reserve(10), 'y', 10);
  ASSERT_TRUE(image.write(folder.file("f")).ok());
  EXPECT_EQ(folder.read("f"), std::string(10, 'y'));
}

TEST_F(WholeFile, FileSystemsMayRefuseToWritePastTheCache) {
  const std::string bytes = bytesOf(5000);
  for (int *refusal : {&directOpenError, &directWriteError})
    for (const int error : {EINVAL, EIO, EOPNOTSUPP}) {
      *refusal = error;
      const Status status = write(bytes);
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(folder.read("f"), bytes);
      *refusal = 0;
    }
  // Make each write accept no bytes.
  writeResult = 0;
  EXPECT_TRUE(write(bytes).ok());
  EXPECT_EQ(folder.read("f"), bytes);
}

TEST_F(WholeFile, AFailureLeavesNoFile) {
  const std::string bytes = bytesOf(5000);
  // The write is retried once through the cache.
  directWriteError = writeError = EIO;
  EXPECT_THAT(write(bytes).message(),
              AllOf(HasSubstr(folder.file("f")), HasSubstr(strerror(EIO))));
  EXPECT_LE(writes, 2);
  EXPECT_FALSE(isThere());
  // Other errors end the write immediately.
  for (const int error : {ENOSPC, EDQUOT}) {
    writes = 0;
    directWriteError = writeError = error;
    EXPECT_THAT(write(bytes).message(), HasSubstr(strerror(error)));
    EXPECT_EQ(writes, 1);
    EXPECT_FALSE(isThere());
  }
}

//===----------------------------------------------------------------------===//
// StreamedFile
//===----------------------------------------------------------------------===//

namespace {

class StreamedFileTest : public WholeFile {
protected:
  /// Writes in pieces of some bytes.
  Status stream(const std::string &bytes, size_t piece,
                FileDigest *digest = nullptr) {
    StreamedFile file(folder.file("f"));
    PDLRT_RETURN_IF_ERROR(file.create());
    for (size_t at = 0; at < bytes.size(); at += piece)
      PDLRT_RETURN_IF_ERROR(
          file.write(bytes.data() + at, std::min(piece, bytes.size() - at)));
    if (digest)
      *digest = file.digest();
    return file.commit();
  }

  static constexpr size_t buffer = size_t(2) << 20;
};

} // namespace

TEST_F(StreamedFileTest, HoldsWhatWasWritten) {
  for (const size_t size :
       {size_t(0), size_t(1), size_t(4096), size_t(4097), buffer - 1, buffer,
        buffer + 1, 2 * buffer, 5 * buffer + 17})
    for (const size_t piece : {size_t(1) << 18, 3 * buffer + 5}) {
      const std::string bytes = bytesOf(size);
      FileDigest digest;
      const Status status = stream(bytes, piece, &digest);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(folder.read("f") == bytes) << size;
      EXPECT_EQ(digest.bytes, size);
      EXPECT_EQ(digest.hash, hashBytes(bytes.data(), bytes.size()));
    }
}

TEST_F(StreamedFileTest, FileSystemsMayRefuseToWritePastTheCache) {
  const std::string bytes = bytesOf(2 * buffer + 5000);
  for (int *refusal : {&directOpenError, &directWriteError})
    for (const int error : {EINVAL, EIO, EOPNOTSUPP}) {
      *refusal = error;
      const Status status = stream(bytes, 100'000);
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(folder.read("f") == bytes);
      *refusal = 0;
    }
  writeResult = 0;
  EXPECT_TRUE(stream(bytes, 100'000).ok());
  EXPECT_TRUE(folder.read("f") == bytes);
}

TEST_F(StreamedFileTest, AFailureLeavesNoFile) {
  for (const size_t size : {size_t(10), 5 * buffer})
    for (const int error : {EIO, ENOSPC, EDQUOT}) {
      directWriteError = writeError = error;
      EXPECT_THAT(stream(bytesOf(size), 100'000).message(),
                  AllOf(HasSubstr(folder.file("f") + ": cannot be written"),
                        HasSubstr(strerror(error))));
      EXPECT_FALSE(isThere());
    }
  directWriteError = writeError = 0;
  {
    StreamedFile file(folder.file("f"));
    ASSERT_TRUE(file.create().ok());
    ASSERT_TRUE(file.write("abc", 3).ok());
    EXPECT_TRUE(isThere());
  }
  EXPECT_FALSE(isThere());
}
