//===- LoopbackTransport.cpp - Calls within a process ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/LoopbackTransport.h"
#include "pdlrt/Core/Mutex.h"

#include <set>
#include <utility>

using namespace pdlrt;

namespace {

/// Addresses at which this process listens.
class OwnAddresses {
public:
  void add(const std::string &address) {
    const MutexLock lock(mutex);
    known.insert(address);
  }
  void remove(const std::string &address) {
    const MutexLock lock(mutex);
    known.erase(address);
  }
  bool has(const std::string &address) const {
    const MutexLock lock(mutex);
    return known.contains(address);
  }

private:
  mutable Mutex mutex;
  std::set<std::string> known PDLRT_GUARDED_BY(mutex);
};

/// Listens for connections from this process and from other processes.
class LoopbackListener final : public Listener {
public:
  LoopbackListener(std::shared_ptr<OwnAddresses> in, std::string at,
                   std::unique_ptr<Listener> within,
                   std::unique_ptr<Listener> toOthers)
      : addresses(std::move(in)), asked(std::move(at)), own(std::move(within)),
        others(std::move(toOthers)) {
    addresses->add(asked);
  }
  ~LoopbackListener() override { addresses->remove(asked); }
  const std::string &address() const override { return others->address(); }

private:
  std::shared_ptr<OwnAddresses> addresses;
  const std::string asked;
  std::unique_ptr<Listener> own, others;
};

class LoopbackConnection final : public Connection {
public:
  LoopbackConnection(std::shared_ptr<const OwnAddresses> in, std::string to,
                     std::unique_ptr<Connection> within,
                     std::unique_ptr<Connection> toOthers)
      : addresses(std::move(in)), listening(std::move(to)),
        own(std::move(within)), others(std::move(toOthers)) {}

  void call(Message request, ClockTime deadline, CallDone done) override {
    Connection &way = addresses->has(listening) ? *own : *others;
    way.call(std::move(request), deadline, std::move(done));
  }

private:
  std::shared_ptr<const OwnAddresses> addresses;
  const std::string listening;
  std::unique_ptr<Connection> own, others;
};

class LoopbackTransport final : public Transport {
public:
  LoopbackTransport(Transport &inner, std::map<std::string, std::string> names)
      : inner(inner), aliases(std::move(names)),
        process(createInProcessTransport(inner.clock())) {}
  Clock &clock() override { return inner.clock(); }

  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    Expected<std::unique_ptr<Listener>> others = inner.listen(address, handler);
    if (!others)
      return others;
    // If any free port was requested, this address has the port that was
    // chosen.
    const std::string &known = (*others)->address();
    Expected<std::unique_ptr<Listener>> own =
        process->listen(known, std::move(handler));
    if (!own)
      return own;
    return std::unique_ptr<Listener>(std::make_unique<LoopbackListener>(
        addresses, known, std::move(*own), std::move(*others)));
  }

  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    Expected<std::unique_ptr<Connection>> others = inner.connect(address);
    if (!others)
      return others;
    const auto alias = aliases.find(address);
    const std::string &listening =
        alias == aliases.end() ? address : alias->second;
    Expected<std::unique_ptr<Connection>> own = process->connect(listening);
    if (!own)
      return own;
    return std::unique_ptr<Connection>(std::make_unique<LoopbackConnection>(
        addresses, listening, std::move(*own), std::move(*others)));
  }

private:
  Transport &inner;
  const std::map<std::string, std::string> aliases;
  const std::shared_ptr<OwnAddresses> addresses =
      std::make_shared<OwnAddresses>();
  const std::unique_ptr<Transport> process;
};

} // namespace

std::unique_ptr<Transport>
pdlrt::createLoopbackTransport(Transport &inner,
                               std::map<std::string, std::string> aliases) {
  return std::make_unique<LoopbackTransport>(inner, std::move(aliases));
}
