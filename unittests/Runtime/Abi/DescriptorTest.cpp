//===- DescriptorTest.cpp - Checks of a descriptor ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"
#include "pdlabi/abi.h"

#include "pdlrt/Abi/Descriptor.h"

#include <gmock/gmock.h>

#include <functional>
#include <span>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

/// Copy of the hand-written descriptor whose parts can be changed.
struct Copy {
  Copy() : descriptor(*handWrittenProgram({})) {
    auto copy = [](auto *from, int32_t count) {
      return std::vector<std::remove_cvref_t<decltype(*from)>>(from,
                                                               from + count);
    };
    fields = copy(descriptor.fields, descriptor.field_count);
    symbols = copy(descriptor.symbols, descriptor.symbol_count);
    groups = copy(descriptor.groups, descriptor.group_count);
    clips = copy(descriptor.clips, descriptor.clip_count);
    metrics = copy(descriptor.metrics, descriptor.metric_count);
    programs = copy(descriptor.programs, descriptor.program_count);
    updates = copy(programs[0].updates, programs[0].update_count);
    descriptor.fields = fields.data();
    descriptor.symbols = symbols.data();
    descriptor.groups = groups.data();
    descriptor.clips = clips.data();
    descriptor.metrics = metrics.data();
    descriptor.programs = programs.data();
    programs[0].updates = updates.data();
  }
  pdl_descriptor descriptor;
  std::vector<pdl_field> fields;
  std::vector<pdl_symbol> symbols;
  std::vector<pdl_group> groups;
  std::vector<pdl_clip> clips;
  std::vector<pdl_metric> metrics;
  std::vector<pdl_program> programs;
  std::vector<pdl_update_descriptor> updates;
};

} // namespace

TEST(Descriptor, AcceptsAWholeOne) {
  for (int32_t type : {PDL_F32, PDL_F64})
    EXPECT_TRUE(checkDescriptor(handWrittenProgram({type})).ok());
  Copy copy;
  EXPECT_TRUE(checkDescriptor(&copy.descriptor).ok());
}

TEST(Descriptor, AcceptsTablesThatAdmitByScore) {
  static const double weights[] = {1};
  Copy copy;
  ++copy.symbols[2].gradient_width;
  copy.symbols[2].admission = PDL_ADMIT_SCORE;
  copy.symbols[2].admission_score = 1;
  copy.symbols[2].admission_weights = weights;
  EXPECT_TRUE(checkDescriptor(&copy.descriptor).ok());
}

TEST(Descriptor, FindsPrograms) {
  const pdl_descriptor &descriptor = *handWrittenProgram({});
  EXPECT_EQ(findProgram(descriptor, "evaluate"), &descriptor.programs[1]);
  EXPECT_EQ(findProgram(descriptor, "serve"), nullptr);
  EXPECT_EQ(elementCount(descriptor.symbols[SymbolTable]), 4);
}

TEST(Descriptor, SaysWhatItComputesIn) {
  EXPECT_EQ(elementTypeText(*handWrittenProgram({})), "f32");
  EXPECT_EQ(elementTypeText(*handWrittenProgram({PDL_F64})), "f64");
  Copy copy;
  copy.symbols[2].element_type = PDL_F64;
  EXPECT_EQ(elementTypeText(copy.descriptor), "f32 and f64");
  // Without state, the outputs determine the type.
  copy.descriptor.symbol_count = 0;
  EXPECT_EQ(elementTypeText(copy.descriptor), "f32");
  static const pdl_output wide[] = {{"output0", PDL_F64, 1}};
  copy.programs[2].outputs = wide;
  EXPECT_EQ(elementTypeText(copy.descriptor), "f64");
}

TEST(Descriptor, ForeignVersionsSayWhatToDo) {
  EXPECT_THAT(checkDescriptor(nullptr).message(), HasSubstr("ABI version"));
  Copy copy;
  copy.descriptor.abi_version = PDL_ABI_VERSION + 1;
  EXPECT_THAT(checkDescriptor(&copy.descriptor).message(),
              HasSubstr("translate the model again"));
}

/// Damage to a descriptor, and a part of the message that reports it.
struct DamagedDescriptor {
  std::function<void(Copy &)> damage;
  const char *message;
};

static void expectRefused(std::span<const DamagedDescriptor> cases) {
  for (const DamagedDescriptor &bad : cases) {
    Copy copy;
    bad.damage(copy);
    Status status = checkDescriptor(&copy.descriptor);
    EXPECT_FALSE(status.ok()) << bad.message;
    EXPECT_THAT(status.message(), HasSubstr(bad.message));
  }
}

