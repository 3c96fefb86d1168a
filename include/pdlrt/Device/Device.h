//===- Device.h - Devices that run kernels ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interface to a GPU: device memory, streams of work, and events between
// streams. It knows nothing of training.
//
// The work of one stream is done in order. The work of different streams is
// done in any order, unless events order it. A call that adds work may return
// before the work is done; host memory that the work uses must stay valid until
// then. After a stream error the device must not be used any more.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DEVICE_DEVICE_H
#define PDLRT_DEVICE_DEVICE_H

#include "pdlrt/Core/Status.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Use of a kernel's argument. Number: a number. Read: the address of device
/// memory that the kernel only reads. Written: the address of device memory
/// that the kernel writes, and may read. An address is null if the kernel does
/// not need it.
enum class DeviceArgument : uint8_t { Number, Read, Written };

/// A kernel of a compiled program.
struct DeviceKernel {
  /// The name of its entry point in the PTX text. Lives as long as the process.
  const char *name;
  std::vector<DeviceArgument> arguments;
  /// The same kernel for the host, which a fake device runs. It does the
  /// iterations `first`, `first` + `stride`, and so on. Arguments have 8 bytes
  /// each.
  void (*run)(const uint64_t *arguments, int64_t first, int64_t stride);
};

/// The kernels of a program. Must outlive the device that has loaded them.
struct DeviceCode {
  /// Text of the kernels in PTX, zero-terminated.
  const char *ptx = nullptr;
  std::span<const DeviceKernel> kernels;
  /// True if the program calls `DeviceStream::multiply`, for which a device may
  /// have to load a library.
  bool multiplies = false;
  /// True if matrix products may round their factors to TF32, which has a
  /// mantissa of 10 bits. Products that may round to bf16 do not use TF32.
  bool roundsToTF32 = false;

  /// Checks that the kernel exists and takes this number of arguments.
  Status checkLaunch(size_t kernel, size_t arguments) const;
};

/// The matrix product C = A * B + bias in f32. All matrices are row-major. A is
/// stored as m x k, or as k x m if `transposeA`. B is stored as k x n, or as n
/// x k if `transposeB`. A and B have no gaps between rows. No size is 0. C
/// overlaps no other operand.
struct DeviceProduct {
  bool transposeA = false, transposeB = false;
  int64_t m = 0, n = 0, k = 0;
  const void *a = nullptr;
  const void *b = nullptr;
  /// n elements, added to each row of C; null: none.
  const void *bias = nullptr;
  void *c = nullptr;
  /// Distance between rows of C, at least n; the elements between rows are not
  /// written.
  int64_t cStride = 0;
  /// True if factors may be rounded to bf16. Sums are always in f32.
  bool roundsFactors = false;
};

class Device;
class DeviceGroup;
struct DeviceGroupPlace;

/// Identifier of a group of devices of several processes. One process creates
/// it and sends it to the others, which then join the group.
using DeviceGroupName = std::array<char, 128>;

/// Owns a block of device or host memory; frees it on destruction.
class DeviceBuffer {
public:
  enum class Kind : uint8_t {
    /// Device memory. The host accesses it only through copies.
    OfDevice,
    /// Pinned host memory; copies to and from it run concurrently with the
    /// host.
    OfHost
  };

