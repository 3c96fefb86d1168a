//===- Device.h - What kernels run on ---------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of a device, streams of work on it, and events between streams: what a
// GPU offers, and no more. Nothing here knows of training.
//
// Work of a stream is done in order; that of two streams in any, but for
// events. A call that adds work may return before it is done, and its host
// memory must stay until then. After an error of a stream the device is of no
// use any more.
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

/// What a kernel does with an argument: takes a number, or the address of
/// device memory that it only reads, or also writes; null, where it takes none.
enum class DeviceArgument : uint8_t { Number, Read, Written };

/// A kernel of a compiled program.
struct DeviceKernel {
  /// That of its entry in the PTX text. Lives as long as the process.
  const char *name;
  std::vector<DeviceArgument> arguments;
  /// The same code for the host: a thread does the turns `first`, and each that
  /// is `stride` further. Arguments have 8 bytes each.
  void (*run)(const uint64_t *arguments, int64_t first, int64_t stride);
};

/// All kernels of a program. Outlives the device that has loaded it.
struct DeviceCode {
  /// Ends with a zero.
  const char *ptx = nullptr;
  std::span<const DeviceKernel> kernels;
  /// Whether streams are asked for products, for which a device may need a
  /// library more.
  bool multiplies = false;
  /// Whether products may round factors to TF32, which keeps 10 bits behind the
  /// first; those that may round theirs to bf16 do not.
  bool roundsToTF32 = false;

  /// Whether there is that kernel, and it takes so many arguments.
  Status checkLaunch(size_t kernel, size_t arguments) const;
};

/// C = A op B + bias, of f32, all row-major. A is m x k, or k x m if it is
/// transposed; B is k x n, or n x k; both without gaps. None of the sizes is 0.
/// C overlaps nothing else.
struct DeviceProduct {
  bool transposeA = false, transposeB = false;
  int64_t m = 0, n = 0, k = 0;
  const void *a = nullptr;
  const void *b = nullptr;
  /// Of n elements, for each row of C; null: none.
  const void *bias = nullptr;
  void *c = nullptr;
  /// From row to row of C, n or more; what lies between them stays.
  int64_t cStride = 0;
  /// Whether factors may be rounded to bf16. Sums are of f32 in any case.
  bool roundsFactors = false;
};

class Device;
class DeviceGroup;
struct DeviceGroupPlace;

/// By what devices of several processes find each other. One of the processes
/// makes it, and tells it to the others.
using DeviceGroupName = std::array<char, 128>;

/// Memory that its device gave; goes back when this ends.
class DeviceBuffer {
public:
  enum class Kind : uint8_t {
    /// The device's own. The host reaches it through copies alone.
    OfDevice,
    /// The host's, from and to which copies run beside the host's work.
    OfHost
  };

