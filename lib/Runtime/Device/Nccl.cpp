//===- Nccl.cpp - What NCCL does between GPUs -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/Nccl.h"

#include "Device/SharedLibrary.h"
#include "pdlabi/abi.h"

#include <functional>
#include <string>
#include <vector>

using namespace pdlrt;
using namespace pdlrt::nccl;

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
  NcclGroup(const Library &library, cuda::Stream (*handleOf)(DeviceStream &))
      : library(library), handleOf(handleOf) {}
  ~NcclGroup() override;

  Status open(std::span<const cuda::DeviceNumber> numbers);
  std::string describe() const override { return "NCCL"; }
  Status gather(size_t bytes, std::span<const Part> parts) override;
  Status sum(int32_t type, int64_t count, std::span<const Part> parts) override;

private:
  Status check(Result result, const char *what) const;
  /// One call for each device, which begin together: alone one would wait for
  /// the others.
  Status
  together(const char *what, std::span<const Part> parts,
           const std::function<Result(const Part &, Communicator)> &call);

  const Library &library;
  cuda::Stream (*const handleOf)(DeviceStream &);
  std::vector<Communicator> communicators;
};

} // namespace

Status NcclGroup::check(Result result, const char *what) const {
  if (result == success)
    return {};
  const char *text = library.errorText(result);
  return Status::internal(std::string(what) + ": " +
                          (text ? text : "an error without a text") +
                          " (NCCL error " + std::to_string(result) +
                          "; NCCL_DEBUG=INFO makes it say more)");
}

Status NcclGroup::open(std::span<const cuda::DeviceNumber> numbers) {
  communicators.resize(numbers.size());
  Status status = check(library.createAll(communicators.data(),
                                          int(numbers.size()), numbers.data()),
                        "joining GPUs by NCCL");
  if (!status.ok())
    communicators.clear();
  return status;
}

NcclGroup::~NcclGroup() {
  for (Communicator communicator : communicators)
    (void)library.destroy(communicator);
}

Status NcclGroup::together(
    const char *what, std::span<const Part> parts,
    const std::function<Result(const Part &, Communicator)> &call) {
  PDLRT_RETURN_IF_ERROR(check(library.beginGroup(), what));
  Result failed = success;
  for (size_t d = 0; d < parts.size() && failed == success; ++d)
    failed = call(parts[d], communicators[d]);
  // What was begun is ended, whatever came of it.
  const Result ended = library.endGroup();
  return check(failed != success ? failed : ended, what);
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
  auto group = std::make_unique<NcclGroup>(library, handleOf);
  PDLRT_RETURN_IF_ERROR(group->open(numbers));
  return std::unique_ptr<DeviceGroup>(std::move(group));
}
