//===- PredictCommandTest.cpp - Predictions of a trainer ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineRun.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

using testing::HasSubstr;

TEST(CommandLine, PredictsInOrder) {
  TestFolder folder;
  std::string train = folder.write("train.tsv", makeData(500)), out, err;
  const std::string model = folder.file("m.safetensors");
  ASSERT_EQ(run(folder, {"train", "--data", train, "--dump", model}), 0);
  // Inputs without label and weight: three numbers and two bags.
  std::string inputs;
  std::vector<std::string> lines;
  for (int i = 0; i < 10; ++i) {
    lines.push_back(fmt::format("{}\t0\t0.5\tu{}\t\n", 0.1 * i, i));
    inputs += lines.back();
  }
  std::string all = folder.write("all.tsv", inputs);
  ASSERT_EQ(run(folder,
                {"predict", "--data", all, "--columns", "dense,ids",
                 "--init-from", model, "--batch-size", "3"},
                &out, &err),
            0)
      << err;
  EXPECT_THAT(err, HasSubstr("predicted 10 samples"));
  // Each line by itself gives the same number.
  std::istringstream rows(out);
  std::string row;
  std::getline(rows, row);
  EXPECT_EQ(row, "p");
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(std::getline(rows, row));
    std::string one = folder.write("one.tsv", lines[i]);
    ASSERT_EQ(
        run(folder, {"predict", "--data", one, "--columns", "dense,ids",
                     "--init-from", model, "--output", folder.file("one.out")}),
        0);
    EXPECT_EQ(folder.read("one.out"), "p\n" + row + "\n");
    const double p = std::stod(row);
    EXPECT_GT(p, 0);
    EXPECT_LT(p, 1);
  }
  EXPECT_FALSE(std::getline(rows, row));
}

// Each score stays on the line of its row.
TEST(CommandLine, PredictKeepsThePlacesOfBadRows) {
  TestFolder folder;
  std::string train = folder.write("train.tsv", makeData(500)), out, err;
  const std::string model = folder.file("m.safetensors");
  ASSERT_EQ(run(folder, {"train", "--data", train, "--dump", model}), 0);
  const std::string good = "0.1\t0\t0.5\tu1\tt1\n";
  std::string data = "id\tdense.0\tdense.1\tdense.2\tids.0\tids.1\n";
  for (const char *bad : {"a", "d", "e", "h"})
    data += std::string(bad) + "\twhat\t0\t0.5\tu1\tt1\n" + bad + "+\t" + good;
  data += "z z\t" + good + "last\n";
  const std::string file = folder.write("new.tsv", data);
  for (const char *threads : {"1", "3"}) {
    ASSERT_EQ(run(folder,
                  {"predict", "--data", file, "--header", "--init-from", model,
                   "--max-bad-rows", "5", "--batch-size", "2", "--threads",
                   threads, "--copy-column", "id"},
                  &out, &err),
              0)
        << err;
    EXPECT_THAT(err, HasSubstr("predicted 5 samples, nan for 5 bad rows"));
    std::istringstream lines(out);
    std::string line, score;
    std::vector<std::string> ids, scores;
    while (std::getline(lines, line)) {
      ids.push_back(line.substr(0, line.find('\t')));
      scores.push_back(line.substr(line.find('\t') + 1));
    }
    EXPECT_THAT(ids, testing::ElementsAre("id", "a", "a+", "d", "d+", "e", "e+",
                                          "h", "h+", "z z", "last"));
    ASSERT_EQ(scores.size(), 11u);
    EXPECT_EQ(scores[0], "p");
    for (int i : {1, 3, 5, 7, 10})
      EXPECT_EQ(scores[i], "nan");
    for (int i : {2, 4, 6, 8, 9})
      EXPECT_EQ(scores[i], scores[2]);
    EXPECT_GT(std::stod(scores[2]), 0);
  }
}

