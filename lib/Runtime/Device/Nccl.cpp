//===- Nccl.cpp - Collectives of GPUs by NCCL -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/Nccl.h"

#include "Core/SharedLibrary.h"
#include "pdlabi/abi/codes.h"
#include "pdlrt/Core/Mutex.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace pdlrt;
using namespace pdlrt::nccl;
using SteadyClock = std::chrono::steady_clock;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

static void findAll(SharedLibrary &library, Library &functions) {
  library.find(functions.errorText, "ncclGetErrorString");
  library.find(functions.createAll, "ncclCommInitAll");
  library.find(functions.destroy, "ncclCommDestroy");
  library.find(functions.beginGroup, "ncclGroupStart");
  library.find(functions.endGroup, "ncclGroupEnd");
  library.find(functions.gather, "ncclAllGather");
  library.find(functions.reduce, "ncclAllReduce");
  // Only needed for several processes.
  library.findOptional(functions.makeId, "ncclGetUniqueId");
  library.findOptional(functions.join, "ncclCommInitRankConfig");
  library.findOptional(functions.state, "ncclCommGetAsyncError");
  library.findOptional(functions.abort, "ncclCommAbort");
}

static constexpr LibraryErrors errors = {
    "NCCL is not there", ": install it, NVIDIA's package libnccl2", "",
    ": install NVIDIA's package libnccl2, release 2"};

Expected<const Library *> nccl::openLibrary(const char *name) {
  return openOnce<Library>({&name, 1}, errors, findAll);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

class NcclGroup final : public DeviceGroup {
public:
  NcclGroup(const Library &library, cuda::Stream (*handleOf)(DeviceStream &),
            bool hasOthers)
      : library(library), handleOf(handleOf), hasOthers(hasOthers) {}
  ~NcclGroup() override;

  Status open(std::span<const cuda::DeviceNumber> numbers);
  Status join(const DeviceGroupPlace &place, size_t here,
              const std::function<Status(size_t device)> &choose);
  std::string describe() const override { return "NCCL"; }
  Status gather(size_t bytes, std::span<const Part> parts) override;
  Status sum(int32_t type, int64_t count, std::span<const Part> parts) override;
  Status check() override;
  void abort() override;

private:
  Status check(Result result, const char *what) const;
  /// Makes one call for each device. The calls are in one NCCL group, because
  /// otherwise the first call would wait for the others.
  Status beginTogether(const char *what,
                       const std::function<Status(size_t device)> &call)
      PDLRT_EXCLUDES(mutex);
  Status
  together(const char *what, std::span<const Part> parts,
           const std::function<Result(const Part &, Communicator)> &call);
  Status settle(const char *what, SteadyClock::time_point until);
  /// Returns true if all communicators have finished.
  Expected<bool> hasSettled(const char *what) PDLRT_REQUIRES(mutex);
  void end() PDLRT_REQUIRES(mutex);

  const Library &library;
  cuda::Stream (*const handleOf)(DeviceStream &);
  /// True if other processes are in the group. Then no call of NCCL blocks.
  const bool hasOthers;
  /// Serializes calls of the library, and prevents calls after `abort`.
  Mutex mutex;
  bool isEnded PDLRT_GUARDED_BY(mutex) = false;
  std::vector<Communicator> communicators PDLRT_GUARDED_BY(mutex);
};

} // namespace

static Status statusOf(const Library &library, Result result,
                       const char *what) {
  if (result == success)
    return {};
  const char *text = library.errorText(result);
  return Status::unavailable(std::string(what) + ": " +
                             (text ? text : "an error without a text") +
                             " (NCCL error " + std::to_string(result) +
                             "; NCCL_DEBUG=INFO makes it say more)");
}

Status NcclGroup::check(Result result, const char *what) const {
  // From a nonblocking communicator; `settle` polls its state.
  return hasOthers && result == inProgress ? Status()
                                           : statusOf(library, result, what);
}

Status NcclGroup::open(std::span<const cuda::DeviceNumber> numbers) {
  const MutexLock lock(mutex);
  communicators.resize(numbers.size());
  Status status = check(library.createAll(communicators.data(),
                                          int(numbers.size()), numbers.data()),
                        "joining GPUs by NCCL");
  if (!status.ok())
    communicators.clear();
  return status;
}

/// Destroys the communicators; a second call does nothing. Does not wait for
/// work of other processes.
void NcclGroup::end() {
  for (Communicator communicator : communicators)
    if (communicator)
      (void)(hasOthers ? library.abort : library.destroy)(communicator);
  communicators.clear();
  isEnded = true;
}

NcclGroup::~NcclGroup() { abort(); }

void NcclGroup::abort() {
  const MutexLock lock(mutex);
  if (!isEnded)
    end();
}

