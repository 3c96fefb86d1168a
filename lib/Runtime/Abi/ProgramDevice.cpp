//===- ProgramDevice.cpp - Devices of a program ---------------------------===//
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
  return Status::invalidArgument(
      "there is no device '" + name +
      "'; use cuda, cuda:N for NVIDIA's GPU N, or fake, "
      "which checks a program without a GPU, slowly");
}

namespace {

/// A parsed device name.
struct DeviceName {
  bool isFake = false;
  FakeFaults faults;
  /// Number of a GPU, or index among the fake devices of the list.
  int number = 0;
};

} // namespace

static Status parseFault(const std::string &name, std::string_view fault,
                         FakeFaults &faults) {
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
  return {};
}

static Expected<DeviceName> parseName(const std::string &text) {
  DeviceName name;
  const size_t colon = text.find(':');
  const std::string_view rest = colon == std::string::npos
                                    ? std::string_view()
                                    : std::string_view(text).substr(colon + 1);
  if (colon != std::string::npos && rest.empty())
    return refuse(text);
  const std::string_view kind = std::string_view(text).substr(0, colon);
  name.isFake = kind == "fake";
  if (name.isFake) {
    if (!rest.empty())
      PDLRT_RETURN_IF_ERROR(parseFault(text, rest, name.faults));
    return name;
  }
  const Expected<uint64_t> number = rest.empty()
                                        ? Expected<uint64_t>(0)
                                        : parseWholeNumber(rest, 0, INT32_MAX);
  if (kind != "cuda" || !number)
    return refuse(text);
  name.number = int(*number);
  return name;
}

/// Splits a list into names; "cuda:0,1" is "cuda:0" and "cuda:1".
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

static Expected<std::vector<DeviceName>> parseNames(const std::string &list) {
  std::vector<DeviceName> names;
  int fakes = 0;
  std::set<int> gpus;
  for (const std::string &text : namesOf(list)) {
    Expected<DeviceName> name = parseName(text);
    if (!name)
      return std::move(name).status();
    if (name->isFake)
      name->number = fakes++;
    // Two devices of the list are the same GPU, so they would share its memory.
    else if (!gpus.insert(name->number).second)
      return Status::invalidArgument(
          "--device " + list + " names " + text +
          " twice: name each GPU once, more replicas share "
          "it by themselves");
    names.push_back(std::move(*name));
  }
  // A group must have only one kind of device.
  if (fakes > 0 && !gpus.empty())
    return Status::invalidArgument(
        "--device " + list +
        " names GPUs and fake devices, which give each "
        "other nothing: name one kind");
  return names;
}

/// Parses the list and checks that there is at least one replica per device.
static Expected<std::vector<DeviceName>> parseNamesFor(const std::string &list,
                                                       int replicas) {
  Expected<std::vector<DeviceName>> names = parseNames(list);
  if (names && names->size() > size_t(replicas))
    return Status::invalidArgument(
        "--device names " + std::to_string(names->size()) +
        " devices, but this process has " + std::to_string(replicas) +
        (replicas == 1 ? " replica" : " replicas") +
        ", each of which computes on one: name fewer devices, or train with "
        "more --replicas");
  return names;
}

Status ProgramDevice::check(const std::string &names, int replicas) {
  return parseNamesFor(names, replicas).status();
}

Expected<std::vector<std::unique_ptr<ProgramDevice>>>
ProgramDevice::open(const pdl_descriptor &descriptor, const std::string &list,
                    int replicas, bool roundsToTF32) {
  const Expected<std::vector<DeviceName>> names = parseNamesFor(list, replicas);
  if (!names)
    return names.status();
  std::vector<std::unique_ptr<ProgramDevice>> devices;
  for (const DeviceName &name : *names) {
    std::unique_ptr<ProgramDevice> device(new ProgramDevice(descriptor));
    Expected<std::unique_ptr<Device>> opened =
        name.isFake ? createFakeDevice(name.faults, name.number)
                    : openCudaDevice(name.number);
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
