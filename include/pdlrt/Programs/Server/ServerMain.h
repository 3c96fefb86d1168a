//===- ServerMain.h - The program of a server -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_SERVER_SERVERMAIN_H
#define PDLRT_PROGRAMS_SERVER_SERVERMAIN_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Transport.h"

#include <functional>
#include <memory>

namespace pdlrt {

/// Makes the network of a server; `clock` outlives it.
using TransportFactory =
    std::function<Expected<std::unique_ptr<Transport>>(RealClock &clock)>;

/// The whole program: reads flags, serves one job, returns the exit status. 0:
/// all trainers have left in order; 1: the job failed; 2: bad flags; 128 + n:
/// ended by signal n. `query` is the compiled program's `pdl_program_query`.
/// Catches every exception.
int runServer(int argc, char **argv,
              const pdl_descriptor *(*query)(uint32_t version),
              const TransportFactory &makeTransport);

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_SERVER_SERVERMAIN_H
