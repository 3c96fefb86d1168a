//===- BindCheck.cpp - Checks before and after binding --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/BindCheck.h"
#include "pdlrt/Transport/SocketName.h"

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace pdlrt;

namespace {

/// Socket that the destructor closes.
class ScopedSocket {
public:
  explicit ScopedSocket(int family)
      : descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~ScopedSocket() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  ScopedSocket(const ScopedSocket &) = delete;
  ScopedSocket &operator=(const ScopedSocket &) = delete;

  const int descriptor;
};

} // namespace

static Status cannotListen(const Address &address, const std::string &why,
                           pdl_status code = PDL_UNAVAILABLE) {
  return {code, "cannot listen at " + address.toString() + ": " + why +
                    "; choose another address"};
}

/// Returns the error about a failed system call.
static Status cannotListen(const Address &address, int error,
                           const std::string &what = {}) {
  return cannotListen(address, what + std::strerror(error),
                      Status::ofErrno(error, {}).code());
}

/// Returns an error if the path is in use: by a listener, or by a file that is
/// not a socket.
static Status checkFree(const Address &address) {
  struct stat found;
  if (::lstat(address.path.c_str(), &found) != 0)
    return {};
  if (!S_ISSOCK(found.st_mode))
    return cannotListen(address, "there is a file that is no socket",
                        PDL_FAILED_PRECONDITION);
  const ScopedSocket probe(AF_UNIX);
  const SocketName name(address);
  if (::connect(probe.descriptor, name.get(), name.size()) == 0 ||
      errno == EAGAIN)
    return cannotListen(address, "another process listens there");
  return {};
}

Expected<LockFile> pdlrt::claimPath(const Address &address) {
  if (address.kind != Address::Kind::UnixPath)
    return LockFile();
  const std::string path = address.path + ".lock";
  int reason = 0;
  LockFile claim = LockFile::take(path, reason);
  if (reason == 0) {
    PDLRT_RETURN_IF_ERROR(checkFree(address));
    return claim;
  }
  if (reason == EWOULDBLOCK)
    return cannotListen(address, "another process listens there");
  if (!claim)
    return cannotListen(address,
                        "nothing can be created in its folder (" + path + ": " +
                            std::strerror(reason) + ")",
                        Status::ofErrno(reason, {}).code());
  // No other process holds the lock, so release it.
  claim.leave();
  return cannotListen(address, reason, path + " cannot be locked: ");
}

/// Returns the error of binding a TCP address, or 0.
static int bindError(const addrinfo &candidate) {
  const ScopedSocket probe(candidate.ai_family);
  const int on = 1;
  if (probe.descriptor < 0 ||
      ::setsockopt(probe.descriptor, SOL_SOCKET, SO_REUSEADDR, &on,
                   sizeof(on)) != 0 ||
      ::bind(probe.descriptor, candidate.ai_addr, candidate.ai_addrlen) != 0 ||
      ::listen(probe.descriptor, 1) != 0)
    return errno;
  return 0;
}

Status pdlrt::whyNotBound(const Address &address) {
  const std::string unknown = "the system refuses it";
  if (address.kind != Address::Kind::Tcp)
    return cannotListen(address,
                        address.kind == Address::Kind::UnixAbstract
                            ? "another process has that name"
                            : "the socket cannot be created in its folder");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo *candidates = nullptr;
  if (const int code = ::getaddrinfo(address.host.c_str(),
                                     std::to_string(address.port).c_str(),
                                     &hints, &candidates);
      code != 0)
    return cannotListen(address, ::gai_strerror(code),
                        code == EAI_AGAIN ? PDL_UNAVAILABLE
                                          : PDL_INVALID_ARGUMENT);
  int error = 0;
  for (const addrinfo *next = candidates; next && error == 0;
       next = next->ai_next)
    error = bindError(*next);
  ::freeaddrinfo(candidates);
  return error ? cannotListen(address, error) : cannotListen(address, unknown);
}
