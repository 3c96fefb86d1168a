//===- Device.h - Devices that run kernels ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The services of a GPU: device memory, streams of work, and events between
// streams. This interface has no notion of training.
//
// Work of one stream is done in order. Work of two streams is done in any
// order, unless events order it. A call that adds work may return before the
// work is done; host memory that the work uses must stay valid until then.
// After a stream error the device must not be used any more.
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

/// Use of an argument by a kernel: as a number, or as the address of device
/// memory that it only reads, or also writes. An address is null if the
/// argument is not used.
enum class DeviceArgument : uint8_t { Number, Read, Written };

/// A kernel of a compiled program.
struct DeviceKernel {
  /// The name of its entry point in the PTX text. Lives as long as the process.
  const char *name;
  std::vector<DeviceArgument> arguments;
  /// The same code for the host: runs iteration `first`, and every `stride`-th
  /// one after it. Arguments have 8 bytes each.
  void (*run)(const uint64_t *arguments, int64_t first, int64_t stride);
};

/// The kernels of a program. Must outlive the device that has loaded it.
struct DeviceCode {
  /// Zero-terminated.
  const char *ptx = nullptr;
  std::span<const DeviceKernel> kernels;
  /// True if `multiply` is called on streams; a device may need another library
  /// for it.
  bool multiplies = false;
  /// True if products may round factors to TF32, which keeps 10 bits after the
  /// first. Products that may round to bf16 do not use TF32.
  bool roundsToTF32 = false;

  /// Checks that the kernel exists and takes this number of arguments.
  Status checkLaunch(size_t kernel, size_t arguments) const;
};

/// The product C = A op B + bias, of f32, all row-major. A is m x k, or k x m
/// if it is transposed; B is k x n, or n x k; both without gaps. No size is 0.
/// C overlaps no other operand.
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

/// Identifier by which devices of several processes form a group. One process
/// creates it and sends it to the others.
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

  /// Returns null if there is no memory.
  void *data() const { return pointer; }
  size_t size() const { return bytes; }
  void release();

private:
  Device *device = nullptr;
  Kind kind = Kind::OfDevice;
  void *pointer = nullptr;
  size_t bytes = 0;
};

/// Memory that a kernel accesses in addition to its arguments, because pointers
/// in its data refer to it. `memory` is any address in the buffer.
struct DeviceUse {
  const void *memory;
  bool isWritten;
};

/// A position in a stream's work. Belongs to one device.
class DeviceEvent {
public:
  virtual ~DeviceEvent();
};

/// Recorded work that can be repeated. Belongs to one device.
class DeviceGraph {
public:
  virtual ~DeviceGraph();
};

/// A queue of work that a device does in order. A stream is not thread-safe;
/// different streams can be used concurrently.
class DeviceStream {
public:
  virtual ~DeviceStream();

  virtual Status copyIn(void *toDevice, const void *fromHost, size_t bytes) = 0;
  virtual Status copyOut(void *toHost, const void *fromDevice,
                         size_t bytes) = 0;
  virtual Status copyWithin(void *to, const void *from, size_t bytes) = 0;
  /// Sets all bytes to 0.
  virtual Status clear(void *memory, size_t bytes) = 0;
  /// Adds a launch of kernel `kernel` of the loaded code with `turns`
  /// iterations (1 for a kernel of a single thread); 0 adds no work.
  /// `arguments` are copied. `extraUses`: other memory that the kernel
  /// accesses. `symbol`: the symbol for which it runs, shown in traces if
  /// symbols share a kernel; lives as long as the process.
  virtual Status launch(size_t kernel, int64_t turns,
                        std::span<const uint64_t> arguments,
                        std::span<const DeviceUse> extraUses = {},
                        const char *symbol = nullptr) = 0;
  /// Adds a product. The order of its sums depends only on its sizes, the
  /// alignment of its memory, and the device. Returns false, and adds no work,
  /// if the device does not support the product. Only for code that multiplies.
  virtual Expected<bool> multiply(const DeviceProduct &product) = 0;
  /// Returns an event after all work that was added so far.
  virtual Expected<std::unique_ptr<DeviceEvent>> record() = 0;
  /// Makes work that is added from now on wait for an event of any stream.
  virtual Status wait(const DeviceEvent &event) = 0;
  /// Waits until all work is done. Returns its error, if there was one.
  virtual Status synchronize() = 0;