  DeviceBuffer() = default;
  DeviceBuffer(Device &device, Kind kind, void *pointer, size_t bytes);
  DeviceBuffer(DeviceBuffer &&other) noexcept { *this = std::move(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer() { release(); }

  /// Null where there is none.
  void *data() const { return pointer; }
  size_t size() const { return bytes; }
  void release();

private:
  Device *device = nullptr;
  Kind kind = Kind::OfDevice;
  void *pointer = nullptr;
  size_t bytes = 0;
};

/// Memory that a kernel uses beside that of its arguments, because something
/// there points to it: any address of the buffer.
struct DeviceUse {
  const void *memory;
  bool isWritten;
};

/// A moment in a stream's work. Of one device.
class DeviceEvent {
public:
  virtual ~DeviceEvent();
};

/// Work that is kept, to be done again. Of one device.
class DeviceGraph {
public:
  virtual ~DeviceGraph();
};

/// Work that a device does in order. One thread at a time; streams may be used
/// beside each other.
class DeviceStream {
public:
  virtual ~DeviceStream();

  virtual Status copyIn(void *toDevice, const void *fromHost, size_t bytes) = 0;
  virtual Status copyOut(void *toHost, const void *fromDevice,
                         size_t bytes) = 0;
  virtual Status copyWithin(void *to, const void *from, size_t bytes) = 0;
  /// Makes all bytes 0.
  virtual Status clear(void *memory, size_t bytes) = 0;
  /// Runs kernel `kernel` of the loaded code, which has so many turns (one that
  /// a single thread does has one); none is no work. `arguments` are copied.
  /// `beside`: what it uses besides. `symbol`: whose kernel it is, for traces,
  /// where symbols share one; lives as long as the process.
  virtual Status launch(size_t kernel, int64_t turns,
                        std::span<const uint64_t> arguments,
                        std::span<const DeviceUse> beside = {},
                        const char *symbol = nullptr) = 0;
  /// Forms a product, in an order that depends on its sizes, on how its memory
  /// is aligned, and on the device: the same each time. False, and no work,
  /// where the device has nothing for it. Only of code that multiplies.
  virtual Expected<bool> multiply(const DeviceProduct &product) = 0;
  /// A moment behind all that was added until now.
  virtual Expected<std::unique_ptr<DeviceEvent>> record() = 0;
  /// Lets what is added from now on wait for a moment of any stream.
  virtual Status wait(const DeviceEvent &event) = 0;
  /// Waits until all is done; its error, if there was one.
  virtual Status synchronize() = 0;

  /// Up to `endCapture`, copies, clears, launches and products are kept and not
  /// done. Nothing else is asked for meanwhile. Memory of the host is such as
  /// the device gave.
  virtual Status beginCapture() = 0;
  /// What was kept since. An error says why there is no graph; the stream is as
  /// it was before.
  virtual Expected<std::unique_ptr<DeviceGraph>> endCapture() = 0;
  /// Adds all that a graph keeps. It stays until that is done.
  virtual Status replay(const DeviceGraph &graph) = 0;
};

/// A device. Thread-safe, but for `load`. Outlives its buffers, streams and
/// events.
class Device {
public:
  virtual ~Device();

  /// Its name, for logs, which no other device of the process has.
  virtual std::string describe() const = 0;
  /// Takes the kernels that `launch` names, and opens what products need. Once,
  /// before the first of both. Errors name what is missing.
  virtual Status load(const DeviceCode &code) = 0;
  /// At addresses that are multiples of 64. What it holds is not defined. An
  /// error with PDL_OUT_OF_MEMORY says how much is missing.
  virtual Expected<DeviceBuffer> allocate(DeviceBuffer::Kind kind,
                                          size_t bytes) = 0;
  /// `name`: of the stream in traces, which have its work where they are on.
  virtual Expected<std::unique_ptr<DeviceStream>>
  createStream(const std::string &name) = 0;
  /// Bytes of its own memory that buffers have had at the most at once. What a
  /// driver or a library takes for itself is not counted.
  size_t mostBytes() const { return most.load(std::memory_order_relaxed); }
  /// A group of devices of its kind, of which it is the first: by NCCL between
  /// NVIDIA's GPUs, where that is installed.
  virtual Expected<std::unique_ptr<DeviceGroup>>
  createGroup(std::span<Device *const> devices);

  // Groups of several processes (DeviceGroup.h).

  /// Which devices of other processes may be in a group with this one: those
  /// that say the same. An error says why none may.
  virtual Expected<std::string> groupKind() const;
  /// Makes a name for such a group.
  virtual Expected<DeviceGroupName> nameGroup();
  /// Joins one with devices of this process, of which it is the first; blocks
  /// until all are there.
  virtual Expected<std::unique_ptr<DeviceGroup>>
  joinGroup(std::span<Device *const> devices, const DeviceGroupPlace &place);

private:
  friend class DeviceBuffer;
  virtual void release(DeviceBuffer::Kind kind, void *pointer,
                       size_t bytes) = 0;

  std::atomic<size_t> held = 0, most = 0;
};

/// Makes room for `bytes` bytes, and for a quarter more where that needs new
/// memory, so that what grows slowly settles soon. What it held is lost then.
/// Nobody uses it.
Status reserve(Device &device, DeviceBuffer &memory, DeviceBuffer::Kind kind,
               size_t bytes);

/// Makes a stream of that name, unless there is one.
Status openOnce(Device &device, std::unique_ptr<DeviceStream> &stream,
                const char *name);

/// What goes wrong with a device that is none, for tests: how many calls go
/// well before; -1: all.
struct FakeFaults {
  int64_t allocations = -1;
  int64_t launches = -1;
  /// Products that it forms; it has nothing for more of them, which is no
  /// error.
  int64_t products = -1;
  /// Pieces of work, of all streams; behind them the device is lost.
  int64_t work = -1;
};

/// A device that is none: its memory is a range of addresses of this process
/// that nobody may touch but kernels and copies, its kernels are those of the
/// host, thread after thread in no useful order, and work is done as late as it
/// may be. What a GPU would punish is an error with a sentence: a host's
/// pointer where a device's is due and the other way round, ranges that are too
/// long, memory of a buffer that two streams use without an event between them,
/// or that is given back while a stream uses it, and what a kernel touches
/// besides the buffers that its launch names, or writes of what it only reads.
/// A buffer is one thing: who uses some of it uses it all. New memory, and what
/// a copy from the device is yet to bring, holds NaN, unless a copy is yet to
/// read it. `number`: what tells it from others in logs and traces.
std::unique_ptr<Device> createFakeDevice(const FakeFaults &faults = {},
                                         int number = 0);

/// NVIDIA's GPU of that number, through the driver's library, which is opened
/// now. Errors name what is missing.
Expected<std::unique_ptr<Device>> openCudaDevice(int number);

} // namespace pdlrt

#endif // PDLRT_DEVICE_DEVICE_H