  DeviceBuffer() = default;
  DeviceBuffer(Device &device, Kind kind, void *pointer, size_t bytes);
  DeviceBuffer(DeviceBuffer &&other) noexcept { *this = std::move(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer() { release(); }

  /// Returns the start of the memory; null if this object owns no memory.
  void *data() const { return pointer; }
  size_t size() const { return bytes; }
  void release();

private:
  Device *device = nullptr;
  Kind kind = Kind::OfDevice;
  void *pointer = nullptr;
  size_t bytes = 0;
};

/// Memory that a kernel accesses through pointers in its data, not through an
/// argument. `memory` is any address in the buffer.
struct DeviceUse {
  const void *memory;
  bool isWritten;
};

/// A position in the work of a stream. Belongs to one device.
class DeviceEvent {
public:
  virtual ~DeviceEvent();
};

/// Recorded work of a stream that can be repeated with one call. Belongs to one
/// device.
class DeviceGraph {
public:
  virtual ~DeviceGraph();
};

/// A queue of work, which a device does in order. Not thread-safe, but
/// different threads can use different streams concurrently.
class DeviceStream {
public:
  virtual ~DeviceStream();

  virtual Status copyIn(void *toDevice, const void *fromHost, size_t bytes) = 0;
  virtual Status copyOut(void *toHost, const void *fromDevice,
                         size_t bytes) = 0;
  virtual Status copyWithin(void *to, const void *from, size_t bytes) = 0;
  /// Sets all bytes to 0.
  virtual Status clear(void *memory, size_t bytes) = 0;
  /// Adds a launch of kernel number `kernel` of the loaded code, with `turns`
  /// iterations. If `turns` is 0, adds no work. `arguments` are copied.
  /// `extraUses` is memory that the kernel accesses in addition to its
  /// arguments. `symbol` is the parameter or table for which the kernel runs,
  /// which traces show if several symbols share a kernel. It must live as long
  /// as the process.
  virtual Status launch(size_t kernel, int64_t turns,
                        std::span<const uint64_t> arguments,
                        std::span<const DeviceUse> extraUses = {},
                        const char *symbol = nullptr) = 0;
  /// Adds a matrix product. The order of its sums depends only on its sizes,
  /// the alignment of its memory, and the device. If the device does not
  /// support the product, returns false and adds no work. Call only if
  /// `DeviceCode::multiplies` of the loaded code is true.
  virtual Expected<bool> multiply(const DeviceProduct &product) = 0;
  /// Returns an event that occurs when all work that was added so far is done.
  virtual Expected<std::unique_ptr<DeviceEvent>> record() = 0;
  /// Makes work that is added from now on wait for `event`, which may be of
  /// another stream.
  virtual Status wait(const DeviceEvent &event) = 0;
  /// Blocks until all work is done. Returns the error of the work, if there was
  /// one.
  virtual Status synchronize() = 0;

  /// Starts recording. Until `endCapture`, copies, clears, launches and
  /// products are recorded but not done; other calls are not allowed. Host
  /// memory in the recorded work must have been allocated by the device.
  virtual Status beginCapture() = 0;
  /// Ends recording, and returns the work recorded since `beginCapture`. After
  /// an error, the stream can be used as before.
  virtual Expected<std::unique_ptr<DeviceGraph>> endCapture() = 0;
  /// Adds all work of `graph`, which must exist until the work is done.
  virtual Status replay(const DeviceGraph &graph) = 0;
};

/// A GPU, or a fake one. Thread-safe, except for `load`. Must outlive its
/// buffers, streams and events.
class Device {
public:
  virtual ~Device();

  /// Returns the name of this device for logs. It is unique in the process.
  virtual std::string describe() const = 0;
  /// Loads the kernels for `launch`, and the library for products if `code`
  /// multiplies. Call once, before the first launch or product. An error
  /// message names what is missing.
  virtual Status load(const DeviceCode &code) = 0;
  /// Allocates memory that is aligned to 64 bytes and has undefined content. If
  /// memory is exhausted, returns PDL_OUT_OF_MEMORY with the requested size.
  virtual Expected<DeviceBuffer> allocate(DeviceBuffer::Kind kind,
                                          size_t bytes) = 0;
  /// Creates a stream. Traces show its work under the name `name`.
  virtual Expected<std::unique_ptr<DeviceStream>>
  createStream(const std::string &name) = 0;
  /// Returns the maximum device memory that buffers have used at the same time
  /// so far, in bytes. Memory of the driver and of libraries is not included.
  size_t maxBytes() const { return most.load(std::memory_order_relaxed); }
  /// Creates a group of devices of this process. They must be of the same kind,
  /// and this device must be the first. NVIDIA GPUs use NCCL if it is
  /// installed.
  virtual Expected<std::unique_ptr<DeviceGroup>>
  createGroup(std::span<Device *const> devices);

  // Groups of several processes (DeviceGroup.h).

  /// Returns the kind of group that this device can join. Devices of several
  /// processes can form a group if they return the same kind. If this device
  /// cannot join any group, returns an error with the reason.
  virtual Expected<std::string> groupKind() const;
  /// Creates the name of a new group of several processes.
  virtual Expected<DeviceGroupName> nameGroup();
  /// Joins the group at `place` with `devices` of this process, of which this
  /// device is the first. Blocks until the devices of all processes have
  /// joined.
  virtual Expected<std::unique_ptr<DeviceGroup>>
  joinGroup(std::span<Device *const> devices, const DeviceGroupPlace &place);

private:
  friend class DeviceBuffer;
  virtual void release(DeviceBuffer::Kind kind, void *pointer,
                       size_t bytes) = 0;

  std::atomic<size_t> held = 0, most = 0;
};

/// Makes `memory` at least `bytes` bytes large. If it is smaller, replaces it
/// by new memory, a quarter larger than needed, so that slow growth causes few
/// allocations. The old content is then lost, so no work may be using it.
Status reserve(Device &device, DeviceBuffer &memory, DeviceBuffer::Kind kind,
               size_t bytes);

/// Creates a stream with this name if `stream` is null.
Status openOnce(Device &device, std::unique_ptr<DeviceStream> &stream,
                const char *name);

/// Faults of a fake device, for tests. Each member is the number of calls that
/// succeed before one fails; -1: none fails.
struct FakeFaults {
  int64_t allocations = -1;
  int64_t launches = -1;
  /// Number of products that the device supports. For further ones, `multiply`
  /// returns false, which is not an error.
  int64_t products = -1;
  /// Pieces of work in all streams; then all work fails, as if the GPU were
  /// lost.
  int64_t work = -1;
};

/// Creates a fake device for tests. Device memory is an address range of this
/// process that only kernels and copies may access. Kernels are run on the host
/// (`DeviceKernel::run`), one iteration after the other in an arbitrary order.
/// Work is done as late as possible.
///
/// Returns an error for misuse that a GPU would not detect, or would fail on:
/// - a host pointer in place of a device pointer, or the reverse;
/// - ranges that are too long;
/// - memory of a buffer that two streams use without an event between them, or
///   that is freed while a stream uses it;
/// - a kernel that accesses memory outside of the buffers that its launch
///   names, or that writes to memory that it may only read.
///
/// The checks treat a buffer as a whole: work that uses a part of it counts as
/// using all of it. To reveal reads that are too early, new memory and the
/// target of a pending copy from the device contain NaN. Memory that a pending
/// copy still has to read is not overwritten. `number` distinguishes the device
/// from others in logs and traces.
std::unique_ptr<Device> createFakeDevice(const FakeFaults &faults = {},
                                         int number = 0);

/// Opens the NVIDIA GPU with number `number`. Loads the library of the driver
/// for it. An error message names what is missing.
Expected<std::unique_ptr<Device>> openCudaDevice(int number);

} // namespace pdlrt

#endif // PDLRT_DEVICE_DEVICE_H
