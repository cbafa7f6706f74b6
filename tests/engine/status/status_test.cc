#include "engine/status.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "engine/check.h"

namespace gauntlet {
namespace {

TEST(StatusTest, OkHasNoMessage) {
  const Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.code(), Code::kOk);
  EXPECT_EQ(ok.message(), "");
  EXPECT_EQ(ok.ToString(), "OK");
}

TEST(StatusTest, CopyOutlivesItsSource) {
  auto source = std::make_unique<Status>(NotFound("a: no such file"));
  const Status copy = *source;
  source.reset();
  EXPECT_EQ(copy.ToString(), "NOT_FOUND: a: no such file");
}

TEST(StatusTest, MovedFromStatusIsOk) {
  Status source = NotFound("a");
  const Status moved = std::move(source);
  EXPECT_EQ(moved.ToString(), "NOT_FOUND: a");
  EXPECT_TRUE(source.ok());  // NOLINT(bugprone-use-after-move)
}

TEST(StatusTest, Assignment_ReplacesTheFormerStatus) {
  Status status = NotFound("a");
  status = DataLoss("b");
  EXPECT_EQ(status.ToString(), "DATA_LOSS: b");
  const Status other = IoError("c");
  status = other;
  EXPECT_EQ(status.ToString(), other.ToString());
  status = OkStatus();
  EXPECT_TRUE(status.ok());
}

TEST(StatusTest, AssignedToItselfItStays) {
  Status status = NotFound("a");
  const Status& same = status;
  status = same;
  EXPECT_EQ(status.ToString(), "NOT_FOUND: a");
}

TEST(StatusTest, ControlCharactersAreShownAsQuestionMarks) {
  EXPECT_EQ(NotFound("a\nb\x7f").message(), "a?b?");
}

TEST(StatusTest, AnnotateLeavesOkAlone) {
  EXPECT_TRUE(Annotate(OkStatus(), "context").ok());
  EXPECT_EQ(Annotate(NotFound("a"), "context").ToString(),
            "NOT_FOUND: context: a");
}

TEST(ResultTest, MovesTemporariesAndCopiesOthers) {
  const std::string kept(100, 'k');
  auto given = std::make_unique<int>(7);
  const int* const address = given.get();
  const Result<std::string> copied = kept;
  const Result<std::unique_ptr<int>> taken = std::move(given);
  EXPECT_EQ(*copied, kept);
  EXPECT_EQ(taken->get(), address);
}

TEST(ResultDeathTest, MovedFromResultHasNoValue) {
  Result<int> source = NotFound("a");
  const Result<int> moved = std::move(source);
  EXPECT_EQ(moved.status().code(), Code::kNotFound);
  EXPECT_DEATH(static_cast<void>(source.value()),  // NOLINT
               "value_.has_value");
}

// The run's position, which is needed to repeat it, follows any message.
TEST(CheckDeathTest, NamesTheRunsPosition_BehindAnyMessage) {
  SetCheckPosition({.seed = 7, .rank = 3, .step = 9});
  for (const size_t size : {size_t{10}, size_t{100000}}) {
    EXPECT_DEATH(CHECK(1 == 2, std::string(size, 'x')),
                 "CHECK\\(1 == 2\\) failed: xxx.* "
                 "\\(seed 7, rank 3, step 9\\)\n");
  }
}

}  // namespace
}  // namespace gauntlet
