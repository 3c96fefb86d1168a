//===- ServerMain.h - Program of a server -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_SERVER_SERVERMAIN_H
#define PDLRT_PROGRAMS_SERVER_SERVERMAIN_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Transport.h"

#include <functional>
#include <memory>

namespace pdlrt {

/// Creates the transport of a server; `clock` must outlive it.
using TransportFactory =
    std::function<Expected<std::unique_ptr<Transport>>(RealClock &clock)>;

/// Runs the whole program: reads flags, serves one job, and returns the exit
/// status (pdlabi/exit_code.h). The status is 128 + n if signal n has ended the
/// program. `query` is the compiled program's `pdl_program_query`. Catches all
/// exceptions.
int runServer(int argc, char **argv,
              const pdl_descriptor *(*query)(uint32_t version),
              const TransportFactory &makeTransport);

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_SERVER_SERVERMAIN_H
