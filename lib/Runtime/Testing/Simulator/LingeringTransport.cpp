//===- LingeringTransport.cpp - Messages that outlive a sender ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LingeringTransport.h"

#include "pdlrt/Testing/Simulator/WrappingTransport.h"

#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

/// Connections whose owners were destroyed.
using Graveyard = std::vector<std::unique_ptr<Connection>>;

class LingeringConnection final : public Connection {
public:
  LingeringConnection(std::shared_ptr<Graveyard> to,
                      std::unique_ptr<Connection> over)
      : graveyard(std::move(to)), inner(std::move(over)) {}
  ~LingeringConnection() override {
    graveyard->push_back(std::move(inner));
    calls.endAll();
  }
  void call(Message request, ClockTime deadline, CallDone done) override {
    const auto open = calls.add(std::move(done));
    inner->call(std::move(request), deadline,
                [open](CallResult result) { open->end(std::move(result)); });
  }

private:
  std::shared_ptr<Graveyard> graveyard;
  std::unique_ptr<Connection> inner;
  WrappedCalls calls;
};

} // namespace

std::unique_ptr<Transport> pdlrt::createLingeringTransport(Transport &inner) {
  return createWrappingTransport(inner, [graveyard =
                                             std::make_shared<Graveyard>()](
                                            std::unique_ptr<Connection> over) {
    return std::make_unique<LingeringConnection>(graveyard, std::move(over));
  });
}
