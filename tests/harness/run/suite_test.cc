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
using testing::Not;
using testing::StartsWith;
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

  // Makes the write of the simulated case's record fail as on a full disk.
  void FillRecordOf(const std::string& name) {
    const std::filesystem::path folder = scratch_ / (name + ".sim");
    std::filesystem::create_directory(folder);
    std::filesystem::create_symlink("/dev/full", folder / "record.jsonl");
  }

  // Uses a program that is not a trainer: it starts as a worker and exits with
  // 7.
  void UseBrokenProgram() {
    const std::string program = scratch_ / "broken";
    std::ofstream(program)
        << "#!/bin/sh\n"
           "echo '{\"kind\":\"header\",\"schema\":"
           "\"gauntlet.events/v2\",\"worker\":0,\"incarnation\":1}' > "
           "$7/worker-0-incarnation-1.jsonl\n"
           "echo '{\"kind\":\"worker_started\",\"t_ns\":1}' >> "
           "$7/worker-0-incarnation-1.jsonl\n"
           "exit 7\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    options_.program = program;
  }
  static SuiteItem Real(const Case& one) {
    return {.one = one, .world = WorldKind::kReal};
  }

  // Returns a case of the same name that ends with this verdict and final state
  // in the real world.
  SuiteItem EndsReal(const Verdict& verdict, const std::string& digest) {
    options_.run_trainer = [verdict, digest](const Case& one,
                                             const CasePlace& place) {
      CaseOutcome outcome = {.result = ResultBeforeRun(one, place),
                             .final_digest = digest};
      outcome.result.verdict = verdict;
      return outcome;
    };
    SuiteItem item = Real(CleanCase());
    item.one.trainer.emplace();
    return item;
  }

  ScratchDirectory scratch_;
  SuiteOptions options_;
  std::vector<std::string> done_;
};

TEST_F(SuiteTest, RunsAllInOrderAndReportsEach) {
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
    EXPECT_EQ(result.verdict.timeline, results[0].verdict.timeline);
  }
}

TEST_F(SuiteTest, StopsAfterNFailures) {
  options_.max_failures = 2;
  const auto results = Run(Items({WrongCase("a"), CleanCase("b"), IdleCase("d"),
                                  CleanCase("e"), CleanCase("f")}));
  EXPECT_THAT(NamesOf(results), ElementsAre("a", "b", "d"))
      << "no verdict counts as a failure";
}

TEST_F(SuiteTest, BeginsNothingMore_OnceACaseFindsNoRoom) {
  int calls = 0;
  options_.disk_full = [&calls] { ++calls; };
  FillRecordOf("b");
  const auto results =
      Run(Items({CleanCase("a"), CleanCase("b"), CleanCase("d")}));
  EXPECT_THAT(NamesOf(results), ElementsAre("a"));
  EXPECT_THAT(done_, ElementsAre("a"));
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "b.sim"))
      << "the results need its room";
}

TEST_F(SuiteTest, SimulatedFailureCountsWithoutRoomForItsRecord) {
  FillRecordOf("a");
  const auto results = Run(Items({WrongCase("a"), CleanCase("b")}));
  EXPECT_THAT(NamesOf(results), ElementsAre("a"));
  EXPECT_EQ(results.at(0).verdict.kind, VerdictKind::kFail);
}

TEST_F(SuiteTest, EmptySuiteHasNoResult) { EXPECT_TRUE(Run({}).empty()); }

