//===- ProgramDevice.cpp - The device of a program ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/ProgramDevice.h"

#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>
#include <set>
#include <string_view>

using namespace pdlrt;

ProgramDevice::ProgramDevice(const pdl_descriptor &descriptor) {
  for (int32_t i = 0; i < descriptor.device_kernel_count; ++i) {
    const pdl_device_kernel &given = descriptor.device_kernels[i];
    DeviceKernel kernel{given.name, {}, given.run};
    for (int32_t a = 0; a < given.argument_count; ++a)
      kernel.arguments.push_back(
          static_cast<DeviceArgument>(given.arguments[a]));
    kernels.push_back(std::move(kernel));
  }
}

static Status refuse(const std::string &name) {
  return Status::invalid("there is no device '" + name +
                         "'; use cuda, cuda:N for NVIDIA's GPU N, or fake, "
                         "which checks a program without a GPU, slowly");
}

static Expected<std::unique_ptr<Device>> openFake(const std::string &name,
                                                  std::string_view fault) {
  FakeFaults faults;
  if (fault.empty())
    return createFakeDevice(faults);
  const size_t sign = fault.find('=');
  const std::string_view kind = fault.substr(0, sign);
  int64_t *place = kind == "allocations" ? &faults.allocations
                   : kind == "launches"  ? &faults.launches
                   : kind == "products"  ? &faults.products
                   : kind == "work"      ? &faults.work
                                         : nullptr;
  if (!place || sign == std::string_view::npos)
    return refuse(name);
  const Expected<uint64_t> count =
      parseWholeNumber(fault.substr(sign + 1), 0, INT64_MAX);
  if (!count)
    return refuse(name);
  *place = int64_t(*count);
  return createFakeDevice(faults);
}

static Expected<std::unique_ptr<Device>> openNamed(const std::string &name) {
  const size_t colon = name.find(':');
  const std::string_view rest = colon == std::string::npos
                                    ? std::string_view()
                                    : std::string_view(name).substr(colon + 1);
  if (colon != std::string::npos && rest.empty())
    return refuse(name);
  const std::string_view kind = std::string_view(name).substr(0, colon);
  if (kind == "fake")
    return openFake(name, rest);
  const Expected<uint64_t> number = rest.empty()
                                        ? Expected<uint64_t>(0)
                                        : parseWholeNumber(rest, 0, INT32_MAX);
  if (kind != "cuda" || !number)
    return refuse(name);
  return openCudaDevice(int(*number));
}

/// The names of a list; "cuda:0,1" is "cuda:0" and "cuda:1".
static std::vector<std::string> namesOf(const std::string &list) {
  std::vector<std::string> names;
  size_t begin = 0;
  while (begin <= list.size()) {
    const size_t end = std::min(list.find(',', begin), list.size());
    std::string name = list.substr(begin, end - begin);
    if (!names.empty() && names.back().starts_with("cuda") &&
        parseWholeNumber(name, 0, INT32_MAX))
      name = "cuda:" + name;
    names.push_back(std::move(name));
    begin = end + 1;
  }
  return names;
}

/// GPUs that are named twice would be two devices of one memory.
static Status checkDistinct(const std::vector<std::string> &names,
                            const std::string &list) {
  std::set<std::string> seen;
  for (const std::string &name : names)
    if (name.starts_with("cuda") &&
        !seen.insert(name == "cuda" ? "cuda:0" : name).second)
      return Status::invalid("--device " + list + " names " + name +
                             " twice: name each GPU once, more replicas share "
                             "it by themselves");
  return {};
}

Expected<std::vector<std::unique_ptr<ProgramDevice>>>
ProgramDevice::open(const pdl_descriptor &descriptor, const std::string &list,
                    bool roundsToTF32) {
  if (descriptor.target == PDL_TARGET_CPU)
    return Status::invalid(
        "--device is for a program that was translated with --target=cuda; "
        "leave it out, or translate the model again");
  const std::vector<std::string> names = namesOf(list);
  PDLRT_RETURN_IF_ERROR(checkDistinct(names, list));
  std::vector<std::unique_ptr<ProgramDevice>> devices;
  for (const std::string &name : names) {
    std::unique_ptr<ProgramDevice> device(new ProgramDevice(descriptor));
    Expected<std::unique_ptr<Device>> opened = openNamed(name);
    if (!opened)
      return std::move(opened).status();
    device->opened = std::move(*opened);
    PDLRT_RETURN_IF_ERROR(
        device->opened->load({descriptor.device_code, device->kernels,
                              descriptor.device_products != 0, roundsToTF32}));
    devices.push_back(std::move(device));
  }
  return devices;
}
