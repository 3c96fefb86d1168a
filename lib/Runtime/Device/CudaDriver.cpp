//===- CudaDriver.cpp - The functions of NVIDIA's driver ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/CudaDriver.h"

#include "Device/SharedLibrary.h"

#include <map>
#include <mutex>
#include <string>

using namespace pdlrt;
using namespace pdlrt::cuda;

static const char *findAll(void *handle, Driver &driver) {
  SharedLibrary library{handle};
  library.find(driver.init, "cuInit");
  library.find(driver.errorText, "cuGetErrorString");
  library.find(driver.deviceCount, "cuDeviceGetCount");
  library.find(driver.deviceName, "cuDeviceGetName");
  library.find(driver.deviceAttribute, "cuDeviceGetAttribute");
  library.find(driver.retainContext, "cuDevicePrimaryCtxRetain");
  library.find(driver.releaseContext, "cuDevicePrimaryCtxRelease_v2");
  library.find(driver.setContext, "cuCtxSetCurrent");
  library.find(driver.loadModule, "cuModuleLoadDataEx");
  library.find(driver.unloadModule, "cuModuleUnload");
  library.find(driver.getFunction, "cuModuleGetFunction");
  library.find(driver.allocate, "cuMemAlloc_v2");
  library.find(driver.release, "cuMemFree_v2");
  library.find(driver.allocateHost, "cuMemAllocHost_v2");
  library.find(driver.releaseHost, "cuMemFreeHost");
  library.find(driver.copyIn, "cuMemcpyHtoDAsync_v2");
  library.find(driver.copyOut, "cuMemcpyDtoHAsync_v2");
  library.find(driver.copyWithin, "cuMemcpyDtoDAsync_v2");
  library.find(driver.fill, "cuMemsetD8Async");
  library.find(driver.createStream, "cuStreamCreate");
  library.find(driver.destroyStream, "cuStreamDestroy_v2");
  library.find(driver.synchronizeStream, "cuStreamSynchronize");
  library.find(driver.waitForEvent, "cuStreamWaitEvent");
  library.find(driver.createEvent, "cuEventCreate");
  library.find(driver.recordEvent, "cuEventRecord");
  library.find(driver.destroyEvent, "cuEventDestroy_v2");
  library.find(driver.timeBetween, "cuEventElapsedTime");
  library.find(driver.beginCapture, "cuStreamBeginCapture_v2");
  library.find(driver.endCapture, "cuStreamEndCapture");
  library.find(driver.makeExecutable, "cuGraphInstantiateWithFlags");
  library.find(driver.launchGraph, "cuGraphLaunch");
  library.find(driver.destroyGraph, "cuGraphDestroy");
  library.find(driver.destroyExecutable, "cuGraphExecDestroy");
  library.find(driver.launch, "cuLaunchKernel");
  return library.missing;
}

Expected<const Driver *> cuda::openDriver(const char *name) {
  static std::mutex mutex;
  static std::map<std::string, Driver> opened;
  const std::lock_guard lock(mutex);
  if (const auto found = opened.find(name); found != opened.end())
    return &found->second;
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Status::invalid(
        std::string("NVIDIA's driver is not there (") +
        (reason ? reason : name) +
        "): install it, such as Debian's package libcuda1, or use the CPU");
  }
  Driver driver;
  if (const char *missing = findAll(handle, driver)) {
    dlclose(handle);
    return Status::invalid(std::string("NVIDIA's driver ") + name +
                           " has no function " + missing +
                           ": install a driver of CUDA 12 or later");
  }
  return &opened.emplace(name, driver).first->second;
}
