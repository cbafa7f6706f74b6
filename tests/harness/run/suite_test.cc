#include "harness/run/suite.h"

#include <filesystem>
#include <fstream>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class SuiteTest : public testing::Test {
 protected:
  std::vector<CaseResult> Run(const std::vector<SuiteItem>& items) {
    options_.directory = scratch_.path();
    return RunSuite(items, options_, [this](const CaseResult& result) {
      done_.push_back(result.name);
    });
  }
  static std::vector<std::string> NamesOf(
      const std::vector<CaseResult>& results) {
    std::vector<std::string> names;
    for (const CaseResult& result : results) names.push_back(result.name);
    return names;
  }
  static std::vector<SuiteItem> Items(const std::vector<Case>& cases) {
    std::vector<SuiteItem> items;
    for (const Case& one : cases) items.push_back({.one = one});
    return items;
  }

  ScratchDirectory scratch_;
  SuiteOptions options_;
  std::vector<std::string> done_;
};

TEST_F(SuiteTest, RunsAllInOrderAndTellsOfEach) {
  const auto results =
      Run(Items({CleanCase("a"), WrongCase("b"), CrashCase("d")}));
  EXPECT_THAT(NamesOf(results), ElementsAre("a", "b", "d"));
  EXPECT_THAT(done_, ElementsAre("a", "b", "d"));
  EXPECT_EQ(results[1].verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(results[2].verdict.kind, VerdictKind::kPass);
}

TEST_F(SuiteTest, SeveralAtATimeGiveTheSameResultsInTheSameOrder) {
  std::vector<Case> cases;
  for (int i = 0; i < 6; ++i)
    cases.push_back(CrashCase("c" + std::to_string(i)));
  options_.jobs = 3;
  const auto results = Run(Items(cases));
  EXPECT_THAT(NamesOf(results),
              ElementsAre("c0", "c1", "c2", "c3", "c4", "c5"));
  EXPECT_THAT(done_, UnorderedElementsAre("c0", "c1", "c2", "c3", "c4", "c5"));
  for (const CaseResult& result : results) {
    EXPECT_EQ(result.verdict.kind, VerdictKind::kPass);
    EXPECT_EQ(result.verdict.story, results[0].verdict.story);
  }
}

TEST_F(SuiteTest, StopsAfterSoManyFailures) {
  options_.max_failures = 2;
  const auto results = Run(Items({WrongCase("a"), CleanCase("b"), IdleCase("d"),
                                  CleanCase("e"), CleanCase("f")}));
  EXPECT_THAT(NamesOf(results), ElementsAre("a", "b", "d"))
      << "no verdict counts as a failure";
}

TEST_F(SuiteTest, NothingToRunIsNothing) { EXPECT_TRUE(Run({}).empty()); }

TEST_F(SuiteTest, WhoRunsForLongerThanOthersIsNamedMeanwhile) {
  Case slow = CleanCase("slow");
  slow.timeouts.slow = Duration::zero();
  std::promise<std::string> named;
  const std::shared_future<std::string> name = named.get_future().share();
  options_.slow = [&](const SuiteItem& item) {
    named.set_value(item.one.name);
  };
  // Once it has begun it is not over before it has been named.
  int asked = 0;
  options_.interrupted = [&] {
    if (asked++ == 1) name.wait_for(std::chrono::seconds(60));
    return false;
  };
  EXPECT_EQ(Run(Items({slow, CleanCase("other")})).size(), 2u);
  ASSERT_EQ(name.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_EQ(name.get(), "slow");
}

TEST_F(SuiteTest, EachCaseHasAFolderOfItsOwn) {
  const auto results = Run(Items({CleanCase("a"), CleanCase("b")}));
  EXPECT_EQ(results[0].directory, scratch_ / "a.sim");
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "b.sim/record.jsonl"));
}

// A program that is no trainer: the real world says something else than the
// simulated one.
TEST_F(SuiteTest, WorldsThatDisagreeAreAFailure) {
  const std::string program = scratch_ / "liar";
  std::ofstream(program)
      << "#!/bin/sh\n"
         "echo '{\"kind\":\"header\",\"schema\":"
         "\"gauntlet.events/v2\",\"worker\":0,\"incarnation\":1}' > "
         "$7/worker-0-life-1.jsonl\n"
         "echo '{\"kind\":\"worker_started\",\"t_ns\":1}' >> "
         "$7/worker-0-life-1.jsonl\n"
         "exit 7\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  options_.program = program;
  const auto results = Run(
      {{.one = CleanCase()}, {.one = CleanCase(), .world = WorldKind::kReal}});
  EXPECT_EQ(results[0].verdict.kind, VerdictKind::kPass);
  EXPECT_EQ(results[1].verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(
      results[1].verdict.reason,
      AllOf(HasSubstr("the worlds disagree: PASS with final state "),
            HasSubstr(", FAIL with no final state ("), EndsWith(") here")));
}

TEST_F(SuiteTest, AWorldThatCannotDoItDoesNotDisagree) {
  Case one = CleanCase();
  one.needs.features = {"simulation"};
  const auto results =
      Run({{.one = one}, {.one = one, .world = WorldKind::kReal}});
  EXPECT_EQ(results[0].verdict.kind, VerdictKind::kPass);
  EXPECT_EQ(results[1].verdict.kind, VerdictKind::kSkip);
}

}  // namespace
}  // namespace gauntlet
