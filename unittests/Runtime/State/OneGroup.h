//===- OneGroup.h - A program with one group of symbols ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_STATE_ONEGROUP_H
#define PDL_UNITTESTS_RUNTIME_STATE_ONEGROUP_H

#include "pdlabi/abi/descriptor.h"

#include <cstdint>
#include <span>

namespace pdltest {

/// The parts of a program besides its symbols: a group that they may belong to,
/// and one objective.
struct OneGroup {
  struct Scalars {
    float weight, rate;
  };

  pdl_group group = {};
  pdl_program program = {};
  pdl_descriptor descriptor = {};

  /// The arguments must outlive this object.
  void describe(std::span<pdl_symbol> symbols,
                std::span<const pdl_update_descriptor> updates) {
    group.struct_size = sizeof(group);
    group.name = "all";
    group.clip = -1;
    group.scalar_count = 2;
    static const pdl_scalar scalars[] = {{"sum of weights", 1}, {"rate", 0}};
    group.scalars = scalars;
    group.once = once;
    program.struct_size = sizeof(program);
    program.update_count = int32_t(updates.size());
    program.updates = updates.data();
    program.objective_count = 1;
    descriptor.symbol_count = int32_t(symbols.size());
    descriptor.symbols = symbols.data();
    descriptor.group_count = 1;
    descriptor.groups = &group;
    descriptor.program_count = 1;
    descriptor.programs = &program;
  }

private:
  static void once(const pdl_once_arguments *arguments, void *scalars) {
    *static_cast<Scalars *>(scalars) = {float(arguments->weight),
                                        0.25f / float(arguments->step)};
  }
};

} // namespace pdltest

#endif // PDL_UNITTESTS_RUNTIME_STATE_ONEGROUP_H
