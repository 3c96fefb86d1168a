//===- CudaDriver.cpp - Functions of the CUDA driver ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/CudaDriver.h"

#include "Core/SharedLibrary.h"

using namespace pdlrt;
using namespace pdlrt::cuda;

static void findAll(SharedLibrary &library, Driver &driver) {
  library.find(driver.init, "cuInit");
  library.find(driver.errorText, "cuGetErrorString");
  library.find(driver.deviceCount, "cuDeviceGetCount");
  library.find(driver.findDevice, "cuDeviceGet");
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
}

static constexpr LibraryErrors errors = {
    "NVIDIA's driver is not there",
    ": install it, such as Debian's package libcuda1, or translate the model "
    "without --target=cuda",
    "NVIDIA's driver ", ": install a driver of CUDA 12 or later"};

Expected<const Driver *> cuda::openDriver(const char *name) {
  return openOnce<Driver>({&name, 1}, errors, findAll);
}
