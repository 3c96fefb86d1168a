//===- pdl-bench-router.cpp - Simulates a network of shaped links ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Connects network namespaces by links with a given rate and delay, for kernels
// without netem. Each namespace has a TUN device. This process reads packets
// from the devices, delays them, and writes them to the device of the
// destination namespace.
//
// Each namespace has one link to a switch and one back, both with the given
// rate. The delay is that of the whole path. Addresses are 10.77.X.Y; the
// number of the namespace is X * 256 + Y - 1.
//
//===----------------------------------------------------------------------===//

#include "ShapedLink.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace pdlbench;

static constexpr const char *usage =
    "Joins network namespaces by links of a given rate and delay. Needs root.\n"
    "\n"
    "  pdl-bench-router MTU RATE DELAY ROOM NAMESPACE...\n"
    "\n"
    "MTU: bytes of a packet. RATE: bits a second of each link, 0 without "
    "limit.\n"
    "DELAY: nanoseconds from one namespace to another. ROOM: bytes that a "
    "link\n"
    "keeps for packets that wait. NAMESPACE: a file such as /run/netns/a.\n"
    "Prints \"ready\" when the devices are there; SIGTERM ends it, with a line "
    "of\n"
    "what each link carried: bytes up, bytes down, packets dropped; and the "
    "CPU\n"
    "seconds of this process.\n";

/// Prints the error and exits.
[[noreturn]] static void fail(const std::string &what) {
  std::fprintf(stderr, "pdl-bench-router: %s: %s\n", what.c_str(),
               std::strerror(errno));
  std::exit(1);
}

static void require(bool good, const std::string &what) {
  if (!good)
    fail(what);
}

