#include "engine/app/requeue_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/host/real_host.h"

namespace gauntlet {
namespace {

using ::testing::ExitedWithCode;
using ::testing::StartsWith;

TEST(RequeueCodesTest, TrainingsOwnCodesStayUntilOthersAreAskedFor) {
  for (const ExitCodeInfo& info : AllExitCodes()) {
    const int code = static_cast<int>(info.code);
    EXPECT_EQ(RequeueCode({}, code), code);
  }
}

TEST(RequeueCodesTest, ReplacesTheCodesOfAStopAndAPermanentFailure) {
  const RequeueCodes codes = {.preempted = 75, .no_requeue = 200};
  EXPECT_EQ(RequeueCode(codes, 143), 75);
  for (const int failure : {1, 2, 7, 8, 9}) {
    EXPECT_EQ(RequeueCode(codes, failure), 200) << failure;
  }
  for (const int other : {0, 75, 130}) {
    EXPECT_EQ(RequeueCode(codes, other), other);
  }
}

// Code 74 is a worker's message to its launcher; a cluster's scheduler does not
// know the code.
TEST(RequeueCodesTest, LaterStart_ExitsWithRequeueCode) {
  EXPECT_EQ(RequeueCode({.no_requeue = 200}, 74), 75);
}

TEST(RequeueCodesTest, NoCodeMaySayBoth) {
  for (const int failure : {1, 2, 7, 8, 9}) {
    EXPECT_THAT(
        CheckRequeueCodes({.preempted = failure}).message(),
        StartsWith("--preempted-code: expected none of 1, 2, 7, 8, 9, "));
  }
  for (const int again : {75, 137, 99}) {
    EXPECT_THAT(
        CheckRequeueCodes({.preempted = 99, .no_requeue = again}).message(),
        StartsWith(
            "--permanent-failure-code: expected none of 75, 137 and 99 "));
  }
  EXPECT_TRUE(CheckRequeueCodes({.preempted = 75, .no_requeue = 1}).ok());
  EXPECT_TRUE(CheckRequeueCodes({.preempted = 99, .no_requeue = 143}).ok());
}

TEST(RequeueCodesTest, ProcessEndsWithTheCodeAskedFor) {
  const RequeueCodes codes = {.preempted = 99};
  RealHost real;
  RequeueHost host(real, codes);
  EXPECT_EXIT(host.Exit(143), ExitedWithCode(99), "");
  EXPECT_EXIT(host.Exit(7), ExitedWithCode(7), "");
}

}  // namespace
}  // namespace gauntlet