Status
NcclGroup::beginTogether(const char *what,
                         const std::function<Status(size_t device)> &call) {
  const MutexLock lock(mutex);
  if (isEnded)
    return Status::unavailable(std::string(what) + ": the group was ended");
  PDLRT_RETURN_IF_ERROR(check(library.beginGroup(), what));
  Status failed;
  for (size_t d = 0; d < communicators.size() && failed.ok(); ++d)
    failed = call(d);
  // The NCCL group must be ended, even after an error.
  Status ended = check(library.endGroup(), what);
  return failed.ok() ? std::move(ended) : std::move(failed);
}

Expected<bool> NcclGroup::hasSettled(const char *what) {
  if (isEnded)
    return Status::unavailable(std::string(what) + ": the group was ended");
  for (Communicator communicator : communicators) {
    Result state = success;
    PDLRT_RETURN_IF_ERROR(check(library.state(communicator, &state), what));
    if (state == inProgress)
      return false;
    PDLRT_RETURN_IF_ERROR(check(state, what));
  }
  return true;
}

/// Waits until all requested work is on its streams.
Status NcclGroup::settle(const char *what, SteadyClock::time_point until) {
  for (;;) {
    {
      const MutexLock lock(mutex);
      const Expected<bool> settled = hasSettled(what);
      if (!settled)
        return settled.status();
      if (*settled)
        return {};
    }
    if (SteadyClock::now() > until)
      return Status::deadlineExceeded(std::string(what) +
                                      ": not all processes have come");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

Status NcclGroup::check() {
  if (!hasOthers)
    return {};
  const MutexLock lock(mutex);
  return hasSettled("adding with other processes").status();
}

Status NcclGroup::join(const DeviceGroupPlace &place, size_t here,
                       const std::function<Status(size_t device)> &choose) {
  static constexpr const char *what =
      "joining GPUs of several processes by NCCL";
  {
    const MutexLock lock(mutex);
    communicators.resize(here);
  }
  UniqueId id;
  static_assert(sizeof(id.bytes) == sizeof(place.name));
  std::memcpy(id.bytes, place.name.data(), sizeof(id.bytes));
  const auto until = SteadyClock::now() + place.patience;
  Config config;
  config.blocking = 0;
  Status status =
      beginTogether(what, [&](size_t d) PDLRT_REQUIRES(mutex) -> Status {
        PDLRT_RETURN_IF_ERROR(choose(d));
        return check(library.join(&communicators[d], int(place.count), id,
                                  int(place.first + d), &config),
                     what);
      });
  return status.ok() ? settle(what, until) : status;
}

Status NcclGroup::together(
    const char *what, std::span<const Part> parts,
    const std::function<Result(const Part &, Communicator)> &call) {
  Status status = beginTogether(what, [&](size_t d) PDLRT_REQUIRES(mutex) {
    return check(call(parts[d], communicators[d]), what);
  });
  if (!status.ok() || !hasOthers)
    return status;
  return settle(what, SteadyClock::time_point::max());
}

Status NcclGroup::gather(size_t size, std::span<const Part> parts) {
  return together("gathering from all GPUs", parts,
                  [&](const Part &part, Communicator communicator) {
                    return library.gather(part.from, part.to, size, bytes,
                                          communicator, handleOf(*part.stream));
                  });
}

Status NcclGroup::sum(int32_t type, int64_t count,
                      std::span<const Part> parts) {
  return together("a sum over all GPUs", parts,
                  [&](const Part &part, Communicator communicator) {
                    return library.reduce(part.from, part.to, size_t(count),
                                          type == PDL_F32 ? float32 : float64,
                                          addition, communicator,
                                          handleOf(*part.stream));
                  });
}

Expected<std::unique_ptr<DeviceGroup>>
nccl::createGroup(const Library &library,
                  std::span<const cuda::DeviceNumber> numbers,
                  cuda::Stream (*handleOf)(DeviceStream &)) {
  auto group =
      std::make_unique<NcclGroup>(library, handleOf, /*hasOthers=*/false);
  PDLRT_RETURN_IF_ERROR(group->open(numbers));
  return std::unique_ptr<DeviceGroup>(std::move(group));
}

Expected<DeviceGroupName> nccl::makeName(const Library &library) {
  UniqueId id = {};
  PDLRT_RETURN_IF_ERROR(
      statusOf(library, library.makeId(&id), "a new group of NCCL's"));
  DeviceGroupName name;
  std::memcpy(name.data(), id.bytes, name.size());
  return name;
}

Expected<std::unique_ptr<DeviceGroup>>
nccl::joinGroup(const Library &library, const DeviceGroupPlace &place,
                size_t here, const std::function<Status(size_t device)> &choose,
                cuda::Stream (*handleOf)(DeviceStream &)) {
  auto group =
      std::make_unique<NcclGroup>(library, handleOf, /*hasOthers=*/true);
  PDLRT_RETURN_IF_ERROR(group->join(place, here, choose));
  return std::unique_ptr<DeviceGroup>(std::move(group));
}
