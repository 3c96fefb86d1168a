//===- names.h - Names that both halves know --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names in the descriptor that the compiler writes and the runtime looks for.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_NAMES_H
#define PDLABI_NAMES_H

namespace pdlabi {

/// The scalar of a group (`pdl_scalar`) that is the learning rate of the step,
/// as schedule and pushers make it. Every group with a schedule has it, and so
/// has every group whose rule takes the rate as it is.
inline constexpr char rateScalarName[] = "rate";

} // namespace pdlabi

#endif // PDLABI_NAMES_H