TEST_F(SuiteTest, ReportsASlowCaseWhileItRuns) {
  Case slow = CleanCase("slow");
  slow.timeouts.slow = Duration::zero();
  std::promise<std::string> named;
  const std::shared_future<std::string> name = named.get_future().share();
  options_.slow = [&](const SuiteItem& item) {
    named.set_value(item.one.name);
  };
  // Once the case has begun, it waits here until `slow` has reported its name.
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

TEST_F(SuiteTest, WorldsThatPassWithDifferentStatesAreAFailure) {
  const auto results =
      Run({{.one = CleanCase()}, EndsReal({.kind = VerdictKind::kPass}, "aa")});
  EXPECT_EQ(results[0].verdict.kind, VerdictKind::kPass);
  EXPECT_EQ(results[1].verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(results[1].verdict.reason,
              AllOf(StartsWith("the worlds end differently: final state "),
                    EndsWith(" (sim), final state aa (real)")));
  EXPECT_THAT(
      results[1].cause,
      AllOf(StartsWith("in the simulated world, the run ended with final "),
            EndsWith("; in the real world, the run ended with final state "
                     "aa")));
  EXPECT_THAT(results[1].summary.next,
              StartsWith("compare the events of both runs (gauntlet show "));
}

TEST_F(SuiteTest, PlantedBugMayBeTheReasonWhyWorldsEndDifferently) {
  SuiteItem real = EndsReal({.kind = VerdictKind::kPass}, "");
  options_.run_trainer = [run = options_.run_trainer](const Case& one,
                                                      const CasePlace& place) {
    CaseOutcome outcome = run(one, place);
    outcome.result.planted_bugs = {"write-live-state"};
    outcome.result.verdict.facts.refused = true;
    outcome.exit_code = 7;
    return outcome;
  };
  const auto results = Run({{.one = CleanCase()}, real});
  EXPECT_THAT(results[1].cause,
              HasSubstr("; in the real world, the run refused to train (exit "
                        "code 7); what the planted bug write-live-state "
                        "changes may depend on timing"));
  EXPECT_THAT(results[1].summary.next,
              StartsWith("run the case in one world only (--world sim or "));
}

TEST_F(SuiteTest, WorldThatFailsAloneKeepsItsReason) {
  UseBrokenProgram();
  const auto results = Run({{.one = CleanCase()}, Real(CleanCase())});
  EXPECT_EQ(results[0].verdict.kind, VerdictKind::kPass);
  EXPECT_EQ(results[1].verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(results[1].verdict.reason,
              AllOf(Not(HasSubstr("the worlds")), HasSubstr("outcome")));
}

TEST_F(SuiteTest, PassDoesNotFailBecauseTheOtherWorldDid) {
  const auto results =
      Run({{.one = WrongCase()}, EndsReal({.kind = VerdictKind::kPass}, "aa")});
  EXPECT_EQ(results[0].verdict.reason, "exit_code");
  EXPECT_EQ(results[1].verdict.kind, VerdictKind::kPass);
}

TEST_F(SuiteTest, SkippedWorld_DoesNotDisagree) {
  Case one = CleanCase();
  one.needs.features = {"simulation"};
  const auto results =
      Run({{.one = one}, {.one = one, .world = WorldKind::kReal}});
  EXPECT_EQ(results[0].verdict.kind, VerdictKind::kPass);
  EXPECT_EQ(results[1].verdict.kind, VerdictKind::kSkip);
}

TEST_F(SuiteTest, RetriesAFailedRealCaseAndKeepsEachTry) {
  UseBrokenProgram();
  options_.retries = 2;
  const auto results = Run({Real(CleanCase("a"))});
  ASSERT_EQ(results[0].tries.size(), 3u);
  EXPECT_FALSE(results[0].flaky);
  EXPECT_EQ(results[0].verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(results[0].verdict.reason, StartsWith("failed 3 of 3 tries: "));
  EXPECT_THAT(done_, ElementsAre("a"));
  for (const char* folder : {"a.real", "a~try-2.real", "a~try-3.real"}) {
    const std::filesystem::path path = scratch_ / folder;
    EXPECT_TRUE(std::filesystem::exists(path / "record.jsonl")) << folder;
  }
}

TEST_F(SuiteTest, ComparesEachTryWithTheOtherWorld) {
  options_.retries = 1;
  const auto results =
      Run({{.one = CleanCase()}, EndsReal({.kind = VerdictKind::kPass}, "aa")});
  ASSERT_EQ(results[1].tries.size(), 2u);
  for (const CaseTry& one : results[1].tries) {
    EXPECT_THAT(one.verdict.reason, StartsWith("the worlds end differently: "));
  }
}

TEST_F(SuiteTest, AdvisesOnAFaultThatNeverFired) {
  const auto results = Run(Items({IdleCase("a"), CleanCase("b")}));
  EXPECT_EQ(results[0].verdict.kind, VerdictKind::kError);
  EXPECT_THAT(results[0].summary.next,
              HasSubstr("add a fault that ends the workers"));
  EXPECT_EQ(results[1].summary.next, "");
}

TEST_F(SuiteTest, NeverRetriesASimulatedCase) {
  options_.retries = 2;
  const auto results = Run(Items({WrongCase("a"), IdleCase("b")}));
  for (const CaseResult& one : results) EXPECT_TRUE(one.tries.empty());
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "a~try-2.sim"));
}

// The interrupt arrives during the retry.
TEST_F(SuiteTest, KeepsTheTriesBeforeAnInterruptedRetry) {
  UseBrokenProgram();
  options_.retries = 5;
  options_.interrupted = [this] {
    return std::filesystem::exists(scratch_ / "a~try-2.real");
  };
  const auto results = Run({Real(CleanCase("a")), Real(CleanCase("b"))});
  ASSERT_THAT(NamesOf(results), ElementsAre("a"));
  EXPECT_EQ(results[0].verdict.kind, VerdictKind::kFail);
}

TEST_F(SuiteTest, ReportsTheBeginOfEachCase) {
  std::vector<std::string> begun;
  options_.begins = [&](const SuiteItem& item) {
    EXPECT_EQ(begun.size(), done_.size());
    begun.push_back(item.one.name);
  };
  Run(Items({CleanCase("a"), CleanCase("b")}));
  EXPECT_THAT(begun, ElementsAre("a", "b"));
}

// An explanation runs the case once more.
TEST_F(SuiteTest, ExplainsTheFirstFailuresOnly) {
  options_.explain_most = 1;
  options_.replay = [](const SuiteItem& item) {
    return "gauntlet replay " + item.one.name;
  };
  options_.explain = [](const Case& one, const Record&, References&) {
    return Explanation{.cause = "cause of " + one.name};
  };
  const auto results =
      Run(Items({CleanCase("a"), WrongCase("b"), WrongCase("d")}));
  EXPECT_EQ(results[0].cause, "");
  EXPECT_EQ(results[1].cause, "cause of b");
  EXPECT_EQ(results[2].cause,
            "the launcher exited with code 0, as the training was completed")
      << "the record alone shows this";
  EXPECT_EQ(results[2].replay, "gauntlet replay d");
  EXPECT_THAT(results[1].summary.next, Not(HasSubstr("gauntlet replay")));
  EXPECT_THAT(
      results[2].summary.next,
      HasSubstr("gauntlet replay d finds the first value that differs"));
}

TEST_F(SuiteTest, CasesWithoutADifferenceDoNotCountAsExplained) {
  options_.explain_most = 1;
  options_.needs_search = [](const Record& record) {
    return record.case_name != "a";
  };
  options_.explain = [](const Case& one, const Record&, References&) {
    return Explanation{.cause = "cause of " + one.name};
  };
  const auto results = Run(Items({WrongCase("a"), WrongCase("b")}));
  EXPECT_NE(results[0].cause, "cause of a");
  EXPECT_EQ(results[1].cause, "cause of b");
}

}  // namespace
}  // namespace gauntlet
