//===- DeltaTest.cpp - Delta checkpoints ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/ChangedModel.h"
#include "Support/TestFolder.h"

#include "pdlrt/Checkpoint/Merge.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

using namespace pdlrt;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

std::string dumpOf(const TestFolder &folder, const Model &model) {
  EXPECT_TRUE(dumpModel(model, folder.file("dump"), /*withSlots=*/true).ok());
  return folder.read("dump");
}

/// Returns the number of keys of tables in the parts of one checkpoint.
int64_t keysIn(const Checkpoint &checkpoint, const char *name = "keys") {
  int64_t keys = 0;
  for (size_t p = 0; p < checkpoint.manifest().parts.size(); ++p)
    if (checkpoint.manifest().parts[p].kind == PartKind::Table)
      if (const TensorView *found = checkpoint.file(p).find(name))
        keys += found->elementCount;
  return keys;
}

/// Expects a checkpoint to have the state `state`, with each way of reading it.
void expectState(const TestFolder &folder, const std::string &path,
                 const std::string &dump, const TablePartSizes &sizes = {}) {
  Scheduler three(3);
  const Expected<Checkpoint> checkpoint =
      Checkpoint::open(path, CheckpointCheck::Everything, &three);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  Model restored(*handWrittenProgram({}), 3);
  const Status status =
      restoreModel(restored, *checkpoint, CheckpointUse::Training, &three);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(dumpOf(folder, restored), dump);
  const Expected<ModelState> state = stateOf(*checkpoint);
  ASSERT_TRUE(state.ok()) << state.status().message();
  ASSERT_TRUE(writeDump(*state, folder.file("dump")).ok());
  EXPECT_EQ(folder.read("dump"), dump);

  // Compare with the files of a whole save.
  fs::remove_all(folder.file("whole"));
  fs::remove_all(folder.file("merged"));
  CheckpointWriter writer(folder.file("whole"));
  CheckpointManifest manifest;
  manifest.progress = checkpoint->manifest().progress;
  manifest.settings = checkpoint->manifest().settings;
  describeModel(restored, manifest);
  ASSERT_TRUE(
      saveParts(restored, "dense.safetensors", writer, nullptr, sizes).ok());
  ASSERT_TRUE(writer.commit(std::move(manifest)).ok());
  const Status merged =
      mergeCheckpoint(*checkpoint, folder.file("merged"), sizes);
  ASSERT_TRUE(merged.ok()) << merged.message();
  ASSERT_EQ(filesOf(folder.file("merged")), filesOf(folder.file("whole")));
  for (const std::string &name : filesOf(folder.file("whole")))
    EXPECT_EQ(folder.read("merged/" + name), folder.read("whole/" + name))
        << name;
}

void flipByte(const std::string &path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-3, std::ios::end);
  const char byte = char(file.get() ^ 1);
  file.seekp(-3, std::ios::end);
  file.put(byte);
}

std::string onlyTableFile(const std::string &path) {
  for (const std::string &name : filesOf(path))
    if (name.starts_with("table-"))
      return path + "/" + name;
  return {};
}

} // namespace

TEST(Delta, WithAllBeforeItIsTheWhole) {
  for (const TablePartSizes &sizes :
       {TablePartSizes(), TablePartSizes{size_t(1) << 17},
        TablePartSizes{size_t(1) << 17, /*memory=*/1}}) {
    TestFolder folder;
    auto model = makeTrained();
    Changes changes(*model, 2);
    Chain chain(folder);
    for (int64_t steps = 1; steps <= 7; ++steps) {
      SCOPED_TRACE(steps);
      changes.step();
      const bool isDelta = steps % 4 != 1;
      chain.save(*model, steps, isDelta, sizes);
      expectState(folder, chain.pathOf(steps), dumpOf(folder, *model), sizes);
    }
    const Expected<Checkpoint> last = Checkpoint::open(chain.pathOf(7));
    ASSERT_TRUE(last.ok());
    EXPECT_EQ(last->earlier().size(), size_t(2));
    EXPECT_LT(keysIn(*last), 320);
    EXPECT_GT(keysIn(*last), 250);
    EXPECT_GT(keysIn(*last, "erased"), 0);
    EXPECT_LT(keysIn(*last, "erased"), 7);
    const Expected<Checkpoint> alone = Checkpoint::openAlone(chain.pathOf(7));
    ASSERT_TRUE(alone.ok());
    EXPECT_TRUE(alone->earlier().empty());
    // The name of its folder does not matter.
    fs::create_directory_symlink(chain.pathOf(7), folder.file("latest"));
    for (const std::string &path :
         {chain.pathOf(7) + "/", chain.pathOf(7) + "/.", folder.file("latest")})
      EXPECT_TRUE(Checkpoint::open(path).ok()) << path;
  }
}

