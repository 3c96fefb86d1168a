//===- LargeParameterTest.cpp - Parameters beyond 32 bits -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Checkpoint.h"

#include <gmock/gmock.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace pdlrt;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class LargeParameterTest : public testing::Test {
protected:
  LargeParameterTest() {
    std::string name = (fs::temp_directory_path() / "pdl-large-XXXXXX");
    folder = mkdtemp(name.data());
  }
  ~LargeParameterTest() override { fs::remove_all(folder); }

  fs::path folder;
};

/// Writes a safetensors file of one F32 matrix whose rows are zeros, except the
/// last one. Zeros use no disk space.
FileDigest writeSparse(const std::string &path, const std::string &name,
                       int64_t rows, int64_t width,
                       const std::vector<float> &last) {
  const uint64_t bytes = uint64_t(rows * width) * sizeof(float);
  std::string header = fmt::format(R"({{"{}":{{"dtype":"F32","shape":[{},{}],)"
                                   R"("data_offsets":[0,{}]}}}})",
                                   name, rows, width, bytes);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t headerSize = header.size();
  const uint64_t size = sizeof(headerSize) + headerSize + bytes;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  EXPECT_GE(file, 0);
  EXPECT_EQ(::ftruncate(file, off_t(size)), 0);
  EXPECT_EQ(::pwrite(file, &headerSize, sizeof(headerSize), 0),
            ssize_t(sizeof(headerSize)));
  EXPECT_EQ(::pwrite(file, header.data(), header.size(), sizeof(headerSize)),
            ssize_t(header.size()));
  const size_t lastBytes = last.size() * sizeof(float);
  EXPECT_EQ(::pwrite(file, last.data(), lastBytes, off_t(size - lastBytes)),
            ssize_t(lastBytes));
  ::close(file);
  return {size, 0};
}

} // namespace

// Two parts of 6 GB each, with alternating rows: no offset is cut to 32 bits.
TEST_F(LargeParameterTest, RowsBeyondFourGigabytesAreFound) {
  constexpr int64_t width = 1024, half = 1500000, rows = 2 * half;
  const std::string path = folder / "step-000000000001";
  CheckpointWriter writer(path);
  Expected<std::string> written = writer.folder();
  ASSERT_TRUE(written.ok()) << written.status().message();
  std::vector<float> last[2];
  for (int p = 0; p < 2; ++p) {
    for (int64_t i = 0; i < width; ++i)
      last[p].push_back(float(i + 1 + p * width));
    CheckpointPart part;
    part.file = fmt::format("dense-{}.safetensors", p);
    part.rows = {
        {"w", p == 0 ? std::vector<CheckpointRange>{{0, 64},
                                                    {rows - half + 64, rows}}
                     : std::vector<CheckpointRange>{{64, half + 64}}}};
    part.digest =
        writeSparse(*written + "/" + part.file, "w", half, width, last[p]);
    writer.addWritten(std::move(part));
  }
  CheckpointManifest manifest;
  manifest.symbols = {{"w", false, {rows, width}, {}}};
  ASSERT_TRUE(writer.commit(std::move(manifest)).ok());
  // Checksums of 12 GB would take too long.
  Expected<Checkpoint> checkpoint =
      Checkpoint::open(path, CheckpointCheck::Progress);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  const CheckpointSymbol &symbol = checkpoint->manifest().symbols.front();
  std::vector<float> found(2 * width, -1);
  ASSERT_TRUE(
      checkpoint->copyRows(symbol, "w", {rows - 2, rows}, found.data()).ok());
  std::vector<float> expected(width, 0);
  expected.insert(expected.end(), last[0].begin(), last[0].end());
  EXPECT_EQ(found, expected);
  // The rows where the parts meet.
  ASSERT_TRUE(
      checkpoint->copyRows(symbol, "w", {half + 63, half + 65}, found.data())
          .ok());
  expected.assign(last[1].begin(), last[1].end());
  expected.resize(2 * width, 0);
  EXPECT_EQ(found, expected);
}

// The disk becomes full within a part: write(2) accepts fewer bytes than it is
// given.
TEST_F(LargeParameterTest, AFileThatFindsNoRoomIsAnErrorAndGone) {
  const std::vector<float> values(1 << 20, 1);
  SafetensorsWriter tensors;
  ASSERT_TRUE(
      tensors.add("w", TensorType::F32, {int64_t(values.size())}, values.data())
          .ok());
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limited = before;
  limited.rlim_cur = 100000;
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  const Status status = tensors.write(folder / "w.safetensors");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(status.message(),
              testing::AllOf(HasSubstr("w.safetensors: cannot be written: "),
                             HasSubstr("has room")));
  EXPECT_TRUE(fs::is_empty(folder));
}
