//===- FakeDevice.cpp - Fake device for tests -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work is delayed until the host waits for it. So if the host reads data too
// early, the data have not arrived, and if it overwrites data too early, the
// work sees this.
//
// Vector clocks (Mattern, "Virtual Time and Global States of Distributed
// Systems", 1989) determine which memory two streams may use. For each piece of
// work they contain how much work of each other stream was done before it,
// because of events or because the host had waited.
//
//===----------------------------------------------------------------------===//

#include "Device/FakeMemory.h"
#include "Device/GroupSockets.h"
#include "Device/HostGroup.h"
#include "pdlabi/abi/calls.h"
#include "pdlabi/device.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Device/Device.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>

using namespace pdlrt;

namespace {

/// Number of finished pieces of work, by stream.
class VectorClock {
public:
  uint64_t of(size_t stream) const {
    return stream < counts.size() ? counts[stream] : 0;
  }
  /// Adds a piece of work to a stream. Returns its number in the stream.
  uint64_t advance(size_t stream) {
    counts.resize(std::max(counts.size(), stream + 1));
    return ++counts[stream];
  }
  void join(const VectorClock &other) {
    counts.resize(std::max(counts.size(), other.counts.size()));
    for (size_t i = 0; i < other.counts.size(); ++i)
      counts[i] = std::max(counts[i], other.counts[i]);
  }

private:
  std::vector<uint64_t> counts;
};

/// Source or target of a copy.
struct CopyEnd {
  const void *pointer;
  bool isWritten;
};

struct Work {
  /// Names for the trace; they live as long as the process. `symbol` may be
  /// null.
  const char *name;
  const char *symbol;
  std::vector<FakeUse> uses;
  std::function<void()> body;
  /// Host memory that the work has not read yet.
  std::span<const char> source = {};
  /// Number of a stream, and number of its pieces of work that must be done
  /// before this one.
  size_t before = 0;
  uint64_t countBefore = 0;
};

class FakeDevice;
class FakeStream;

/// Recorded calls of a stream.
struct FakeGraph final : DeviceGraph {
  std::vector<std::function<Status()>> calls;
};

struct FakeEvent final : DeviceEvent {
  const FakeDevice *device = nullptr;
  size_t stream = 0;
  uint64_t count = 0;
  VectorClock clock;
};

/// The work of a stream. The device owns it, because events and other streams
/// refer to it by its number, also after the stream was destroyed. The
/// destructor of the stream does the waiting work.
struct Queue {
  explicit Queue(const std::string &name) : track(name) {}

  std::deque<Work> waiting;
  /// Number of pieces added, and done.
  uint64_t added = 0, done = 0;
  VectorClock clock;
  TraceTrack track;
};

class FakeDevice final : public Device {
public:
  FakeDevice(const FakeFaults &faults, int number)
      : label("fake " + std::to_string(number)), faults(faults) {}

  std::string describe() const override {
    return label + ", a device that runs kernels on the host and checks them";
  }
  Status load(const DeviceCode &given) override;
  Expected<DeviceBuffer> allocate(DeviceBuffer::Kind kind,
                                  size_t bytes) override;
  Expected<std::unique_ptr<DeviceStream>>
  createStream(const std::string &name) override;
  Expected<std::string> groupKind() const override {
    return std::string("fake devices");
  }
  Expected<DeviceGroupName> nameGroup() override {
    return GroupSockets::makeName();
  }
  Expected<std::unique_ptr<DeviceGroup>>
  joinGroup(std::span<Device *const> devices,
            const DeviceGroupPlace &place) override {
    return joinHostGroup(devices, place);
  }

private:
  friend class FakeStream;

  void release(DeviceBuffer::Kind kind, void *pointer, size_t bytes) override;