// Reading or finding a row does not count as a change.
TEST(Delta, HoldsWhatWasWrittenAlone) {
  TestFolder folder;
  auto model = makeTrained();
  Chain chain(folder);
  chain.save(*model, 1, false);
  std::vector<int64_t> keys;
  for (int64_t i = 1; i < 400; i += 2)
    keys.push_back(i);
  std::vector<void *> rows(keys.size());
  std::vector<RowHandle> handles(keys.size());
  TableScratch scratch;
  int64_t inserted = 0;
  EmbeddingTable &table = *model->table(SymbolTable);
  const auto count = int64_t(keys.size());
  EXPECT_EQ(table.find(count, keys.data(), rows.data(), scratch), 0);
  ASSERT_TRUE(
      table.findOrInsert(count, keys.data(), rows.data(), scratch, inserted)
          .ok());
  ASSERT_TRUE(
      table.pull(count, keys.data(), handles.data(), scratch, inserted).ok());
  EXPECT_EQ(inserted, 0);
  chain.save(*model, 2, true);
  EXPECT_EQ(keysIn(*Checkpoint::openAlone(chain.pathOf(2))), 0);
  Changes(*model, 1).update({5, 7, 70'000'001});
  chain.save(*model, 3, true);
  EXPECT_EQ(keysIn(*Checkpoint::openAlone(chain.pathOf(3))), 3);
  // The restored state equals the saved one.
  Model restored(*handWrittenProgram({}), 3);
  ASSERT_TRUE(restoreModel(restored, *Checkpoint::open(chain.pathOf(3)),
                           CheckpointUse::Training)
                  .ok());
  const int64_t gone = 9;
  restored.table(SymbolTable)->erase(1, &gone, scratch);
  Changes(restored, 1).update({5});
  chain.save(restored, 4, true);
  const Expected<Checkpoint> last = Checkpoint::open(chain.pathOf(4));
  ASSERT_TRUE(last.ok()) << last.status().message();
  EXPECT_EQ(keysIn(*last), 1);
  EXPECT_EQ(keysIn(*last, "erased"), 1);
  const std::string dump = dumpOf(folder, restored);
  expectState(folder, chain.pathOf(4), dump);
  // A reader that has the previous state needs only the delta.
  Model follower(*handWrittenProgram({}), 3);
  ASSERT_TRUE(restoreModel(follower, *Checkpoint::open(chain.pathOf(3)),
                           CheckpointUse::Training)
                  .ok());
  ASSERT_TRUE(restoreChanges(follower, *Checkpoint::openAlone(chain.pathOf(4)),
                             CheckpointUse::Training)
                  .ok());
  EXPECT_EQ(dumpOf(folder, follower), dump);
}

