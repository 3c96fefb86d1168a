//===- CudaDevice.cpp - NVIDIA GPUs ---------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/CublasProducts.h"
#include "Device/CudaDriver.h"
#include "Device/Nccl.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Device/Device.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::cuda;

/// Number of threads per block for which kernels are compiled
/// (lib/Target/DeviceCode.cpp).
static constexpr int64_t blockThreads = 256;
/// Threads per warp.
static constexpr int64_t warpThreads = 32;
/// Maximum number of threads that a multiprocessor runs at a time. Further
/// threads would wait.
static constexpr int64_t threadsOfMultiprocessor = 2048;

namespace {

class CudaDevice;

struct CudaEvent final : DeviceEvent {
  explicit CudaEvent(CudaDevice &on) : device(on) {}
  ~CudaEvent() override;
  CudaDevice &device;
  Event handle = nullptr;
};

struct CudaGraph final : DeviceGraph {
  explicit CudaGraph(CudaDevice &on) : device(on) {}
  ~CudaGraph() override;
  CudaDevice &device;
  GraphExecutable handle = nullptr;
};

/// Records how long each piece of work of a stream takes, if a trace is on.
/// Adds an event before and after each piece.
class StreamTrace {
public:
  StreamTrace(const CudaDevice &on, Stream stream, const std::string &name);
  ~StreamTrace();

  /// Adds work, between two events if a trace is on.
  template <typename Callable>
  Status around(const char *name, Callable &&work,
                const char *symbol = nullptr);
  /// Passes the spans to the trace. Call when all work is done.
  void collect();

private:
  struct Span {
    const char *name, *symbol; // live as long as the process
    Event begin, end;
  };
  /// Returns null if the driver cannot create an event.
  Event now();
  void forget();

  const CudaDevice &device;
  const Stream stream;
  TraceTrack track;
  std::vector<Span> spans;
};

class CudaStream final : public DeviceStream {
public:
  CudaStream(CudaDevice &on, Stream handle, const std::string &name)
      : device(on), handle(handle), trace(on, handle, name) {}
  ~CudaStream() override;
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

  static Stream handleOf(DeviceStream &stream) {
    return static_cast<CudaStream &>(stream).handle;
  }

private:
  CudaDevice &device;
  const Stream handle;
  StreamTrace trace;
  /// Created with the first product.
  std::unique_ptr<CublasProducts> products;
};

class CudaDevice final : public Device {
public:
  CudaDevice(const Driver &with, int number, const cublaslt::Library *products)
      : driver(with), number(number), products(products) {}
  ~CudaDevice() override;

  Status open();
  std::string describe() const override {
    return "GPU " + std::to_string(number) + ", " + name;
  }
  Status load(const DeviceCode &given) override;
  Expected<DeviceBuffer> allocate(DeviceBuffer::Kind kind,
                                  size_t bytes) override;
  Expected<std::unique_ptr<DeviceStream>>
  createStream(const std::string &name) override;
  Expected<std::unique_ptr<DeviceGroup>>
  createGroup(std::span<Device *const> devices) override;
  Expected<std::string> groupKind() const override;
  Expected<DeviceGroupName> nameGroup() override;
  Expected<std::unique_ptr<DeviceGroup>>
  joinGroup(std::span<Device *const> devices,
            const DeviceGroupPlace &place) override;

  /// Returns the error of a call, or ok. `what` describes the operation, for
  /// the message.
  Status check(Result result, const std::string &what) const;
  /// Makes the context current in the calling thread, which may be any thread.
  Status makeCurrent() const {
    return check(driver.setContext(context), "choosing the device");
  }

  const Driver &driver;

private:
  friend class CudaStream;

  void release(DeviceBuffer::Kind kind, void *pointer, size_t bytes) override;
  Status openProducts();

  Status checkArchitecture(std::string_view ptx) const;

  /// Number of the device among the GPUs that are visible to the process, as
  /// NCCL counts them.
  const int number;
  const cublaslt::Library *products;
  /// The driver's handle.
  DeviceNumber handle = 0;
  std::string name;
  int64_t multiprocessorCount = 1;
  /// Compute capability: 80 for sm_80.
  int architecture = 0;
  Context context = nullptr;
  Module module = nullptr;
  DeviceCode code;
  std::vector<Function> functions;
  /// Only if the code multiplies.
  std::unique_ptr<CublasHandle> multiplier;
};

} // namespace

