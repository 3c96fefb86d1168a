//===- Places.cpp - Free addresses on this host ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace pdllaunch;
using pdlrt::Expected;
using pdlrt::Status;

Places::~Places() = default;

namespace {

class Ports final : public Places {
public:
  Status find(unsigned count) {
    // All are held until the last one is found, so that they differ.
    std::vector<int> sockets;
    Status status;
    for (unsigned i = 0; i < count && status.ok(); ++i)
      status = findOne(sockets);
    for (const int socket : sockets)
      ::close(socket);
    return status;
  }

private:
  Status findOne(std::vector<int> &sockets) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(name);
    const int on = 1;
    if (sockets.back() < 0 ||
        ::setsockopt(sockets.back(), SOL_SOCKET, SO_REUSEADDR, &on,
                     sizeof(on)) != 0 ||
        ::bind(sockets.back(), reinterpret_cast<sockaddr *>(&name), size) !=
            0 ||
        ::getsockname(sockets.back(), reinterpret_cast<sockaddr *>(&name),
                      &size) != 0)
      return Status::invalid(std::string("found no free port: ") +
                             std::strerror(errno) + "; try --unix");
    list.push_back("127.0.0.1:" + std::to_string(ntohs(name.sin_port)));
    return {};
  }
};

/// Before the six letters of a folder's name.
constexpr const char *folderPrefix = "pdl-launch-";

/// A folder that is held for as long as the object is there. Another process
/// knows by that whether its owner lives.
class HeldFolder {
public:
  HeldFolder() = default;
  /// Of a folder that is there; holds nothing where somebody else holds it.
  explicit HeldFolder(const std::string &path)
      : descriptor(::open(path.c_str(),
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
    struct stat held, named;
    if (descriptor >= 0 &&
        (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 ||
         ::fstat(descriptor, &held) != 0 ||
         ::lstat(path.c_str(), &named) != 0 || held.st_ino != named.st_ino ||
         held.st_uid != ::geteuid())) {
      ::close(descriptor);
      descriptor = -1;
    }
  }
  HeldFolder(HeldFolder &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  HeldFolder &operator=(HeldFolder &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~HeldFolder() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  explicit operator bool() const { return descriptor >= 0; }

private:
  int descriptor = -1;
};

/// Removes the folders of this user's launches that died.
void removeLeftFolders(const std::filesystem::path &base) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(base, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    std::error_code ignored;
    if (name.starts_with(folderPrefix) &&
        name.size() == std::strlen(folderPrefix) + 6)
      if (const HeldFolder left(entry->path()); left)
        std::filesystem::remove_all(entry->path(), ignored);
  }
}

class Sockets final : public Places {
public:
  ~Sockets() override {
    std::error_code ignored;
    if (!folder.empty())
      std::filesystem::remove_all(folder, ignored);
  }
  Status make(unsigned servers, unsigned trainers) {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    // The name of a socket has to fit into 107 bytes.
    if (error || base.native().size() > 60)
      base = "/tmp";
    removeLeftFolders(base);
    // Until it is held another launch may take it for a left one.
    while (!held) {
      std::string pattern = base / (std::string(folderPrefix) + "XXXXXX");
      if (!::mkdtemp(pattern.data()))
        return Status::invalid("cannot create the folder " + pattern +
                               " of the sockets: " + std::strerror(errno) +
                               "; set TMPDIR to a folder that can be written");
      held = HeldFolder(pattern);
      folder = pattern;
    }
    for (unsigned i = 0; i < servers; ++i)
      list.push_back("unix:" + folder + "/server-" + std::to_string(i));
    for (unsigned i = 0; i < trainers; ++i)
      list.push_back("unix:" + folder + "/trainer-" + std::to_string(i));
    return {};
  }

private:
  std::string folder;
  HeldFolder held;
};

} // namespace

Expected<std::unique_ptr<Places>> pdllaunch::freePorts(unsigned count) {
  auto ports = std::make_unique<Ports>();
  PDLRT_RETURN_IF_ERROR(ports->find(count));
  return std::unique_ptr<Places>(std::move(ports));
}

Expected<std::unique_ptr<Places>> pdllaunch::unixSockets(unsigned servers,
                                                         unsigned trainers) {
  auto sockets = std::make_unique<Sockets>();
  PDLRT_RETURN_IF_ERROR(sockets->make(servers, trainers));
  return std::unique_ptr<Places>(std::move(sockets));
}