// A delta has the state of one moment, although rows are written, created and
// erased meanwhile. Later changes are in the next delta.
TEST(Delta, IsOfItsSnapshot) {
  for (const int32_t untouched : {PDL_UNTOUCHED_LAZY, PDL_UNTOUCHED_DENSE})
    for (const TablePartSizes &sizes :
         {TablePartSizes{size_t(1) << 15},
          TablePartSizes{size_t(1) << 15, size_t(1) << 20, /*copyLimit=*/1}}) {
      SCOPED_TRACE(untouched);
      TestFolder folder;
      auto model = makeTrained(untouched);
      Changes changes(*model, 2);
      Chain chain(folder);
      std::vector<std::string> dumps;
      for (int64_t steps = 1; steps <= 5; ++steps) {
        changes.step();
        dumps.push_back(dumpOf(folder, *model));
        CheckpointWriter writer(chain.pathOf(steps));
        CheckpointManifest manifest = chain.manifestOf(steps, steps > 1);
        describeModel(*model, manifest);
        auto snapshot = StateSnapshot::take(
            *model, "dense.safetensors", writer, sizes,
            steps > 1 ? SavedRows::Changed : SavedRows::Base);
        ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
        std::atomic<bool> isWritten = false;
        std::thread saver([&] {
          const Status status = (*snapshot)->write(writer);
          EXPECT_TRUE(status.ok()) << status.message();
          isWritten = true;
        });
        for (int more = 0; more < 3 || (!isWritten && more < 20); ++more)
          changes.step(200);
        saver.join();
        (*snapshot).reset();
        chain.commit(writer, std::move(manifest));
      }
      for (int64_t steps = 1; steps <= 5; ++steps) {
        SCOPED_TRACE(steps);
        const Expected<Checkpoint> checkpoint =
            Checkpoint::open(chain.pathOf(steps));
        ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
        const Expected<ModelState> state = stateOf(*checkpoint);
        ASSERT_TRUE(state.ok());
        ASSERT_TRUE(writeDump(*state, folder.file("dump")).ok());
        EXPECT_EQ(folder.read("dump"), dumps[size_t(steps - 1)]);
      }
    }
}

// A process that does not know the changed rows saves all its rows.
TEST(Delta, MayHaveWholeParts) {
  TestFolder folder;
  auto model = makeTrained();
  Changes changes(*model, 1);
  Chain chain(folder);
  chain.save(*model, 1, false);
  changes.step();
  CheckpointWriter writer(chain.pathOf(2));
  CheckpointManifest manifest = chain.manifestOf(2, true);
  ASSERT_TRUE(
      saveModel(*model, writer, manifest, nullptr, SavedRows::Base).ok());
  chain.commit(writer, std::move(manifest));
  expectState(folder, chain.pathOf(2), dumpOf(folder, *model));
}

TEST(Delta, SaysWhatIsWrongOfWhatItFollows) {
  const auto messageOf = [](auto damage) {
    TestFolder folder;
    auto model = makeTrained();
    Changes changes(*model, 1);
    Chain chain(folder);
    for (int64_t steps = 1; steps <= 3; ++steps) {
      changes.step();
      chain.save(*model, steps, steps > 1);
    }
    damage(chain, *model);
    const std::string message =
        Checkpoint::open(chain.pathOf(3)).status().message();
    // Nothing of the damaged chain is loaded.
    std::vector<std::string> refused;
    EXPECT_TRUE(
        findNewestCheckpoint(folder.file("chain"), refused).status().ok() ||
        !refused.empty());
    EXPECT_FALSE(refused.empty());
    return message;
  };
  EXPECT_THAT(messageOf([](const Chain &chain, const Model &) {
                fs::remove_all(chain.pathOf(1));
              }),
              AllOf(HasSubstr("step-000000000003: is a delta, and "
                              "step-000000000001, which step-000000000002 "
                              "follows, is not next to it; bring it back"),
                    HasSubstr("use another checkpoint")));
  for (const int64_t steps : {1, 2})
    EXPECT_THAT(messageOf([&](const Chain &chain, const Model &) {
                  flipByte(onlyTableFile(chain.pathOf(steps)));
                }),
                AllOf(HasSubstr("step-000000000003: is a delta that needs "
                                "step-00000000000" +
                                std::to_string(steps)),
                      HasSubstr("file table-"), HasSubstr("checksum"),
                      HasSubstr("use another")));
  EXPECT_THAT(messageOf([](const Chain &chain, const Model &) {
                flipByte(chain.pathOf(2) + "/" + manifestName);
              }),
              AllOf(HasSubstr("needs step-000000000002"),
                    HasSubstr("its checksum does not fit")));
  EXPECT_THAT(
      messageOf([](const Chain &chain, const Model &) {
        fs::remove(onlyTableFile(chain.pathOf(1)));
      }),
      AllOf(HasSubstr("needs step-000000000001"), HasSubstr("use another")));
  // The predecessor is complete, but it is another checkpoint.
  EXPECT_THAT(messageOf([](Chain &chain, const Model &model) {
                fs::remove_all(chain.pathOf(1));
                chain.save(model, 1, false);
              }),
              AllOf(HasSubstr("is a delta, but step-000000000001 is not the "
                              "one that step-000000000002 follows"),
                    HasSubstr("use another checkpoint")));
}

