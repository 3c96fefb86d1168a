//===- RawSocket.h - Measures plain sockets ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_BENCH_TRANSPORT_RAWSOCKET_H
#define PDL_BENCH_TRANSPORT_RAWSOCKET_H

#include <cstddef>
#include <string>
#include <sys/types.h>
#include <vector>

namespace pdlbench {

/// A server process that reads messages of a given size and responds to each
/// with the requested number of bytes, over one connection; and its client.
/// Errors end the program, because then there is nothing to measure.
class RawPair {
public:
  /// Connects over TCP on the loopback interface, or a unix socket.
  /// `largeBuffers`: use buffers of 4 MiB if the system permits that.
  RawPair(bool unixSocket, bool largeBuffers);
  ~RawPair();
  RawPair(const RawPair &) = delete;
  RawPair &operator=(const RawPair &) = delete;

  /// Sends `count` messages of `size` bytes with a head, each in one call. At
  /// most `depth` of them are unanswered at any time. Each response has
  /// `responseSize` bytes.
  void exchange(size_t size, size_t responseSize, int count, int depth);

  pid_t serverProcess() const { return server; }

private:
  int client = -1;
  pid_t server = -1;
  std::vector<char> buffer;
};

} // namespace pdlbench

#endif // PDL_BENCH_TRANSPORT_RAWSOCKET_H
