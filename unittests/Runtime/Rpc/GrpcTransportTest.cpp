//===- GrpcTransportTest.cpp - Processes over gRPC ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransportConformance.h"

#include "pdlrt/Rpc/GrpcTransport.h"

#include <filesystem>
#include <unistd.h>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

/// A port that was free just now.
std::string freeTcpAddress(Transport &transport) {
  auto listener = transport.listen("127.0.0.1:0", [](Message, Responder) {});
  return listener.ok() ? (*listener)->address() : "";
}

class GrpcEnvironment {
public:
  Transport &transport() { return *network; }
  bool waitFor(const std::function<bool()> &condition) {
    const ClockTime giveUp = clock.now() + std::chrono::seconds(20);
    while (!condition()) {
      if (clock.now() > giveUp)
        return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

private:
  RealClock clock;
  std::unique_ptr<Transport> network = createGrpcTransport(clock);
};

class TcpEnvironment : public GrpcEnvironment {
public:
  std::string newAddress() { return freeTcpAddress(transport()); }
};

class UnixEnvironment : public GrpcEnvironment {
public:
  UnixEnvironment() { folder = ::mkdtemp(pattern); }
  ~UnixEnvironment() { std::filesystem::remove_all(folder); }
  std::string newAddress() {
    return "unix:" + folder + "/" + std::to_string(next++);
  }

private:
  char pattern[32] = "/tmp/pdl-grpc-test-XXXXXX";
  std::string folder;
  int next = 0;
};

class AbstractEnvironment : public GrpcEnvironment {
public:
  std::string newAddress() {
    return "unix:@pdl-grpc-test-" + std::to_string(::getpid()) + "-" +
           std::to_string(next++);
  }

private:
  int next = 0;
};

} // namespace

namespace pdlrt::test {
using GrpcEnvironments =
    testing::Types<TcpEnvironment, UnixEnvironment, AbstractEnvironment>;
INSTANTIATE_TYPED_TEST_SUITE_P(Grpc, TransportConformance, GrpcEnvironments);
} // namespace pdlrt::test
