//===- RawSocket.h - The limit: sockets by themselves -----------*- C++ -*-===//
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

/// A server process that reads messages of a size and answers each with as many
/// bytes as it is asked for, over one connection; and its client. What fails
/// ends the program: there is nothing to measure then.
class RawPair {
public:
  /// Over TCP's loopback or a unix socket. `largeBuffers`: of 4 MiB, where the
  /// system allows that.
  RawPair(bool unixSocket, bool largeBuffers);
  ~RawPair();
  RawPair(const RawPair &) = delete;
  RawPair &operator=(const RawPair &) = delete;

  /// Sends `size` bytes with a head in one call, `count` times, of which up to
  /// `depth` are not answered yet; each answer has `answerSize` bytes.
  void exchange(size_t size, size_t answerSize, int count, int depth);

  pid_t serverProcess() const { return server; }

private:
  int client = -1;
  pid_t server = -1;
  std::vector<char> buffer;
};

} // namespace pdlbench

#endif // PDL_BENCH_TRANSPORT_RAWSOCKET_H
