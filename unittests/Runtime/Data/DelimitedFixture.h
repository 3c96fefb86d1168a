//===- DelimitedFixture.h - Small files of delimited text -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_DATA_DELIMITEDFIXTURE_H
#define PDL_UNITTESTS_RUNTIME_DATA_DELIMITEDFIXTURE_H

#include "TestRecord.h"
#include "pdlabi/abi/descriptor.h"

#include "xxhash.h"

namespace pdlrt::test {

inline int64_t hashOf(std::string_view text, uint64_t seed = 0) {
  return static_cast<int64_t>(XXH64(text.data(), text.size(), seed));
}

class DelimitedFixture : public DataTest {
protected:
  /// Reads the only batch of a file.
  Batch readAll(DataOptions options, const pdl_program *program = nullptr) {
    options.batchSize = 1000;
    auto source = open(options, program);
    Batch batch;
    if (!source)
      return batch;
    auto more = source->next(0, batch);
    EXPECT_TRUE(more.ok()) << more.status().message();
    return batch;
  }
  Batch readAll(const std::string &path) {
    DataOptions options;
    options.files = {path};
    return readAll(options);
  }
  std::string errorOfText(const std::string &text,
                          const char *name = "bad.csv") {
    DataOptions options;
    options.files = {put(name, text)};
    return errorOf(options);
  }
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_DATA_DELIMITEDFIXTURE_H
