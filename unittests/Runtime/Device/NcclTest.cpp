//===- NcclTest.cpp - Calls of NCCL ---------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs without a GPU, with a fake library whose functions record their calls.
//
//===----------------------------------------------------------------------===//

#include "RecordedCalls.h"

#include "Device/Nccl.h"

#include "pdlabi/abi/codes.h"

#include <climits>
#include <gmock/gmock.h>
#include <thread>

using namespace pdlrt;
using pdltest::calls;
using pdltest::forgetCalls;
using pdltest::nextError;
using pdltest::respond;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Number of polls in which communicators are still pending, and their final
/// result.
int polls = 0;
nccl::Result stateOfAll = nccl::success;

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
    return respond("create" + all);
  };
  library.destroy = [](nccl::Communicator communicator) {
    return respond("destroy " + numberText(communicator));
  };
  library.beginGroup = [] { return respond("begin"); };
  library.endGroup = [] { return respond("end"); };
  library.gather = [](const void *from, void *to, size_t count, int type,
                      nccl::Communicator communicator, cuda::Stream stream) {
    return respond("gather " + std::to_string(count) + " of type " +
                   std::to_string(type) + " from " + numberText(from) + " to " +
                   numberText(to) + " by " + numberText(communicator) + " in " +
                   numberText(stream));
  };
  library.reduce = [](const void *from, void *to, size_t count, int type,
                      int operation, nccl::Communicator communicator,
                      cuda::Stream stream) {
    EXPECT_EQ(operation, nccl::addition);
    return respond("sum " + std::to_string(count) + " of type " +
                   std::to_string(type) + " from " + numberText(from) + " to " +
                   numberText(to) + " by " + numberText(communicator) + " in " +
                   numberText(stream));
  };
  library.makeId = [](nccl::UniqueId *id) {
    std::snprintf(id->bytes, sizeof(id->bytes), "the group");
    return respond("make id");
  };
  library.join = [](nccl::Communicator *communicator, int count,
                    nccl::UniqueId id, int rank, nccl::Config *config) {
    EXPECT_EQ(config->blocking, 0);
    *communicator = reinterpret_cast<nccl::Communicator>(uintptr_t(200 + rank));
    (void)respond("join " + std::string(id.bytes) + " as " +
                  std::to_string(rank) + " of " + std::to_string(count));
    return nccl::inProgress;
  };
  library.state = [](nccl::Communicator communicator, nccl::Result *state) {
    *state = polls-- > 0 ? nccl::inProgress : stateOfAll;
    return respond("state of " + numberText(communicator));
  };
  library.abort = [](nccl::Communicator communicator) {
    return respond("abort " + numberText(communicator));
  };
  return library;
}

cuda::Stream handleOf(DeviceStream &stream) {
  return reinterpret_cast<cuda::Stream>(&stream);
}

class NcclTest : public testing::Test {
protected:
  void SetUp() override {
    forgetCalls();
    stateOfAll = nccl::success;
    polls = 0;
  }
  /// Joins a group as a process with two GPUs, after processes with three GPUs
  /// in total.
  Expected<std::unique_ptr<DeviceGroup>> join(DeviceGroupPlace place = {}) {
    place.name = *nccl::makeName(library);
    place.first = 3;
    place.count = 5;
    return nccl::joinGroup(
        library, place, 2,
        [](size_t d) {
          calls.push_back("choose " + std::to_string(d));
          return Status();
        },
        handleOf);
  }
  /// Returns a part; `number` is a stream address, a multiple of 8.
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

TEST_F(NcclTest, ErrorsHaveMessages) {
  nextError = 2;
  EXPECT_EQ(nccl::createGroup(library, numbers, handleOf).status().message(),
            "joining GPUs by NCCL: what went wrong (NCCL error 2; "
            "NCCL_DEBUG=INFO makes it say more)");
  // No communicator was created, so none is destroyed.
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

TEST_F(NcclTest, ProcessesJoinByTheNameThatOneMakes) {
  polls = 1;
  {
    const auto group = *join();
    ASSERT_TRUE(group->sum(PDL_F32, 7, parts).ok());
    ASSERT_TRUE(group->check().ok());
  }
  // Destruction does not wait for other processes.
  EXPECT_THAT(calls,
              ElementsAre("make id", "begin", "choose 0",
                          "join the group as 3 of 5", "choose 1",
                          "join the group as 4 of 5", "end", "state of 203",
                          "state of 203", "state of 204", "begin",
                          "sum 7 of type 7 from 17 to 18 by 203 in 16",
                          "sum 7 of type 7 from 25 to 26 by 204 in 24", "end",
                          "state of 203", "state of 204", "state of 203",
                          "state of 204", "abort 203", "abort 204"));
}

TEST_F(NcclTest, WhoDoesNotComeIsWaitedForAndNotForEver) {
  polls = INT_MAX;
  DeviceGroupPlace place;
  place.patience = std::chrono::milliseconds(1);
  EXPECT_EQ(join(place).status().message(),
            "joining GPUs of several processes by NCCL: not all processes have "
            "come");
  EXPECT_THAT(calls, AllOf(Contains("abort 203"), Contains("abort 204")));
}

TEST_F(NcclTest, WhatOthersFailAtIsSeen) {
  const auto group = *join();
  stateOfAll = 6;
  EXPECT_THAT(group->check().message(),
              HasSubstr("adding with other processes: what went wrong (NCCL "
                        "error 6"));
  EXPECT_THAT(group->sum(PDL_F32, 1, parts).message(),
              HasSubstr("a sum over all GPUs: what went wrong"));
}

TEST_F(NcclTest, AnEndedGroupGetsNoRequests) {
  const auto group = *join();
  group->abort();
  calls.clear();
  EXPECT_EQ(group->sum(PDL_F32, 1, parts).message(),
            "a sum over all GPUs: the group was ended");
  EXPECT_FALSE(group->check().ok());
  group->abort();
  EXPECT_THAT(calls, ElementsAre());
}

TEST_F(NcclTest, AWaitForOthersEndsWithTheGroup) {
  const auto group = *join();
  polls = INT_MAX;
  std::thread ending([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    group->abort();
  });
  EXPECT_EQ(group->gather(1, parts).message(),
            "gathering from all GPUs: the group was ended");
  ending.join();
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