  Expected<FakeUse> useOf(const char *name, const void *pointer, size_t bytes,
                          bool isWritten) PDLRT_REQUIRES(mutex);
  void forget(const FakeAllocation &allocation) PDLRT_REQUIRES(mutex);
  Status checkHost(const char *name, const void *pointer) PDLRT_REQUIRES(mutex);
  Status noteUses(size_t stream, const char *name,
                  std::span<const FakeUse> uses) PDLRT_REQUIRES(mutex);
  Status add(size_t stream, const char *name, std::span<const FakeUse> uses,
             std::function<void()> body, const char *symbol = nullptr)
      PDLRT_REQUIRES(mutex);
  Status addHostCopy(size_t stream, const char *name, CopyEnd ofHost,
                     CopyEnd ofDevice, size_t bytes, std::function<void()> body)
      PDLRT_REQUIRES(mutex);
  Status run(size_t stream, uint64_t upTo) PDLRT_REQUIRES(mutex);
  bool isSource(const void *pointer, size_t bytes) const PDLRT_REQUIRES(mutex);
  Status fail(Status status) PDLRT_REQUIRES(mutex) {
    if (failure.ok())
      failure = std::move(status);
    return failure;
  }

  const std::string label;
  Mutex mutex;
  FakeFaults faults PDLRT_GUARDED_BY(mutex);
  DeviceCode code PDLRT_GUARDED_BY(mutex);
  bool isLoaded PDLRT_GUARDED_BY(mutex) = false;
  FakeMemory memory PDLRT_GUARDED_BY(mutex);
  /// Host memory that this device has allocated.
  FakeAllocations hostMemory PDLRT_GUARDED_BY(mutex);
  std::deque<Queue> queues PDLRT_GUARDED_BY(mutex);
  /// Work for which the host has waited.
  VectorClock host PDLRT_GUARDED_BY(mutex);
  /// The error after which the device must not be used.
  Status failure PDLRT_GUARDED_BY(mutex);
};

class FakeStream final : public DeviceStream {
public:
  FakeStream(FakeDevice &on, size_t number) : device(on), number(number) {}
  ~FakeStream() override;
  Status copyIn(void *to, const void *from, size_t bytes) override;
  Status copyOut(void *to, const void *from, size_t bytes) override;
  Status copyWithin(void *to, const void *from, size_t bytes) override;
  Status clear(void *memory, size_t bytes) override;
  Status launch(size_t kernel, int64_t turns,
                std::span<const uint64_t> arguments,
                std::span<const DeviceUse> extraUses,
                const char *symbol) override;
  Expected<bool> multiply(const DeviceProduct &product) override;
  Expected<std::unique_ptr<DeviceEvent>> record() override;
  Status wait(const DeviceEvent &event) override;
  Status synchronize() override;
  Status beginCapture() override;
  Expected<std::unique_ptr<DeviceGraph>> endCapture() override;
  Status replay(const DeviceGraph &graph) override;

private:
  Status addProduct(const DeviceProduct &product);
  /// Returns the error of a call that is not allowed while a graph is captured.
  /// A real driver would fail the capture.
  Status refuseInCapture(const char *what) PDLRT_REQUIRES(device.mutex);
  /// Checks the host memory of a copy that is recorded in a graph. The graph
  /// copies later, so the device must have allocated the memory.
  Status checkKeptCopy(const void *ofHost) PDLRT_EXCLUDES(device.mutex);
  Status keep(std::function<Status()> call) {
    kept->calls.push_back(std::move(call));
    return {};
  }

  FakeDevice &device;
  const size_t number;
  /// Null unless work is being recorded.
  std::unique_ptr<FakeGraph> kept;
};

} // namespace

/// Returns true while the given number of calls is not used up; -1: always.
static bool goesWell(int64_t &left) {
  if (left > 0)
    --left;
  else if (left == 0)
    return false;
  return true;
}