static Time now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return Time(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

static volatile std::sig_atomic_t stopped = 0;

/// Opens the TUN device "pdl0" of a namespace.
static int openDevice(const std::string &place, int home, int mtu) {
  const int other = ::open(place.c_str(), O_RDONLY | O_CLOEXEC);
  require(other >= 0, place);
  require(::setns(other, CLONE_NEWNET) == 0, "setns " + place);
  const int device = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  require(device >= 0, "/dev/net/tun");
  ifreq request{};
  std::strncpy(request.ifr_name, "pdl0", IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  require(::ioctl(device, TUNSETIFF, &request) == 0, "TUNSETIFF in " + place);
  const int control = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  request.ifr_mtu = mtu;
  require(::ioctl(control, SIOCSIFMTU, &request) == 0, "SIOCSIFMTU");
  ::close(control);
  require(::setns(home, CLONE_NEWNET) == 0, "setns back");
  ::close(other);
  return device;
}

/// Returns the number of a packet's destination namespace, or -1.
static int targetOf(const std::vector<char> &bytes, int count) {
  constexpr size_t headBytes = 20;
  if (bytes.size() < headBytes || (uint8_t(bytes[0]) >> 4) != 4 ||
      bytes[16] != 10 || bytes[17] != 77)
    return -1;
  const int number = uint8_t(bytes[18]) * 256 + uint8_t(bytes[19]) - 1;
  return number >= 0 && number < count ? number : -1;
}

namespace {

/// A namespace and its two links.
struct Port {
  int device;
  ShapedLink up, down;
};

/// Reads packets while the links have space for them, and writes each packet
/// when it has arrived.
class Router {
public:
  Router(std::vector<Port> ports, size_t mtu)
      : ports(std::move(ports)), buffer(mtu + 64), mtu(mtu) {}

  void run() {
    std::vector<pollfd> waits(ports.size());
    while (!stopped) {
      const Time time = now();
      move(time);
      for (size_t i = 0; i < ports.size(); ++i)
        // A sender whose link is full waits, as for a network card.
        waits[i] = {ports[i].device,
                    short(ports[i].up.hasRoom(mtu, time) ? POLLIN : 0), 0};
      timespec timeout = untilNext(time);
      const int count = ::ppoll(waits.data(), waits.size(), &timeout, nullptr);
      if (count < 0 && errno != EINTR)
        fail("poll");
      if (count <= 0)
        continue;
      for (size_t i = 0; i < ports.size(); ++i)
        if (waits[i].revents & POLLIN)
          readFrom(ports[i]);
    }
  }

  void report() const {
    for (size_t i = 0; i < ports.size(); ++i) {
      const Port &port = ports[i];
      std::printf("link %zu: %" PRIu64 " bytes up, %" PRIu64
                  " bytes down, %" PRIu64 " packets dropped\n",
                  i, port.up.bytesTaken(), port.down.bytesTaken(),
                  port.up.packetsDropped() + port.down.packetsDropped());
    }
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    auto seconds = [](const timeval &time) {
      return double(time.tv_sec) + double(time.tv_usec) / 1e6;
    };
    std::printf("router: %.3f s of CPU\n",
                seconds(usage.ru_utime) + seconds(usage.ru_stime));
  }

private:
  /// Maximum number of consecutive packets from one port, so that other ports
  /// are not delayed.
  static constexpr int readsInARow = 32;

  void readFrom(Port &port) {
    const Time time = now();
    for (int i = 0; i < readsInARow && port.up.hasRoom(mtu, time); ++i) {
      const ssize_t size = ::read(port.device, buffer.data(), buffer.size());
      if (size <= 0)
        return;
      port.up.send({{buffer.data(), buffer.data() + size}, time}, time);
    }
  }

  void move(Time time) {
    for (Port &port : ports)
      while (std::optional<Packet> packet = port.up.receive(time)) {
        const int target = targetOf(packet->bytes, int(ports.size()));
        if (target >= 0)
          ports[target].down.send(std::move(*packet), time);
      }
    for (Port &port : ports)
      while (std::optional<Packet> packet = port.down.receive(time))
        // A device that is full or down drops the packet; TCP sends it again.
        if (::write(port.device, packet->bytes.data(), packet->bytes.size()) <
                0 &&
            errno == EINTR)
          return;
  }

  /// Returns the time until the next arrival, or a tenth of a second if there
  /// is no packet.
  timespec untilNext(Time time) const {
    Time next = time + 100'000'000;
    for (const Port &port : ports)
      for (const ShapedLink *link : {&port.up, &port.down})
        if (std::optional<Time> arrival = link->nextArrival())
          next = std::min(next, *arrival);
    const Time left = std::max<Time>(0, next - time);
    return {time_t(left / 1'000'000'000), long(left % 1'000'000'000)};
  }

  std::vector<Port> ports;
  std::vector<char> buffer;
  const size_t mtu;
};

} // namespace

static int64_t numberOf(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    std::fprintf(stderr, "pdl-bench-router: '%s' is no number from 0\n\n%s",
                 std::string(text).c_str(), usage);
    std::exit(2);
  }
  return value;
}

int main(int count, char **words) {
  constexpr int firstPlace = 5;
  if (count <= firstPlace) {
    std::fputs(usage, stderr);
    return 2;
  }
  const int64_t mtu = numberOf(words[1]), rate = numberOf(words[2]),
                delay = numberOf(words[3]), room = numberOf(words[4]);
  if (mtu < 576 || mtu > 65535 || room < mtu) {
    std::fprintf(stderr, "pdl-bench-router: MTU is 576 to 65535, and ROOM not "
                         "less\n");
    return 2;
  }
  struct sigaction action{};
  action.sa_handler = [](int) { stopped = 1; };
  for (int signal : {SIGTERM, SIGINT})
    ::sigaction(signal, &action, nullptr);
  // Otherwise, wake-ups are up to 50 us late.
  ::prctl(PR_SET_TIMERSLACK, 1);
  const int home = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  require(home >= 0, "/proc/self/ns/net");
  std::vector<Port> ports;
  for (int i = firstPlace; i < count; ++i)
    ports.push_back({openDevice(words[i], home, int(mtu)),
                     ShapedLink(rate, delay - delay / 2, size_t(room)),
                     ShapedLink(rate, delay / 2, size_t(room))});
  Router router(std::move(ports), size_t(mtu));
  std::puts("ready");
  std::fflush(stdout);
  router.run();
  router.report();
  return 0;
}