/// The same happens if a training resumes.
TEST(Delta, IsMergedAlthoughItIsRemovedMeanwhile) {
  TestFolder folder;
  auto model = makeTrained();
  Changes changes(*model, 1);
  Chain chain(folder);
  for (int64_t steps = 1; steps <= 2; ++steps) {
    changes.update({steps});
    chain.save(*model, steps, steps > 1);
  }
  const Expected<Checkpoint> checkpoint = Checkpoint::open(chain.pathOf(2));
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_TRUE(mergeCheckpoint(*checkpoint, folder.file("before")).ok());
  fs::remove_all(folder.file("chain"));
  const Status merged = mergeCheckpoint(*checkpoint, folder.file("after"));
  ASSERT_TRUE(merged.ok()) << merged.message();
  for (const std::string &name : filesOf(folder.file("before")))
    EXPECT_EQ(folder.read("after/" + name), folder.read("before/" + name));
  // Another file that has got the name meanwhile is kept.
  fs::create_directory(folder.file("another"));
  EXPECT_THAT(mergeCheckpoint(*checkpoint, folder.file("another")).message(),
              HasSubstr("something has that name by now, and stays"));
  EXPECT_TRUE(fs::is_empty(folder.file("another")));
}

TEST(Delta, WhatIsKeptHasAllThatItNeeds) {
  TestFolder folder;
  auto model = makeTrained();
  Changes changes(*model, 1);
  Chain chain(folder);
  for (int64_t steps = 1; steps <= 8; ++steps) {
    changes.update({steps});
    // Whole checkpoints: 1, 4, 7.
    chain.save(*model, steps, steps % 3 != 1);
  }
  Expected<CheckpointFolder> own = CheckpointFolder::open(folder.file("chain"));
  ASSERT_TRUE(own.ok());
  ASSERT_TRUE(own->removeOld(8, 3).ok());
  EXPECT_THAT(listCheckpoints(folder.file("chain")),
              ElementsAre(8, 7, 6, 5, 4));
  EXPECT_TRUE(Checkpoint::open(chain.pathOf(6)).ok());
  // A checkpoint with a broken chain does not count and is removed.
  fs::remove_all(chain.pathOf(7));
  const Expected<CheckpointFolder::Pruned> pruned = own->prune(1);
  ASSERT_TRUE(pruned.ok()) << pruned.status().message();
  EXPECT_THAT(pruned->removed, ElementsAre(chain.pathOf(8)));
  EXPECT_EQ(pruned->kept, 1);
  EXPECT_EQ(pruned->needed, 2);
  EXPECT_THAT(listCheckpoints(folder.file("chain")), ElementsAre(6, 5, 4));
  ASSERT_TRUE(own->prune(2).ok());
  EXPECT_THAT(listCheckpoints(folder.file("chain")), ElementsAre(6, 5, 4));
  // A checkpoint under another one's name is not used: it does not count, but
  // it is a user's copy and is kept.
  fs::copy(chain.pathOf(4), chain.pathOf(9), fs::copy_options::recursive);
  const Expected<CheckpointFolder::Pruned> other2 = own->prune(1);
  ASSERT_TRUE(other2.ok()) << other2.status().message();
  EXPECT_THAT(other2->renamed,
              ElementsAre(HasSubstr("holds the state after 4 steps")));
  EXPECT_EQ(other2->kept, 1);
  EXPECT_EQ(other2->needed, 2);
  EXPECT_THAT(listCheckpoints(folder.file("chain")), ElementsAre(9, 6, 5, 4));
  fs::remove_all(chain.pathOf(9));
  // A checkpoint with a changed bit does not count, and neither does one that
  // depends on it.
  flipByte(onlyTableFile(chain.pathOf(6)));
  ASSERT_TRUE(own->prune(1).ok());
  EXPECT_THAT(listCheckpoints(folder.file("chain")), ElementsAre(5, 4));
  flipByte(onlyTableFile(chain.pathOf(4)));
  EXPECT_THAT(own->prune(1).status().message(), HasSubstr("checksum"));
  EXPECT_THAT(listCheckpoints(folder.file("chain")), ElementsAre(5, 4));
  fs::remove_all(chain.pathOf(4));
  EXPECT_THAT(own->prune(1).status().message(), HasSubstr("none was removed"));
  EXPECT_THAT(listCheckpoints(folder.file("chain")), ElementsAre(5));
}

