//===- StatusTest.cpp - Results that may be an error
//-----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Status.h"
#include "pdlabi/exit_code.h"
#include "pdlrt/Core/ProgramMain.h"

#include "gtest/gtest.h"

#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace pdlrt;

static Expected<std::unique_ptr<int>> positive(int number) {
  if (number <= 0)
    return Status::invalidArgument("the number must be positive");
  return std::make_unique<int>(number);
}

static Status addTwice(int number, int &sum) {
  auto value = positive(number);
  PDLRT_RETURN_IF_ERROR(value.status());
  sum += 2 * **value;
  return {};
}

TEST(StatusTest, ErrorLeavesTheFunctionAndKeepsItsMessage) {
  int sum = 0;
  EXPECT_TRUE(addTwice(3, sum).ok());
  EXPECT_EQ(sum, 6);
  Status status = addTwice(-1, sum);
  EXPECT_EQ(status.code(), PDL_INVALID_ARGUMENT);
  EXPECT_EQ(status.message(), "the number must be positive");
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(std::move(status).withContext("flag --x").message(),
            "flag --x: the number must be positive");
}

TEST(StatusTest, CrossesTheABIByTheThreadsLastError) {
  EXPECT_EQ(Status().report(), PDL_OK);
  EXPECT_EQ(Status::outOfMemory("no room for 3 rows").report(),
            PDL_OUT_OF_MEMORY);
  Status back = Status::fromLastError(PDL_OUT_OF_MEMORY);
  EXPECT_EQ(back.code(), PDL_OUT_OF_MEMORY);
  EXPECT_EQ(back.message(), "no room for 3 rows");
  EXPECT_TRUE(Status::fromLastError(PDL_OK).ok());
}

namespace {
/// Code of a failure, a function that fails with it, and the exit code of a
/// program that fails so.
struct CodeCase {
  pdl_status code;
  Status (*make)(std::string message);
  ExitCode exit;
};
} // namespace

static const std::vector<CodeCase> codeCases = {
    {PDL_INVALID_ARGUMENT, Status::invalidArgument, ExitCode::Failure},
    {PDL_NOT_FOUND, Status::notFound, ExitCode::Failure},
    {PDL_DATA_LOSS, Status::dataLoss, ExitCode::Failure},
    {PDL_FAILED_PRECONDITION, Status::failedPrecondition, ExitCode::Failure},
    {PDL_INTERNAL, Status::internal, ExitCode::Failure},
    {PDL_IO_ERROR, Status::ioError, ExitCode::Retry},
    {PDL_UNAVAILABLE, Status::unavailable, ExitCode::Retry},
    {PDL_DEADLINE_EXCEEDED, Status::deadlineExceeded, ExitCode::Retry},
    {PDL_RESOURCE_EXHAUSTED, Status::resourceExhausted, ExitCode::Retry},
    {PDL_OUT_OF_MEMORY, Status::outOfMemory, ExitCode::Retry},
    {PDL_CANCELLED, Status::cancelled, ExitCode::Retry},
};

// Programs and hosts that were built earlier know the first three codes, and
// PDL_SERVING_UNAVAILABLE.
TEST(StatusTest, CodesKeepTheirNumbers) {
  EXPECT_EQ(PDL_OK, 0);
  EXPECT_EQ(PDL_INVALID_ARGUMENT, 1);
  EXPECT_EQ(PDL_OUT_OF_MEMORY, 2);
  EXPECT_EQ(PDL_INTERNAL, 3);
  EXPECT_EQ(PDL_UNAVAILABLE, 4);
  EXPECT_EQ(PDL_NOT_FOUND, 5);
  EXPECT_EQ(PDL_IO_ERROR, 6);
  EXPECT_EQ(PDL_DATA_LOSS, 7);
  EXPECT_EQ(PDL_DEADLINE_EXCEEDED, 8);
  EXPECT_EQ(PDL_RESOURCE_EXHAUSTED, 9);
  EXPECT_EQ(PDL_FAILED_PRECONDITION, 10);
  EXPECT_EQ(PDL_CANCELLED, 11);
}

TEST(StatusTest, EachCodeHasAFactoryANameAndAnExitCode) {
  for (int code = PDL_OK; code <= PDL_CANCELLED; ++code)
    EXPECT_STRNE(nameOf(pdl_status(code)), "Unknown") << code;
  EXPECT_STREQ(nameOf(pdl_status(PDL_CANCELLED + 1)), "Unknown");
  EXPECT_EQ(codeCases.size(), size_t(PDL_CANCELLED));
  for (const CodeCase &each : codeCases) {
    SCOPED_TRACE(nameOf(each.code));
    EXPECT_EQ(each.make("no room").code(), each.code);
    EXPECT_EQ(exitCodeOf(each.code), each.exit);
    testing::internal::CaptureStderr();
    EXPECT_EQ(fail(each.make("no room")), statusOf(each.exit));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: no room\n");
    testing::internal::CaptureStderr();
    EXPECT_EQ(failUsage(each.make("no flag")),
              statusOf(each.code == PDL_INVALID_ARGUMENT ? ExitCode::Usage
                                                         : each.exit));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: no flag\n");
    // The code is also passed through the ABI.
    EXPECT_EQ(Status::fromLastError(each.make("no row").report()).code(),
              each.code);
  }
  EXPECT_EQ(exitCodeOf(PDL_OK), ExitCode::Success);
  EXPECT_EQ(exitCodeOf(pdl_status(200)), ExitCode::Failure);
}

TEST(StatusTest, FailedSystemCallsHaveCodes) {
  const std::pair<int, pdl_status> cases[] = {
      {ENOENT, PDL_NOT_FOUND},
      {EACCES, PDL_FAILED_PRECONDITION},
      {EROFS, PDL_FAILED_PRECONDITION},
      {ENOSPC, PDL_RESOURCE_EXHAUSTED},
      {EFBIG, PDL_RESOURCE_EXHAUSTED},
      {EMFILE, PDL_RESOURCE_EXHAUSTED},
      {EIO, PDL_IO_ERROR},
      {EADDRINUSE, PDL_UNAVAILABLE},
      {ETIMEDOUT, PDL_DEADLINE_EXCEEDED}};
  for (const auto &[error, code] : cases)
    EXPECT_STREQ(nameOf(Status::ofErrno(error, "x").code()), nameOf(code))
        << error;
}

// docs/Reference/ExitCodes.md is what operators read.
TEST(StatusTest, TheDocumentedTableIsTheProgramsTable) {
  std::ifstream file(PDL_EXIT_CODES_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  const auto hasRow = [&](const std::string &begin) {
    return text.find("\n" + begin) != std::string::npos;
  };
  for (const CodeCase &each : codeCases) {
    const std::string row =
        "| " + std::string(nameOf(each.code)) + " | " +
        std::to_string(statusOf(each.exit)) + " | " +
        (each.exit == ExitCode::Retry ? "retryable" : "permanent") + " | ";
    EXPECT_TRUE(hasRow(row)) << row;
  }
  const std::pair<ExitCode, const char *> rows[] = {
      {ExitCode::Success, "Success | done"},
      {ExitCode::Failure, "Failure | permanent"},
      {ExitCode::Usage, "Usage | permanent"},
      {ExitCode::Retry, "Retry | retryable"}};
  for (const auto &[code, words] : rows)
    EXPECT_TRUE(hasRow("| " + std::to_string(statusOf(code)) + " | " + words))
        << words;
}
