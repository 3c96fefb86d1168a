//===- StepRows.cpp - Keys and rows of a step from servers ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/StepRows.h"

#include "pdlrt/Abi/Descriptor.h"

using namespace pdlrt;

Status StepRows::gather(const pdl_descriptor &descriptor,
                        const pdl_program &program, ReplicaSet &replicas,
                        int first, int count, bool following) {
  const auto contextOf = [&](int r) -> BatchContext & {
    Replica &replica = replicas[first + r];
    return following ? replica.following() : replica.current();
  };
  while (lookups.size() < size_t(program.lookup_count))
    lookups.push_back(std::make_unique<Lookup>());
  rowRequests.resize(program.lookup_count);
  for (int32_t l = 0; l < program.lookup_count; ++l) {
    keyLists.clear();
    keyCounts.clear();
    for (int r = 0; r < count; ++r) {
      const pdl_lookup &lookup = contextOf(r).lookup(l);
      keyLists.push_back(lookup.keys);
      keyCounts.push_back(lookup.key_count);
    }
    Lookup &own = *lookups[l];
    PDLRT_RETURN_IF_ERROR(own.index.assign(int32_t(keyLists.size()),
                                           keyLists.data(), keyCounts.data()));
    const pdl_symbol &table = descriptor.symbols[program.lookups[l].symbol];
    const size_t bytes = sentRowBytes(table, program.frozen != 0);
    auto *rows =
        static_cast<char *>(own.rows.reserve(own.index.keyCount() * bytes));
    rowRequests[l] = {own.index.keyCount(), own.index.keys(), rows};
    const int32_t *place = own.index.inverse();
    for (int r = 0; r < count; ++r) {
      if (keyCounts[r] == 0)
        continue;
      void **pointers = contextOf(r).remoteRows(l);
      if (!pointers)
        return Status::internal("a stage did not pull all of its lookups");
      for (int64_t u = 0; u < keyCounts[r]; ++u)
        pointers[u] = rows + *place++ * bytes;
    }
  }
  return {};
}
