//===- NcclTest.cpp - What NCCL is asked for ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without a GPU: a library of functions that write down what they are asked
// for.
//
//===----------------------------------------------------------------------===//

#include "Device/Nccl.h"

#include "pdlabi/abi.h"

#include <gmock/gmock.h>

using namespace pdlrt;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::vector<std::string> calls;
nccl::Result nextError = nccl::success;

nccl::Result answer(const std::string &call) {
  calls.push_back(call);
  return std::exchange(nextError, nccl::success);
}

std::string numberText(const void *pointer) {
  return std::to_string(reinterpret_cast<uintptr_t>(pointer));
}

nccl::Library writtenDown() {
  nccl::Library library = {};
  library.errorText = [](nccl::Result) { return "what went wrong"; };
  library.createAll = [](nccl::Communicator *communicators, int count,
                         const int *devices) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      communicators[i] =
          reinterpret_cast<nccl::Communicator>(uintptr_t(100 + devices[i]));
      all += " " + std::to_string(devices[i]);
    }
    return answer("create" + all);
  };
  library.destroy = [](nccl::Communicator communicator) {
    return answer("destroy " + numberText(communicator));
  };
  library.beginGroup = [] { return answer("begin"); };
  library.endGroup = [] { return answer("end"); };
  library.gather = [](const void *from, void *to, size_t count, int type,
                      nccl::Communicator communicator, cuda::Stream stream) {
    return answer("gather " + std::to_string(count) + " of type " +
                  std::to_string(type) + " from " + numberText(from) + " to " +
                  numberText(to) + " by " + numberText(communicator) + " in " +
                  numberText(stream));
  };
  library.reduce = [](const void *from, void *to, size_t count, int type,
                      int operation, nccl::Communicator communicator,
                      cuda::Stream stream) {
    EXPECT_EQ(operation, nccl::addition);
    return answer("sum " + std::to_string(count) + " of type " +
                  std::to_string(type) + " from " + numberText(from) + " to " +
                  numberText(to) + " by " + numberText(communicator) + " in " +
                  numberText(stream));
  };
  return library;
}

cuda::Stream handleOf(DeviceStream &stream) {
  return reinterpret_cast<cuda::Stream>(&stream);
}

class NcclTest : public testing::Test {
protected:
  void SetUp() override {
    calls.clear();
    nextError = nccl::success;
  }
  /// `number`: such as a stream may have, a multiple of 8.
  static DeviceGroup::Part part(uintptr_t number) {
    return {reinterpret_cast<DeviceStream *>(number),
            reinterpret_cast<const void *>(number + 1),
            reinterpret_cast<void *>(number + 2)};
  }
  const nccl::Library library = writtenDown();
  const std::vector<cuda::DeviceNumber> numbers = {3, 5};
  const std::vector<DeviceGroup::Part> parts = {part(16), part(24)};
};

TEST_F(NcclTest, AllDevicesBeginTogether) {
  {
    const auto group = *nccl::createGroup(library, numbers, handleOf);
    ASSERT_TRUE(group->gather(40, parts).ok());
    ASSERT_TRUE(group->sum(PDL_F32, 7, parts).ok());
    ASSERT_TRUE(group->sum(PDL_F64, 8, parts).ok());
  }
  EXPECT_THAT(calls,
              ElementsAre("create 3 5", "begin",
                          "gather 40 of type 0 from 17 to 18 by 103 in 16",
                          "gather 40 of type 0 from 25 to 26 by 105 in 24",
                          "end", "begin",
                          "sum 7 of type 7 from 17 to 18 by 103 in 16",
                          "sum 7 of type 7 from 25 to 26 by 105 in 24", "end",
                          "begin", "sum 8 of type 8 from 17 to 18 by 103 in 16",
                          "sum 8 of type 8 from 25 to 26 by 105 in 24", "end",
                          "destroy 103", "destroy 105"));
}

TEST_F(NcclTest, ErrorsAreSentences) {
  nextError = 2;
  EXPECT_EQ(nccl::createGroup(library, numbers, handleOf).status().message(),
            "joining GPUs by NCCL: what went wrong (NCCL error 2; "
            "NCCL_DEBUG=INFO makes it say more)");
  // Nothing is destroyed that was not made.
  EXPECT_THAT(calls, ElementsAre("create 3 5"));
  const auto group = *nccl::createGroup(library, numbers, handleOf);
  calls.clear();
  nextError = 1;
  EXPECT_THAT(group->gather(1, parts).message(),
              HasSubstr("gathering from all GPUs: what went wrong"));
  EXPECT_THAT(calls, ElementsAre("begin"));
}

TEST_F(NcclTest, WhatWasBegunIsEnded) {
  nccl::Library broken = library;
  broken.reduce = [](const void *, void *, size_t, int, int, nccl::Communicator,
                     cuda::Stream) { return 5; };
  const auto group = *nccl::createGroup(broken, numbers, handleOf);
  calls.clear();
  EXPECT_THAT(group->sum(PDL_F32, 1, parts).message(),
              HasSubstr("a sum over all GPUs: what went wrong (NCCL error 5"));
  EXPECT_THAT(calls, ElementsAre("begin", "end"));
}

TEST(NcclLibraryTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(nccl::openLibrary("libnone.so.7").status().message(),
              AllOf(HasSubstr("NCCL is not there (libnone.so.7"),
                    HasSubstr("libnccl2")));
  EXPECT_THAT(nccl::openLibrary("libm.so.6").status().message(),
              AllOf(HasSubstr("libm.so.6 has no function ncclGetErrorString"),
                    HasSubstr("libnccl2")));
}

} // namespace
