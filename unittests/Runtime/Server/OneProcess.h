//===- OneProcess.h - Expected state of servers -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SERVER_ONEPROCESS_H
#define PDL_UNITTESTS_RUNTIME_SERVER_ONEPROCESS_H

#include "ServerJob.h"

#include "pdlrt/Engine/BatchContext.h"
#include "pdlrt/State/Updater.h"

#include <cstring>
#include <gtest/gtest.h>

namespace pdlrt::test {

/// One process that owns all state and applies the same gradients.
template <typename T> class Reference {
public:
  explicit Reference(BlockVariant variant)
      : program([&] {
          variant.mode = PDL_MODE_LOCAL;
          return variant;
        }()),
        model(program.descriptor(), 5),
        train(program.descriptor().programs[BlockTrain]),
        updater(model, train, scheduler),
        blocks(gradientBlocks(program.descriptor(), train)) {}

  void insert(const std::vector<Gradients<T>> &next) {
    for (const Gradients<T> &each : next)
      for (int i = 0; i < 2 && each.present; ++i)
        (void)rowsOf(i, each.keys[i]);
  }
  /// `norm` is the squared norm of the clip; if negative, it is computed here.
  void step(const std::vector<Gradients<T>> &gradients, double norm = -1) {
    std::vector<PartialSum> parts(gradients.size());
    std::vector<std::vector<void *>> rows;
    std::vector<std::vector<const void *>> pointers;
    rows.reserve(2 * gradients.size());
    pointers.reserve(2 * gradients.size());
    for (size_t t = 0; t < gradients.size(); ++t) {
      const Gradients<T> &from = gradients[t];
      parts[t].present = from.present;
      parts[t].objectives = {{from.loss, from.weight}};
      parts[t].blocks.resize(4);
      parts[t].blocks[0].dense = from.w.data();
      parts[t].blocks[1].dense = from.b.data();
      for (int i = 0; i < 2; ++i) {
        rows.push_back(
            rowsOf(i, from.present ? from.keys[i] : std::vector<int64_t>()));
        std::vector<const void *> &list = pointers.emplace_back();
        const size_t width = i == 0 ? 4 : 2;
        for (size_t k = 0; k < rows.back().size(); ++k)
          list.push_back(from.rows[i].data() + k * width);
        parts[t].blocks[2 + i] = {nullptr, int64_t(rows.back().size()),
                                  from.keys[i].data(), rows.back().data(),
                                  list.data()};
      }
    }
    ASSERT_TRUE(sum.assign(blocks, parts, scheduler).ok());
    if (!sum.result().present || !sum.result().hasWeight())
      return;
    if (norm < 0) {
      ASSERT_TRUE(updater.apply(sum.result()).ok());
      return;
    }
    EXPECT_TRUE(updater.begin(sum.result()).ok());
    ASSERT_TRUE(updater.finish(sum.result(), {norm}).ok());
  }
  std::vector<void *> rowsOf(int table, const std::vector<int64_t> &keys) {
    std::vector<void *> rows(keys.size());
    TableScratch scratch;
    int64_t inserted = 0;
    EXPECT_TRUE(model.table(table == 0 ? BlockLazy : BlockAll)
                    ->findOrInsert(int64_t(keys.size()), keys.data(),
                                   rows.data(), scratch, inserted)
                    .ok());
    return rows;
  }

  BlockProgram program;
  Scheduler scheduler{1};
  Model model;
  const pdl_program &train;
  Updater updater;
  std::vector<GradientBlock> blocks;
  RunningSum sum;
};

template <typename T>
uint32_t usesIn(const Reference<T> &local, int32_t table, const TableRow &row) {
  return local.model.table(table)->layout().headerOf(row.row).uses();
}

/// State of the row headers, which contain the use counts: kept, or lost
/// because rows were restored from a checkpoint, which does not store headers.
enum class Headers { Kept, Restored };

/// Compares all values, slots and use counts of all servers with those of one
/// process.
template <typename T>
void expectSame(ServerJob<T> &job, Reference<T> &local,
                Headers headers = Headers::Kept) {
  const pdl_descriptor &descriptor = job.descriptor();
  for (int32_t index = 0; index < BlockSymbols; ++index) {
    const pdl_symbol &symbol = descriptor.symbols[index];
    const size_t rowBytes = size_t(symbol.row_width) * sizeof(T);
    for (size_t s = 0; s < job.size(); ++s) {
      Model &own = job.server(s).model();
      if (symbol.kind == PDL_SYMBOL_PARAMETER) {
        size_t at = 0;
        for (const RowBlock &run : job.map().rowsOf(index, int(s))) {
          for (int32_t slot = -1; slot < symbol.slot_count; ++slot) {
            auto *mine = static_cast<char *>(slot < 0 ? own.value(index)
                                                      : own.slot(index, slot));
            auto *whole =
                static_cast<char *>(slot < 0 ? local.model.value(index)
                                             : local.model.slot(index, slot));
            EXPECT_EQ(std::memcmp(mine + at,
                                  whole + size_t(run.firstRow) * rowBytes,
                                  size_t(run.rowCount) * rowBytes),
                      0)
                << symbol.name << " slot " << slot << " on server " << s;
          }
          at += size_t(run.rowCount) * rowBytes;
        }
        EXPECT_EQ(own.heldElements(index),
                  int64_t(at / rowBytes) * symbol.row_width);
        continue;
      }
      RowList mine, theirs;
      for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
        own.table(index)->collectShard(shard, mine);
        if (job.map().ownerOf(index, shard) != int(s)) {
          EXPECT_TRUE(mine.empty());
          continue;
        }
        local.model.table(index)->collectShard(shard, theirs);
        ASSERT_EQ(mine.size(), theirs.size());
        for (size_t i = 0; i < mine.size(); ++i) {
          EXPECT_EQ(mine[i].key, theirs[i].key);
          EXPECT_EQ(std::memcmp(mine[i].row, theirs[i].row,
                                own.table(index)->rowBytes()),
                    0)
              << symbol.name << ", key " << mine[i].key;
          if (headers == Headers::Restored)
            continue;
          EXPECT_EQ(own.table(index)->layout().headerOf(mine[i].row).uses(),
                    usesIn(local, index, theirs[i]))
              << symbol.name << ", key " << mine[i].key;
        }
      }
    }
  }
  for (size_t s = 0; s < job.size(); ++s)
    for (int32_t g = 0; g < descriptor.group_count; ++g)
      EXPECT_EQ(job.server(s).model().stepCount(g), local.model.stepCount(g));
}

/// Compares the response to trainer 0 with the same state.
template <typename T>
void expectResponses(ServerJob<T> &job, Reference<T> &local,
                     const Gradients<T> &next) {
  for (int32_t index : {BlockW, BlockB, BlockC})
    EXPECT_EQ(std::memcmp(job.mirrors[index].data(), local.model.value(index),
                          job.mirrors[index].size() * sizeof(T)),
              0);
  for (int i = 0; i < 2; ++i) {
    const auto rows = local.rowsOf(i, next.keys[i]);
    const size_t width = i == 0 ? 4 : 2;
    for (size_t k = 0; k < rows.size(); ++k)
      EXPECT_EQ(std::memcmp(job.rows[i].data() + k * width, rows[k],
                            width * sizeof(T)),
                0);
  }
}

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SERVER_ONEPROCESS_H