static Address addressOf(const void *pointer) {
  return reinterpret_cast<Address>(pointer);
}

Status CudaDevice::check(Result result, const std::string &what) const {
  if (result == success)
    return {};
  const char *text = nullptr;
  if (driver.errorText(result, &text) != success || !text)
    text = "an error that the driver has no text for";
  if (result == outOfMemory)
    return Status::outOfMemory(what + ": " + text +
                               "; use a smaller --batch-size");
  return Status::unavailable(what + ": " + text + " (CUDA error " +
                             std::to_string(result) + ")");
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

Status CudaDevice::open() {
  PDLRT_RETURN_IF_ERROR(check(driver.init(0), "starting NVIDIA's driver"));
  int count = 0;
  PDLRT_RETURN_IF_ERROR(check(driver.deviceCount(&count), "counting the GPUs"));
  if (number < 0 || number >= count)
    return Status::notFound("there is no GPU " + std::to_string(number) +
                            ": this host has " + std::to_string(count) +
                            ", numbered from 0 on");
  PDLRT_RETURN_IF_ERROR(check(driver.findDevice(&handle, number),
                              "finding GPU " + std::to_string(number)));
  std::array<char, 256> text = {};
  PDLRT_RETURN_IF_ERROR(
      check(driver.deviceName(text.data(), int(text.size()), handle),
            "asking for the name of GPU " + std::to_string(number)));
  name = text.data();
  int found = 0, major = 0, minor = 0;
  for (const auto &[value, attribute] : {std::pair{&found, multiprocessors},
                                         {&major, architectureMajor},
                                         {&minor, architectureMinor}})
    PDLRT_RETURN_IF_ERROR(
        check(driver.deviceAttribute(value, attribute, handle),
              "asking what " + name + " has"));
  multiprocessorCount = std::max(found, 1);
  architecture = major * 10 + minor;
  return check(driver.retainContext(&context, handle), "opening " + name);
}

CudaDevice::~CudaDevice() {
  if (!context || !makeCurrent().ok())
    return;
  multiplier.reset();
  if (module)
    (void)driver.unloadModule(module);
  (void)driver.releaseContext(handle);
}

/// Checks that this GPU can run the kernels. The error of the driver would
/// contain no remedy.
Status CudaDevice::checkArchitecture(std::string_view ptx) const {
  static constexpr std::string_view line = ".target sm_";
  const size_t place = ptx.find(line);
  if (place == std::string_view::npos)
    return {};
  int oldest = 0;
  const std::string_view rest = ptx.substr(place + line.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), oldest);
  if (oldest <= architecture)
    return {};
  // The oldest architecture for which kernels can be compiled.
  constexpr int oldestOfAll = 70;
  const std::string own = "sm_" + std::to_string(architecture);
  return Status::failedPrecondition(
      "the kernels are for GPUs of sm_" + std::to_string(oldest) +
      " and later, but " + name + " is of " + own + ": " +
      (architecture < oldestOfAll
           ? "use a GPU of sm_70 or later, or a program for CPUs"
           : "translate the model with --gpu-arch " + own));
}

Status CudaDevice::load(const DeviceCode &given) {
  if (module)
    return Status::internal("the device has loaded its kernels before");
  PDLRT_RETURN_IF_ERROR(checkArchitecture(given.ptx));
  PDLRT_RETURN_IF_ERROR(makeCurrent());
  // Output of the driver's assembler.
  std::array<char, 4096> log = {};
  std::array options = {errorLog, errorLogBytes};
  std::array<void *, 2> values = {log.data(),
                                  reinterpret_cast<void *>(log.size() - 1)};
  const Result result =
      driver.loadModule(&module, given.ptx, unsigned(options.size()),
                        options.data(), values.data());
  if (Status status = check(result, "loading the kernels"); !status.ok())
    return log.front() ? std::move(status).withContext(log.data())
                       : std::move(status);
  code = given;
  functions.resize(given.kernels.size());
  for (size_t i = 0; i < functions.size(); ++i)
    PDLRT_RETURN_IF_ERROR(
        check(driver.getFunction(&functions[i], module, given.kernels[i].name),
              std::string("finding kernel ") + given.kernels[i].name));
  return code.multiplies ? openProducts() : Status();
}

