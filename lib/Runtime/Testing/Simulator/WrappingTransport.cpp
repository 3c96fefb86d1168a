//===- WrappingTransport.cpp - Wraps connections of clients ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/WrappingTransport.h"

using namespace pdlrt;

namespace {

class WrappingTransport final : public Transport {
public:
  WrappingTransport(Transport &over, WrapConnection by)
      : inner(over), wrap(std::move(by)) {}
  Clock &clock() override { return inner.clock(); }
  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    return inner.listen(address, std::move(handler));
  }
  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    auto over = inner.connect(address);
    if (!over)
      return std::move(over).status();
    return wrap(std::move(*over));
  }

private:
  Transport &inner;
  WrapConnection wrap;
};

} // namespace

std::unique_ptr<Transport> pdlrt::createWrappingTransport(Transport &inner,
                                                          WrapConnection wrap) {
  return std::make_unique<WrappingTransport>(inner, std::move(wrap));
}