static std::string streamName(size_t stream) {
  return "stream " + std::to_string(stream);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Expected<DeviceBuffer> FakeDevice::allocate(DeviceBuffer::Kind kind,
                                            size_t bytes) {
  const MutexLock lock(mutex);
  const auto tooMuch = [bytes] {
    return Status::outOfMemory("the device has no " + std::to_string(bytes) +
                               " bytes left; use a smaller --batch-size");
  };
  if (!failure.ok())
    return failure;
  if (!goesWell(faults.allocations))
    return tooMuch();
  if (kind == DeviceBuffer::Kind::OfDevice) {
    const FakeAllocation *found = memory.allocate(bytes);
    if (!found)
      return tooMuch();
    return DeviceBuffer(*this, kind, found->begin, bytes);
  }
  auto *found = static_cast<char *>(
      std::aligned_alloc(64, (std::max<size_t>(bytes, 1) + 63) / 64 * 64));
  if (!found)
    return tooMuch();
  FakeAllocation &allocation = hostMemory[found];
  allocation.begin = found;
  allocation.bytes = bytes;
  return DeviceBuffer(*this, kind, found, bytes);
}

/// Removes the work that uses `allocation`, which is about to be freed. Reports
/// an error if the host has not waited for work that uses it.
void FakeDevice::forget(const FakeAllocation &allocation) {
  bool isUsed = allocation.written > host.of(allocation.writer);
  for (const auto &[stream, count] : allocation.readers)
    isUsed |= count > host.of(stream);
  if (isUsed && failure.ok())
    (void)fail(Status::internal("memory is given back while work of a stream "
                                "uses it: wait for the stream before"));
  for (Queue &queue : queues)
    std::erase_if(queue.waiting, [&](const Work &work) {
      return std::ranges::any_of(work.uses, [&](const FakeUse &use) {
        return use.allocation == &allocation;
      });
    });
}

void FakeDevice::release(DeviceBuffer::Kind kind, void *pointer, size_t bytes) {
  const MutexLock lock(mutex);
  if (kind == DeviceBuffer::Kind::OfHost) {
    if (const auto found = hostMemory.find(static_cast<char *>(pointer));
        found != hostMemory.end()) {
      forget(found->second);
      hostMemory.erase(found);
      std::free(pointer);
    }
    return;
  }
  if (FakeAllocation *allocation = memory.find(pointer, bytes)) {
    forget(*allocation);
    memory.release(*allocation);
  }
}

Status FakeDevice::load(const DeviceCode &given) {
  const MutexLock lock(mutex);
  if (std::exchange(isLoaded, true))
    return fail(Status::internal("the device has loaded its kernels before"));
  code = given;
  return {};
}

Expected<FakeUse> FakeDevice::useOf(const char *name, const void *pointer,
                                    size_t bytes, bool isWritten) {
  if (FakeAllocation *found = memory.find(pointer, bytes))
    return FakeUse{found, isWritten};
  if (!memory.contains(pointer))
    return fail(Status::internal(std::string(name) +
                                 " is given a pointer of the host where "
                                 "one of the device is expected"));
  return fail(Status::internal(
      std::string(name) + " is given " + std::to_string(bytes) +
      " bytes of the device that are not, or not all, allocated"));
}

Status FakeDevice::checkHost(const char *name, const void *pointer) {
  if (!memory.contains(pointer))
    return {};
  return fail(Status::internal(std::string(name) +
                               " is given a pointer of the device where "
                               "one of the host is expected"));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Checks for all `uses` that the stream has waited for the earlier work of
/// other streams on this memory. Records the uses.
Status FakeDevice::noteUses(size_t stream, const char *name,
                            std::span<const FakeUse> uses) {
  VectorClock &clock = queues[stream].clock;
  const auto mustWait = [&](size_t other, const char *does) {
    return Status::internal(std::string(name) + " in " + streamName(stream) +
                            " uses memory that " + streamName(other) + " " +
                            does + ": let it wait for an event of that");
  };
  for (const FakeUse &use : uses) {
    const FakeAllocation &at = *use.allocation;
    if (at.written > clock.of(at.writer))
      return mustWait(at.writer, "writes");
    if (use.isWritten)
      for (const auto &[other, count] : at.readers)
        if (count > clock.of(other))
          return mustWait(other, "reads");
  }
  const uint64_t number = clock.advance(stream);
  for (const FakeUse &use : uses) {
    if (use.isWritten) {
      use.allocation->writer = stream;
      use.allocation->written = number;
      use.allocation->readers.clear();
    } else {
      use.allocation->readers[stream] = number;
    }
  }
  return {};
}

Status FakeDevice::add(size_t stream, const char *name,
                       std::span<const FakeUse> uses,
                       std::function<void()> body, const char *symbol) {
  if (!failure.ok())
    return failure;
  // Work that the host has waited for is done before all later work.
  Queue &queue = queues[stream];
  queue.clock.join(host);
  if (Status status = noteUses(stream, name, uses); !status.ok())
    return fail(std::move(status));
  Work work;
  work.name = name;
  work.symbol = symbol;
  work.uses.assign(uses.begin(), uses.end());
  work.body = std::move(body);
  queue.waiting.push_back(std::move(work));
  ++queue.added;
  return {};
}

/// Adds a copy between host and device.
Status FakeDevice::addHostCopy(size_t stream, const char *name, CopyEnd ofHost,
                               CopyEnd ofDevice, size_t bytes,
                               std::function<void()> body) {
  PDLRT_RETURN_IF_ERROR(checkHost(name, ofHost.pointer));
  const Expected<FakeUse> use =
      useOf(name, ofDevice.pointer, bytes, ofDevice.isWritten);
  if (!use)
    return use.status();
  std::vector<FakeUse> uses = {*use};
  // Host memory that was not allocated by the device is not tracked.
  if (FakeAllocation *given = findAllocation(hostMemory, ofHost.pointer, 1))
    uses.push_back({given, ofHost.isWritten});
  return add(stream, name, uses, std::move(body));
}

/// Does the work of a stream, up to piece number `upTo`. If a piece waits for
/// work of another stream, does that work first.
Status FakeDevice::run(size_t stream, uint64_t upTo) {
  Queue &queue = queues[stream];
  while (failure.ok() && queue.done < upTo && !queue.waiting.empty()) {
    const Work work = std::move(queue.waiting.front());
    queue.waiting.pop_front();
    ++queue.done;
    if (work.countBefore > 0)
      PDLRT_RETURN_IF_ERROR(run(work.before, work.countBefore));
    if (!goesWell(faults.work))
      return fail(Status::unavailable(
          "the device is lost: the fake one was told to fail"));
    if (!work.body)
      continue;
    const int64_t begin = Trace::now();
    Status status = FakeMemory::touch(work.uses, work.body);
    queue.track.record({work.name, begin, Trace::now(), {}, work.symbol});
    if (!status.ok())
      return fail(std::move(status).withContext(work.name));
  }
  return failure;
}

/// Returns true if pending work is to read part of the memory.
bool FakeDevice::isSource(const void *pointer, size_t bytes) const {
  const auto *begin = static_cast<const char *>(pointer);
  return std::any_of(queues.begin(), queues.end(), [&](const Queue &queue) {
    return std::any_of(
        queue.waiting.begin(), queue.waiting.end(), [&](const Work &work) {
          return begin < work.source.data() + work.source.size() &&
                 work.source.data() < begin + bytes;
        });
  });
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<DeviceStream>>
FakeDevice::createStream(const std::string &name) {
  const MutexLock lock(mutex);
  if (!failure.ok())
    return failure;
  queues.emplace_back(label + ": " + name);
  return std::unique_ptr<DeviceStream>(
      std::make_unique<FakeStream>(*this, queues.size() - 1));
}

FakeStream::~FakeStream() { (void)synchronize(); }

Status FakeStream::refuseInCapture(const char *what) {
  return kept ? device.fail(Status::internal(std::string("the host ") + what +
                                             " a stream whose work is kept"))
              : Status();
}

Status FakeStream::checkKeptCopy(const void *ofHost) {
  const MutexLock lock(device.mutex);
  return findAllocation(device.hostMemory, ofHost, 1)
             ? Status()
             : device.fail(Status::internal(
                   "a copy is kept whose memory of the host the device did not "
                   "give"));
}

Status FakeStream::copyIn(void *to, const void *from, size_t bytes) {
  if (kept && bytes > 0)
    PDLRT_RETURN_IF_ERROR(checkKeptCopy(from));
  if (kept)
    return keep([=, this] { return copyIn(to, from, bytes); });
  const MutexLock lock(device.mutex);
  if (bytes == 0)
    return device.failure;
  PDLRT_RETURN_IF_ERROR(device.addHostCopy(
      number, "a copy to the device", {from, /*isWritten=*/false},
      {to, /*isWritten=*/true}, bytes, [=] { std::memcpy(to, from, bytes); }));
  device.queues[number].waiting.back().source = {
      static_cast<const char *>(from), bytes};
  return {};
}

Status FakeStream::copyOut(void *to, const void *from, size_t bytes) {
  if (kept && bytes > 0)
    PDLRT_RETURN_IF_ERROR(checkKeptCopy(to));
  if (kept)
    return keep([=, this] { return copyOut(to, from, bytes); });
  const MutexLock lock(device.mutex);
  if (bytes == 0)
    return device.failure;
  PDLRT_RETURN_IF_ERROR(
      device.addHostCopy(number, "a copy from the device",
                         {to, /*isWritten=*/true}, {from, /*isWritten=*/false},
                         bytes, [=] { std::memcpy(to, from, bytes); }));
  // A caller that reads the target too early gets NaN.
  if (!device.isSource(to, bytes))
    std::memset(to, 0xFF, bytes);
  return {};
}

Status FakeStream::copyWithin(void *to, const void *from, size_t bytes) {
  if (kept)
    return keep([=, this] { return copyWithin(to, from, bytes); });
  const MutexLock lock(device.mutex);
  if (bytes == 0)
    return device.failure;
  const char *const name = "a copy within the device";
  const Expected<FakeUse> target =
      device.useOf(name, to, bytes, /*isWritten=*/true);
  if (!target)
    return target.status();
  const Expected<FakeUse> source =
      device.useOf(name, from, bytes, /*isWritten=*/false);
  if (!source)
    return source.status();
  const auto *first = static_cast<const char *>(from);
  const auto *second = static_cast<const char *>(to);
  if (first < second + bytes && second < first + bytes)
    return device.fail(Status::internal(
        std::string(name) +
        " reads what it writes: a device does that in any order"));
  return device.add(number, name, std::array{*source, *target},
                    [=] { std::memcpy(to, from, bytes); });
}

Status FakeStream::clear(void *to, size_t bytes) {
  if (kept)
    return keep([=, this] { return clear(to, bytes); });
  const MutexLock lock(device.mutex);
  if (bytes == 0)
    return device.failure;
  const char *const name = "clearing memory";
  const Expected<FakeUse> use =
      device.useOf(name, to, bytes, /*isWritten=*/true);
  if (!use)
    return use.status();
  return device.add(number, name, {&*use, 1},
                    [=] { std::memset(to, 0, bytes); });
}

/// Runs a kernel with as many threads as a device might have. Their order is
/// arbitrary, so that a result that depends on the order is found by tests.
static void runThreads(const DeviceKernel &kernel, int64_t turns,
                       const uint64_t *arguments) {
  constexpr int64_t most = 509; // a prime
  const int64_t threads = std::min(turns, most);
  // The multiples of 211 modulo 509 are all numbers below 509, in mixed order.
  // With fewer threads, the last thread runs first.
  for (int64_t i = 0; i < threads; ++i)
    kernel.run(arguments, threads == most ? i * 211 % most : threads - 1 - i,
               threads);
}

Status FakeStream::launch(size_t index, int64_t turns,
                          std::span<const uint64_t> arguments,
                          std::span<const DeviceUse> extraUses,
                          const char *symbol) {
  if (kept)
    return keep(
        [this, index, turns, symbol,
         given = std::vector<uint64_t>(arguments.begin(), arguments.end()),
         reached = std::vector<DeviceUse>(extraUses.begin(), extraUses.end())] {
          return launch(index, turns, given, reached, symbol);
        });
  const MutexLock lock(device.mutex);
  if (Status status = device.code.checkLaunch(index, arguments.size());
      !status.ok())
    return device.fail(std::move(status));
  const DeviceKernel &kernel = device.code.kernels[index];
  if (turns <= 0)
    return {};
  if (!goesWell(device.faults.launches))
    return device.fail(Status::unavailable(
        std::string(kernel.name) + " cannot be launched: the fake device "
                                   "was told to fail"));
  std::vector<FakeUse> uses;
  // The range that a kernel uses is determined when it runs.
  const auto note = [&](const void *memory, bool isWritten)
                        PDLRT_REQUIRES(device.mutex) -> Status {
    const Expected<FakeUse> use =
        device.useOf(kernel.name, memory, 0, isWritten);
    if (!use)
      return use.status();
    uses.push_back(*use);
    return {};
  };
  for (size_t i = 0; i < arguments.size(); ++i)
    // Null: not used.
    if (kernel.arguments[i] != DeviceArgument::Number && arguments[i] != 0)
      PDLRT_RETURN_IF_ERROR(
          note(reinterpret_cast<const void *>(arguments[i]),
               kernel.arguments[i] == DeviceArgument::Written));
  for (const DeviceUse &use : extraUses)
    PDLRT_RETURN_IF_ERROR(note(use.memory, use.isWritten));
  return device.add(
      number, kernel.name, uses,
      [&kernel, turns,
       given = std::vector<uint64_t>(arguments.begin(), arguments.end())] {
        runThreads(kernel, turns, given.data());
      },
      symbol);
}

/// Rounds to nearest, ties to even; 13 bits are cut off.
static float roundToTF32(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  return std::isnan(number) ? number
                            : std::bit_cast<float>(
                                  (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

/// Returns a matrix without gaps with rounded elements.
static std::vector<float> roundedToTF32(const float *elements, int64_t count) {
  std::vector<float> rounded(elements, elements + count);
  std::ranges::transform(rounded, rounded.begin(), roundToTF32);
  return rounded;
}

/// Uses the order of strict numerics; a device may use any order.
static void multiplyOnHost(DeviceProduct product, bool roundsToTF32) {
  const auto floats = [](const void *memory) {
    return static_cast<const float *>(memory);
  };
  std::vector<float> a, b;
  if (roundsToTF32 && !product.roundsFactors) {
    a = roundedToTF32(floats(product.a), product.m * product.k);
    b = roundedToTF32(floats(product.b), product.k * product.n);
    product.a = a.data();
    product.b = b.data();
  }
  const auto multiply = product.roundsFactors ? pdldevice_bf16_product_f32
                                              : pdldevice_product_f32;
  multiply(product.transposeA, product.transposeB, product.m, product.n,
           product.k, floats(product.a), floats(product.b),
           product.bias ? PDL_POST_BIAS : 0, floats(product.bias), nullptr,
           static_cast<float *>(product.c), product.cStride, 0, 1);
}

Expected<bool> FakeStream::multiply(const DeviceProduct &product) {
  {
    const MutexLock lock(device.mutex);
    if (!device.code.multiplies)
      return device.fail(Status::internal(
          "the device is asked for a product by code that has none"));
    if (!goesWell(device.faults.products))
      return false;
  }
  PDLRT_RETURN_IF_ERROR(kept ? keep([=, this] { return addProduct(product); })
                             : addProduct(product));
  return true;
}

Status FakeStream::addProduct(const DeviceProduct &product) {
  const MutexLock lock(device.mutex);
  const char *const name = "a product";
  if (product.m <= 0 || product.n <= 0 || product.k <= 0 ||
      product.cStride < product.n)
    return device.fail(Status::internal(
        "a product of " + std::to_string(product.m) + " x " +
        std::to_string(product.n) + " x " + std::to_string(product.k) +
        ", with rows " + std::to_string(product.cStride) + " apart"));
  const auto bytes = [](int64_t elements) {
    return size_t(elements) * sizeof(float);
  };
  const size_t written = bytes((product.m - 1) * product.cStride + product.n);
  std::vector<FakeUse> uses;
  for (const auto &[memory, size, isWritten] :
       {std::tuple(product.a, bytes(product.m * product.k), false),
        std::tuple(product.b, bytes(product.k * product.n), false),
        std::tuple(product.bias, bytes(product.n), false),
        std::tuple<const void *, size_t, bool>(product.c, written, true)}) {
    if (memory == product.bias && !memory)
      continue;
    const Expected<FakeUse> use = device.useOf(name, memory, size, isWritten);
    if (!use)
      return use.status();
    uses.push_back(*use);
    const auto *begin = static_cast<const char *>(memory);
    const auto *c = static_cast<const char *>(product.c);
    if (!isWritten && begin < c + written && c < begin + size)
      return device.fail(Status::internal(
          "a product reads what it writes: a device does that in any order"));
  }
  if (!goesWell(device.faults.launches))
    return device.fail(
        Status::unavailable("a product cannot be launched: the fake "
                            "device was told to fail"));
  return device.add(number, name, uses,
                    [product, roundsToTF32 = device.code.roundsToTF32] {
                      multiplyOnHost(product, roundsToTF32);
                    });
}

Expected<std::unique_ptr<DeviceEvent>> FakeStream::record() {
  const MutexLock lock(device.mutex);
  PDLRT_RETURN_IF_ERROR(refuseInCapture("asks for an event of"));
  if (!device.failure.ok())
    return device.failure;
  const Queue &queue = device.queues[number];
  auto event = std::make_unique<FakeEvent>();
  event->device = &device;
  event->stream = number;
  event->count = queue.added;
  event->clock = queue.clock;
  return std::unique_ptr<DeviceEvent>(std::move(event));
}

Status FakeStream::wait(const DeviceEvent &given) {
  const MutexLock lock(device.mutex);
  PDLRT_RETURN_IF_ERROR(refuseInCapture("adds a wait to"));
  if (!device.failure.ok())
    return device.failure;
  const auto &event = static_cast<const FakeEvent &>(given);
  if (event.device != &device)
    return device.fail(
        Status::internal("a stream waits for an event of another device"));
  Queue &queue = device.queues[number];
  queue.clock.join(event.clock);
  queue.clock.advance(number);
  Work work;
  work.name = "a wait";
  work.symbol = nullptr;
  work.before = event.stream;
  work.countBefore = event.count;
  queue.waiting.push_back(std::move(work));
  ++queue.added;
  return {};
}

Status FakeStream::beginCapture() {
  if (kept) {
    const MutexLock lock(device.mutex);
    return device.fail(Status::internal("a capture begins in another one"));
  }
  kept = std::make_unique<FakeGraph>();
  return {};
}

Expected<std::unique_ptr<DeviceGraph>> FakeStream::endCapture() {
  if (!kept) {
    const MutexLock lock(device.mutex);
    return device.fail(Status::internal("a capture ends that did not begin"));
  }
  return std::unique_ptr<DeviceGraph>(std::move(kept));
}

Status FakeStream::replay(const DeviceGraph &graph) {
  for (const auto &call : static_cast<const FakeGraph &>(graph).calls)
    PDLRT_RETURN_IF_ERROR(call());
  return {};
}

Status FakeStream::synchronize() {
  const MutexLock lock(device.mutex);
  PDLRT_RETURN_IF_ERROR(refuseInCapture("waits for"));
  PDLRT_RETURN_IF_ERROR(device.run(number, device.queues[number].added));
  device.host.join(device.queues[number].clock);
  return {};
}

std::unique_ptr<Device> pdlrt::createFakeDevice(const FakeFaults &faults,
                                                int number) {
  return std::make_unique<FakeDevice>(faults, number);
}