// Otherwise a training would start again from the beginning in this folder.
TEST(Delta, OneCheckpointIsNoFolderOfThem) {
  TestFolder folder;
  auto model = makeTrained();
  Chain chain(folder);
  chain.save(*model, 3, false);
  fs::rename(chain.pathOf(3), folder.file("merged"));
  const auto opened = CheckpointFolder::open(folder.file("merged"));
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.status().message(),
              HasSubstr("merged: is one checkpoint, not a folder of them; name "
                        "a new folder, and move this one to step-000000000003 "
                        "in it to go on from it"));
}

// Each way of reading detects the wrong keys, although the checksums are
// correct.
TEST(Delta, WithKeysThatAreNotInTheirPlaceIsRefused) {
  const auto messagesOf = [](const ChangeKeys &change) {
    TestFolder folder;
    const Chain chain = makeBaseAndDelta(folder);
    writeOtherKeys(chain.pathOf(2), change);
    const Expected<Checkpoint> checkpoint = Checkpoint::open(chain.pathOf(2));
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    Model restored(*handWrittenProgram({}), 3);
    Model follower(*handWrittenProgram({}), 3);
    EXPECT_TRUE(restoreModel(follower, *Checkpoint::open(chain.pathOf(1)),
                             CheckpointUse::Training)
                    .ok());
    return std::vector<std::string>{
        restoreModel(restored, *checkpoint, CheckpointUse::Training).message(),
        restoreChanges(follower, *Checkpoint::openAlone(chain.pathOf(2)),
                       CheckpointUse::Training)
            .message(),
        stateOf(*checkpoint).status().message(),
        mergeCheckpoint(*checkpoint, folder.file("merged")).message()};
  };
  using testing::Each;
  EXPECT_THAT(
      messagesOf([](auto &keys, auto &) { std::swap(keys[3], keys[200]); }),
      Each(HasSubstr("is not in its place; the checkpoint is damaged")));
  EXPECT_THAT(messagesOf([](auto &keys, auto &) { keys[8] = keys[7]; }),
              Each(HasSubstr("is not in its place")));
  EXPECT_THAT(
      messagesOf([](auto &, auto &erased) { erased.push_back(erased[0]); }),
      Each(HasSubstr("is not in its place")));
  EXPECT_THAT(
      messagesOf([](auto &, auto &erased) { std::ranges::reverse(erased); }),
      Each(HasSubstr("is not in its place")));
  EXPECT_THAT(messagesOf([](auto &keys, auto &erased) {
                erased = {keys[keys.size() / 2]};
              }),
              Each(HasSubstr("has a row, and is erased")));
}