Status CudaDevice::openProducts() {
  Expected<std::unique_ptr<CublasHandle>> created =
      products ? CublasHandle::create(*products, code.roundsToTF32)
               : CublasHandle::createFirst(products, code.roundsToTF32);
  if (!created)
    return std::move(created).status();
  multiplier = std::move(*created);
  return {};
}

Expected<DeviceBuffer> CudaDevice::allocate(DeviceBuffer::Kind kind,
                                            size_t bytes) {
  PDLRT_RETURN_IF_ERROR(makeCurrent());
  // The driver cannot allocate 0 bytes.
  const size_t asked = std::max<size_t>(bytes, 1);
  const std::string what =
      "allocating " + std::to_string(asked) + " bytes for " + name;
  void *pointer = nullptr;
  if (kind == DeviceBuffer::Kind::OfDevice) {
    Address address = 0;
    PDLRT_RETURN_IF_ERROR(check(driver.allocate(&address, asked), what));
    pointer = reinterpret_cast<void *>(address);
  } else {
    PDLRT_RETURN_IF_ERROR(check(driver.allocateHost(&pointer, asked), what));
  }
  return DeviceBuffer(*this, kind, pointer, bytes);
}

void CudaDevice::release(DeviceBuffer::Kind kind, void *pointer, size_t) {
  if (!makeCurrent().ok())
    return;
  if (kind == DeviceBuffer::Kind::OfDevice)
    (void)driver.release(addressOf(pointer));
  else
    (void)driver.releaseHost(pointer);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<DeviceStream>>
CudaDevice::createStream(const std::string &streamName) {
  PDLRT_RETURN_IF_ERROR(makeCurrent());
  Stream stream = nullptr;
  PDLRT_RETURN_IF_ERROR(
      check(driver.createStream(&stream, nonBlocking), "creating a stream"));
  return std::unique_ptr<DeviceStream>(std::make_unique<CudaStream>(
      *this, stream, describe() + ": " + streamName));
}

/// Without NCCL, the group exchanges data through the host.
Expected<std::unique_ptr<DeviceGroup>>
CudaDevice::createGroup(std::span<Device *const> devices) {
  const Expected<const nccl::Library *> library = nccl::openLibrary();
  if (!library) {
    logWarning(library.status().message() +
               "; until then gradients go from GPU to GPU through the host");
    return createHostGroup(devices);
  }
  std::vector<DeviceNumber> numbers;
  for (Device *each : devices)
    numbers.push_back(static_cast<CudaDevice *>(each)->number);
  return nccl::createGroup(**library, numbers, CudaStream::handleOf);
}

static Expected<const nccl::Library *> openForProcesses() {
  Expected<const nccl::Library *> library = nccl::openLibrary();
  if (library && !(*library)->joinsProcesses())
    return Status::failedPrecondition(
        "NCCL is older than its release 2.14: install a "
        "newer one, NVIDIA's package libnccl2");
  return library;
}

Expected<std::string> CudaDevice::groupKind() const {
  const Expected<const nccl::Library *> library = openForProcesses();
  if (!library)
    return library.status();
  return std::string("NVIDIA's GPUs");
}

Expected<DeviceGroupName> CudaDevice::nameGroup() {
  const Expected<const nccl::Library *> library = openForProcesses();
  if (!library)
    return library.status();
  return nccl::makeName(**library);
}

Expected<std::unique_ptr<DeviceGroup>>
CudaDevice::joinGroup(std::span<Device *const> devices,
                      const DeviceGroupPlace &place) {
  const Expected<const nccl::Library *> library = openForProcesses();
  if (!library)
    return library.status();
  return nccl::joinGroup(
      **library, place, devices.size(),
      [&](size_t d) {
        return static_cast<CudaDevice *>(devices[d])->makeCurrent();
      },
      CudaStream::handleOf);
}

CudaStream::~CudaStream() {
  if (!device.makeCurrent().ok())
    return;
  (void)device.driver.synchronizeStream(handle);
  products.reset();
  (void)device.driver.destroyStream(handle);
}

// The driver may reject copies and clears of 0 bytes.

Status CudaStream::copyIn(void *to, const void *from, size_t bytes) {
  if (bytes == 0)
    return {};
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  return trace.around("copy in", [&] {
    return device.check(
        device.driver.copyIn(addressOf(to), from, bytes, handle),
        "a copy to the device");
  });
}

Status CudaStream::copyOut(void *to, const void *from, size_t bytes) {
  if (bytes == 0)
    return {};
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  return trace.around("copy out", [&] {
    return device.check(
        device.driver.copyOut(to, addressOf(from), bytes, handle),
        "a copy from the device");
  });
}

Status CudaStream::copyWithin(void *to, const void *from, size_t bytes) {
  if (bytes == 0)
    return {};
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  return trace.around("copy within", [&] {
    return device.check(
        device.driver.copyWithin(addressOf(to), addressOf(from), bytes, handle),
        "a copy within the device");
  });
}

Status CudaStream::clear(void *memory, size_t bytes) {
  if (bytes == 0)
    return {};
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  return trace.around("clear", [&] {
    return device.check(device.driver.fill(addressOf(memory), 0, bytes, handle),
                        "clearing memory");
  });
}

Status CudaStream::launch(size_t kernel, int64_t turns,
                          std::span<const uint64_t> arguments,
                          std::span<const DeviceUse>, const char *symbol) {
  PDLRT_RETURN_IF_ERROR(device.code.checkLaunch(kernel, arguments.size()));
  if (turns <= 0)
    return {};
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  // Addresses of the arguments; a 4-byte number is the low half of its 8 bytes.
  std::vector<void *> places(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    places[i] = const_cast<uint64_t *>(&arguments[i]);
  // A block runs on one multiprocessor. If there are few iterations, blocks get
  // fewer threads, in whole warps, so that all multiprocessors are used.
  const int64_t each =
      (turns + device.multiprocessorCount - 1) / device.multiprocessorCount;
  const int64_t threads = std::min(
      (each + warpThreads - 1) / warpThreads * warpThreads, blockThreads);
  const int64_t blocks =
      std::min((turns + threads - 1) / threads,
               device.multiprocessorCount * threadsOfMultiprocessor / threads);
  const char *name = device.code.kernels[kernel].name;
  const auto work = [&] {
    const Result result = device.driver.launch(
        device.functions[kernel], unsigned(blocks), 1, 1, unsigned(threads), 1,
        1, /*sharedBytes=*/0, handle, places.data(), nullptr);
    // The error message is only composed on failure.
    return result == success
               ? Status()
               : device.check(result, std::string("launching ") + name);
  };
  return trace.around(name, work, symbol);
}

Expected<bool> CudaStream::multiply(const DeviceProduct &product) {
  if (!device.multiplier)
    return Status::internal(
        "the device is asked for a product by code that has none");
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  if (!products)
    products =
        std::make_unique<CublasProducts>(device, *device.multiplier, handle);
  bool isDone = false;
  PDLRT_RETURN_IF_ERROR(trace.around("product", [&] {
    const Expected<bool> done = products->multiply(product);
    isDone = done && *done;
    return done.status();
  }));
  return isDone;
}

Expected<std::unique_ptr<DeviceEvent>> CudaStream::record() {
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  auto event = std::make_unique<CudaEvent>(device);
  PDLRT_RETURN_IF_ERROR(
      device.check(device.driver.createEvent(&event->handle, withoutTiming),
                   "creating an event"));
  PDLRT_RETURN_IF_ERROR(device.check(
      device.driver.recordEvent(event->handle, handle), "recording an event"));
  return std::unique_ptr<DeviceEvent>(std::move(event));
}

CudaEvent::~CudaEvent() {
  if (handle && device.makeCurrent().ok())
    (void)device.driver.destroyEvent(handle);
}

Status CudaStream::wait(const DeviceEvent &event) {
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  return device.check(
      device.driver.waitForEvent(
          handle, static_cast<const CudaEvent &>(event).handle, 0),
      "waiting for an event");
}

Status CudaStream::synchronize() {
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  PDLRT_RETURN_IF_ERROR(device.check(device.driver.synchronizeStream(handle),
                                     "waiting for the device"));
  trace.collect();
  return {};
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Status CudaStream::beginCapture() {
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  return device.check(device.driver.beginCapture(handle, captureOfThread),
                      "capturing a stream");
}

Expected<std::unique_ptr<DeviceGraph>> CudaStream::endCapture() {
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  Graph graph = nullptr;
  PDLRT_RETURN_IF_ERROR(device.check(device.driver.endCapture(handle, &graph),
                                     "ending the capture of a stream"));
  auto result = std::make_unique<CudaGraph>(device);
  const Result made =
      device.driver.makeExecutable(&result->handle, graph, /*flags=*/0);
  (void)device.driver.destroyGraph(graph);
  PDLRT_RETURN_IF_ERROR(device.check(made, "making a graph executable"));
  return std::unique_ptr<DeviceGraph>(std::move(result));
}

Status CudaStream::replay(const DeviceGraph &graph) {
  PDLRT_RETURN_IF_ERROR(device.makeCurrent());
  return device.check(device.driver.launchGraph(
                          static_cast<const CudaGraph &>(graph).handle, handle),
                      "launching a graph");
}

CudaGraph::~CudaGraph() {
  if (handle && device.makeCurrent().ok())
    (void)device.driver.destroyExecutable(handle);
}

//===----------------------------------------------------------------------===//
// Traces
//===----------------------------------------------------------------------===//

StreamTrace::StreamTrace(const CudaDevice &on, Stream stream,
                         const std::string &name)
    : device(on), stream(stream), track(name) {}

StreamTrace::~StreamTrace() {
  if (!spans.empty() && device.makeCurrent().ok())
    forget();
}

Event StreamTrace::now() {
  Event event = nullptr;
  if (device.driver.createEvent(&event, withTiming) != success)
    return nullptr;
  (void)device.driver.recordEvent(event, stream);
  return event;
}

template <typename Callable>
Status StreamTrace::around(const char *name, Callable &&work,
                           const char *symbol) {
  if (!Trace::isOn())
    return work();
  Span span = {name, symbol, now(), nullptr};
  Status status = work();
  span.end = now();
  spans.push_back(span);
  return status;
}

void StreamTrace::forget() {
  for (const Span &span : spans)
    for (Event event : {span.begin, span.end})
      if (event)
        (void)device.driver.destroyEvent(event);
  spans.clear();
}

/// The driver reports only times between events. The host waits for the last
/// event, and takes the host's time then as the time of that event.
void StreamTrace::collect() {
  if (spans.empty())
    return;
  const Event last = now();
  if (last && device.driver.synchronizeStream(stream) == success) {
    const int64_t time = Trace::now();
    const auto timeOf = [&](Event event) {
      float milliseconds = 0;
      constexpr double nanosecondsInMillisecond = 1e6;
      if (!event ||
          device.driver.timeBetween(&milliseconds, event, last) != success)
        return time;
      return time - int64_t(double(milliseconds) * nanosecondsInMillisecond);
    };
    for (const Span &span : spans)
      track.record(
          {span.name, timeOf(span.begin), timeOf(span.end), {}, span.symbol});
  }
  if (last)
    (void)device.driver.destroyEvent(last);
  forget();
}

Expected<std::unique_ptr<Device>>
cuda::openDevice(const Driver &driver, int number,
                 const cublaslt::Library *products) {
  auto device = std::make_unique<CudaDevice>(driver, number, products);
  PDLRT_RETURN_IF_ERROR(device->open());
  return std::unique_ptr<Device>(std::move(device));
}

Expected<std::unique_ptr<Device>> pdlrt::openCudaDevice(int number) {
  const Expected<const Driver *> driver = openDriver();
  if (!driver)
    return driver.status();
  return openDevice(**driver, number);
}