TEST(Descriptor, RefusesDamage) {
  const DamagedDescriptor cases[] = {
      {[](Copy &c) { c.descriptor.struct_size = 8; }, "descriptor"},
      {[](Copy &c) { c.symbols[0].element_type = PDL_I64; },
       "symbol @w: element type"},
      {[](Copy &c) { c.symbols[0].element_type = PDL_F64; },
       "symbol @w: element type of its group"},
      {[](Copy &c) { c.groups[0].element_type = PDL_I64; },
       "symbol @w: element type of its group"},
      {[](Copy &c) { c.descriptor.model_name = nullptr; }, "name"},
      {[](Copy &c) { c.descriptor.symbols = nullptr; }, "symbols"},
      {[](Copy &c) { c.fields[0].struct_size += 8; }, "size of a field"},
      {[](Copy &c) { c.fields[1].width = 0; }, "field weight: width"},
      {[](Copy &c) { c.fields[1].kind = 9; }, "field weight: kind"},
      {[](Copy &c) {
         static const int64_t positions[] = {int64_t(1) << 31};
         c.fields[1].column_count = 1;
         c.fields[1].column_positions = positions;
       },
       "field weight: column positions"},
      {[](Copy &c) {
         static const int64_t positions[] = {-1};
         c.fields[1].column_count = 1;
         c.fields[1].column_positions = positions;
       },
       "field weight: column positions"},
      {[](Copy &c) { c.groups[1].once = nullptr; }, "group @sparse: once"},
      {[](Copy &c) { c.groups[1].clip = 1; }, "group @sparse: clip"},
      {[](Copy &c) { c.clips[0].limit = 0; }, "limit of a clip"},
      {[](Copy &c) { c.metrics[0].parameter = 0; }, "metric @auc"},
      {[](Copy &c) { c.metrics[1].kind = 99; }, "metric @logloss"},
      {[](Copy &c) { c.programs[0].prepare = nullptr; }, "@train: stages"},
      {[](Copy &c) { c.programs[0].frozen = 1; }, "frozen, but updates"},
      {[](Copy &c) { c.programs[0].objective_count = 0; }, "without a loss"},
      {[](Copy &c) { c.updates[0].objective = 1; }, "objective of an update"},
      {[](Copy &c) {
         c.programs[0].objective_count = 2;
         c.updates[1].objective = 1;
       },
       "updates of one group have several objectives"},
      {[](Copy &c) { c.updates[1].symbol = 0; }, "updates a symbol twice"},
      {[](Copy &c) { c.updates[2].lookup = -1; }, "lookup of an update"},
      {[](Copy &c) {
         static const int64_t perKey[] = {8};
         c.programs[0].prepare_arena.per_key = perKey;
       },
       "depends on lookups"},
      {[](Copy &c) { c.programs[0].compute_arena.per_batch_squared = -1; },
       "size of an arena"},
      {[](Copy &c) {
         static const int64_t perId[] = {0, 0, 0, -8};
         c.programs[0].compute_arena.per_id = perId;
       },
       "size of an arena"},
      {[](Copy &c) { c.groups[0].scalars = nullptr; }, "group @dense: scalars"},
      {[](Copy &c) { c.descriptor.cpu_feature_word_count = 1; },
       "features of the CPU"},
      {[](Copy &c) { c.descriptor.device_products = 1; },
       "products of a device"},
  };
  expectRefused(cases);
}

TEST(Descriptor, RefusesDamagedSymbols) {
  const DamagedDescriptor cases[] = {
      {[](Copy &c) {
         c.symbols[0].row_width = c.symbols[0].gradient_width = 2;
       },
       "symbol @w: rows"},
      {[](Copy &c) { ++c.symbols[0].gradient_width; },
       "symbol @w: width of its gradient"},
      {[](Copy &c) { --c.symbols[2].gradient_width; },
       "symbol @emb: width of its gradient"},
      {[](Copy &c) { c.symbols[2].admission = 9; },
       "symbol @emb: when its keys get rows"},
      {[](Copy &c) {
         // Without counts there is no score.
         static const double weights[] = {1};
         c.symbols[2].admission = PDL_ADMIT_SCORE;
         c.symbols[2].admission_score = 1;
         c.symbols[2].admission_weights = weights;
       },
       "symbol @emb: when its keys get rows"},
      {[](Copy &c) {
         ++c.symbols[2].gradient_width;
         c.symbols[2].admission = PDL_ADMIT_SCORE;
         c.symbols[2].admission_score = 1;
       },
       "symbol @emb: when its keys get rows"},
      {[](Copy &c) {
         static const double weights[] = {1};
         ++c.symbols[2].gradient_width;
         c.symbols[2].admission = PDL_ADMIT_SCORE;
         c.symbols[2].admission_weights = weights;
       },
       "symbol @emb: when its keys get rows"},
      {[](Copy &c) { c.symbols[0].row_slot_count = 3; },
       "symbol @w: row slots"},
      {[](Copy &c) { c.symbols[2].row_slot_count = -1; },
       "symbol @emb: row slots"},
      {[](Copy &c) { c.symbols[0].frozen_part = -1; },
       "symbol @w: what frozen programs read"},
      {[](Copy &c) { c.symbols[0].frozen_part = c.symbols[0].slot_count + 1; },
       "symbol @w: what frozen programs read"},
      {[](Copy &c) { c.symbols[0].group = 2; }, "symbol @w: group"},
      {[](Copy &c) { c.symbols[0].dense_kernel = nullptr; }, "apply kernel"},
      {[](Copy &c) { c.symbols[2].row_kernel = nullptr; }, "@emb: apply"},
      {[](Copy &c) {
         c.symbols[0].late_dense_kernel =
             [](int64_t, void *const *, const void *, const void *,
                const void *) -> int32_t { return 0; };
       },
       "symbol @w: apply kernel"},
      {[](Copy &c) {
         c.symbols[2].row_kernel = nullptr;
         c.symbols[2].late_row_kernel =
             [](int64_t, int64_t, void *const *, const void *const *,
                const void *, const void *const *) -> int32_t { return 0; };
       },
       "symbol @emb: apply kernel of late gradients"},
  };
  expectRefused(cases);
}