  /// Starts recording: until `endCapture`, copies, clears, launches and
  /// products are recorded but not done. No other calls are allowed meanwhile.
  /// Host memory must have been allocated by the device.
  virtual Status beginCapture() = 0;
  /// Returns the work recorded since then. On an error, there is no graph, and
  /// the stream is unchanged.
  virtual Expected<std::unique_ptr<DeviceGraph>> endCapture() = 0;
  /// Adds all work of a graph, which must outlive the work.
  virtual Status replay(const DeviceGraph &graph) = 0;
};

/// A device. Thread-safe, except for `load`. Must outlive its buffers, streams
/// and events.
class Device {
public:
  virtual ~Device();

  /// Returns its name for logs, unique in the process.
  virtual std::string describe() const = 0;
  /// Loads the kernels for `launch`, and the libraries for products. Call once,
  /// before their first use. Errors name what is missing.
  virtual Status load(const DeviceCode &code) = 0;
  /// Allocates memory at a multiple of 64, with undefined content. If memory is
  /// exhausted, returns an error with PDL_OUT_OF_MEMORY and the missing amount.
  virtual Expected<DeviceBuffer> allocate(DeviceBuffer::Kind kind,
                                          size_t bytes) = 0;
  /// Creates a stream. `name`: its name in traces, which show its work if they
  /// are on.
  virtual Expected<std::unique_ptr<DeviceStream>>
  createStream(const std::string &name) = 0;
  /// Returns the maximum number of bytes of device memory that buffers used at
  /// the same time. Memory of the driver or of libraries is not included.
  size_t maxBytes() const { return most.load(std::memory_order_relaxed); }
  /// Creates a group of devices of this kind, of which this is the first.
  /// NVIDIA GPUs use NCCL if it is installed.
  virtual Expected<std::unique_ptr<DeviceGroup>>
  createGroup(std::span<Device *const> devices);

  // Groups of several processes (DeviceGroup.h).

  /// Returns the kind of group that this device can join; devices of other
  /// processes can join the same group if their kind is equal. An error gives
  /// the reason why this device cannot join any group.
  virtual Expected<std::string> groupKind() const;
  /// Creates a name for such a group.
  virtual Expected<DeviceGroupName> nameGroup();
  /// Joins a group with devices of this process, of which this is the first.
  /// Blocks until all devices have joined.
  virtual Expected<std::unique_ptr<DeviceGroup>>
  joinGroup(std::span<Device *const> devices, const DeviceGroupPlace &place);

private:
  friend class DeviceBuffer;
  virtual void release(DeviceBuffer::Kind kind, void *pointer,
                       size_t bytes) = 0;

  std::atomic<size_t> held = 0, most = 0;
};

/// Makes `memory` at least `bytes` bytes large. New memory is a quarter larger,
/// so that slow growth causes few allocations. The old content is lost, and
/// must not be in use.
Status reserve(Device &device, DeviceBuffer &memory, DeviceBuffer::Kind kind,
               size_t bytes);

/// Creates a stream with this name if `stream` is null.
Status openOnce(Device &device, std::unique_ptr<DeviceStream> &stream,
                const char *name);

/// Faults of a fake device, for tests: the number of calls that succeed first;
/// -1: all.
struct FakeFaults {
  int64_t allocations = -1;
  int64_t launches = -1;
  /// Products that it supports; for further ones, `multiply` returns false,
  /// which is no error.
  int64_t products = -1;
  /// Pieces of work, over all streams; then the device is lost.
  int64_t work = -1;
};

/// Creates a fake device for tests. Its memory is an address range of this
/// process that only kernels and copies may access. Its kernels are those of
/// the host, run thread by thread in an arbitrary order. Work is done as late
/// as possible.
///
/// It reports misuse that a GPU would fail on, as an error with a message:
/// - a host pointer in place of a device pointer, or the reverse;
/// - ranges that are too long;
/// - memory of a buffer that two streams use without an event between them, or
///   that is freed while a stream uses it;
/// - an access of a kernel outside of the buffers that its launch names, or a
///   write to memory that it may only read.
///
/// A buffer counts as a whole: using a part of it uses all of it. New memory,
/// and the target of a pending copy from the device, contain NaN, except for
/// memory that a pending copy still has to read. `number`: distinguishes it
/// from others in logs and traces.
std::unique_ptr<Device> createFakeDevice(const FakeFaults &faults = {},
                                         int number = 0);

/// Opens the NVIDIA GPU with this number, through the driver's library, which
/// is loaded now. Errors name what is missing.
Expected<std::unique_ptr<Device>> openCudaDevice(int number);

} // namespace pdlrt

#endif // PDLRT_DEVICE_DEVICE_H