// A header whose names are not those of the fields is reported, and only once,
// not in each epoch.
TEST(CommandLine, AHeaderOfOtherNamesIsSaid) {
  TestFolder folder;
  auto errorsFor = [&](const std::string &header) {
    const std::string data = folder.write("data.tsv", header + makeData(50));
    std::string err;
    EXPECT_EQ(run(folder,
                  {"train", "--data", data, "--header", "--epochs", "3",
                   "--replicas", "2x1", "--dump", folder.file("model")},
                  nullptr, &err),
              0);
    return err;
  };
  const std::string rest = "weight\tdense.0\tdense.1\tdense.2\tids.0\tids.1\n";
  EXPECT_THAT(errorsFor("label\t" + rest), testing::Not(HasSubstr("warning")));
  const std::string err = errorsFor("Label\t" + rest);
  const std::string message = "the header has no column `label`, which field "
                              "`label` reads, but `Label`, in other letters";
  EXPECT_THAT(err, HasSubstr(message));
  EXPECT_EQ(err.find(message), err.rfind(message));
  EXPECT_THAT(
      errorsFor("y\t" + rest),
      HasSubstr("`label` reads, but `y`: columns are taken in the order"));
}

// Existing scores are kept until there are new ones for all rows.
TEST(CommandLine, PredictKeepsWhatItCannotReplace) {
  TestFolder folder;
  const std::string train = folder.write("train.tsv", makeData(50)),
                    model = folder.file("m.safetensors"),
                    scores = folder.write("scores.tsv", "old\n");
  ASSERT_EQ(run(folder, {"train", "--data", train, "--dump", model}), 0);
  const std::string good = "0.1\t0\t0.5\tu1\tt1\n";
  auto predict = [&](const std::string &rows) {
    const std::string data = folder.write("new.tsv", rows);
    return run(folder,
               {"predict", "--data", data, "--init-from", model, "--columns",
                "dense,ids", "--batch-size", "1", "--output", scores});
  };
  EXPECT_EQ(predict(good + good + "what\t0\t0.5\tu1\tt1\n"), 1);
  EXPECT_EQ(folder.read("scores.tsv"), "old\n");
  // No temporary file is left next to it.
  for (const auto &entry : std::filesystem::directory_iterator(
           std::filesystem::path(scores).parent_path()))
    EXPECT_THAT(entry.path().string(), testing::Not(HasSubstr(".tmp.")));
  EXPECT_EQ(predict(good), 0);
  EXPECT_THAT(folder.read("scores.tsv"), testing::StartsWith("p\n0."));
  // The target of a link is written, not the link.
  const std::string link = folder.file("link.tsv");
  std::filesystem::create_symlink(scores, link);
  folder.write("scores.tsv", "old\n");
  const std::string data = folder.write("new.tsv", good);
  EXPECT_EQ(run(folder, {"predict", "--data", data, "--init-from", model,
                         "--columns", "dense,ids", "--output", link}),
            0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_THAT(folder.read("scores.tsv"), testing::StartsWith("p\n0."));
}

// A file without labels but with weights is refused, because columns are not
// guessed.
TEST(CommandLine, PredictDoesNotGuessColumns) {
  TestFolder folder;
  std::string train = folder.write("train.tsv", makeData(50)), err;
  const std::string model = folder.file("m.safetensors");
  ASSERT_EQ(run(folder, {"train", "--data", train, "--dump", model}), 0);
  const std::string inputs = "0.1\t0\t0.5\tu1\tt1\n";
  for (const std::string &line : {inputs, "1\t" + inputs}) {
    const std::string data = folder.write("new.tsv", line);
    EXPECT_EQ(run(folder, {"predict", "--data", data, "--init-from", model},
                  nullptr, &err),
              1);
    EXPECT_THAT(err, HasSubstr("--columns"));
  }
  const std::string data = folder.write("new.tsv", "1\t" + inputs);
  EXPECT_EQ(run(folder, {"predict", "--data", data, "--init-from", model,
                         "--columns", "weight,dense,ids"}),
            0);
}
