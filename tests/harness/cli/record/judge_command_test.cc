#include "harness/cli/record/judge_command.h"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/run/run_command.h"
#include "harness/record/record_file.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kLosesTheRngKey = R"(planted_bugs: lose-rng-key
faults:
  - id: crash
    at: {worker: 1, step: 6, point: step.begin}
    do: crash
expect: {outcome: recovers}
)";

class JudgeCommandTest : public testing::Test {
 protected:
  // Runs a scenario that completes, and leaves its record. The scenario expects
  // `outcome`.
  void RunOne(const std::string& outcome) {
    Run("expect: {outcome: " + outcome + "}\n");
  }
  // Runs the scenario `a`, whose text ends with `lines`.
  void Run(const std::string& lines) {
    const std::string file = scratch_ / "a.yaml";
    ASSERT_TRUE(WriteTextFile(file, SmallScenario(lines, "a")).ok());
    std::ostringstream out;
    Console console{out, out, Plain(), Plain()};
    RunScenarios({.paths = {file},
                  .world = WorldChoice::kSimulated,
                  .runs_directory = runs()},
                 console);
  }
  // Adds a crash test of another program to the last run.
  void AddCrashTest(const std::string& name) {
    fs::create_directories(runs() + "/latest/" + name + ".real/crash-test");
  }
  static TerminalStyle Plain() { return TerminalStyle(ColorChoice::kOff, {}); }
  std::string runs() const { return scratch_ / "runs"; }
  std::string record() const { return runs() + "/latest/a.sim/record.jsonl"; }
  int Judge(const std::string& path,
            OutputFormat output = OutputFormat::kText) {
    out_.str("");
    err_.str("");
    return RunJudge(
        {.paths = {path}, .runs_directory = runs(), .output = output},
        console_);
  }

  ScratchDirectory scratch_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, Plain(), Plain()};
};

TEST_F(JudgeCommandTest, SkipsALinkToItself) {
  RunOne("completes");
  fs::create_symlink("loop", runs() + "/loop");
  EXPECT_EQ(Judge(runs()), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 case in "));
}

TEST_F(JudgeCommandTest, FolderWithOnlyALinkToItself_HasNoRecord) {
  fs::create_directory(scratch_ / "links");
  fs::create_symlink("loop", scratch_ / "links/loop");
  EXPECT_EQ(Judge(scratch_ / "links"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("in or below it, found none"));
}

TEST_F(JudgeCommandTest, JudgesARunACaseAndARecordAlike) {
  RunOne("completes");
  for (const std::string& path :
       {runs() + "/latest/", runs() + "/latest/a.sim", record()}) {
    EXPECT_EQ(Judge(path), 0) << err_.str();
    EXPECT_THAT(out_.str(), AllOf(HasSubstr("PASS         sim  a "),
                                  HasSubstr("1 case in ")));
  }
}

TEST_F(JudgeCommandTest, TakesRunsAndCasesByName) {
  RunOne("completes");
  for (const std::string& what : std::vector<std::string>{
           "latest", "latest/a", "latest/a.sim", runs() + "/latest/a"}) {
    EXPECT_EQ(Judge(what), 0) << err_.str();
    EXPECT_THAT(out_.str(), HasSubstr("PASS         sim  a "));
  }
  EXPECT_EQ(Judge("latest/b"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("case 'b': there is none"));
  EXPECT_EQ(Judge("none"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("run 'none': there is none"));
}

TEST_F(JudgeCommandTest, CaseWithoutRecord_IsNotRun_IfItsRunIsUnfinished) {
  RunOne("completes");
  const fs::path run = fs::canonical(runs() + "/latest");
  fs::create_directory(run / "b.real");
  EXPECT_EQ(Judge(run), 2) << "the run ended: a record is missing";
  EXPECT_THAT(err_.str(), HasSubstr("b.real: expected the record.jsonl"));
  fs::remove(run / "result.json");
  EXPECT_EQ(Judge(run), 2) << "the result was deleted";
  ASSERT_TRUE(WriteTextFile(run / "unfinished.json", "").ok());
  EXPECT_EQ(Judge(run), 3);
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("PASS         sim  a "),
                                HasSubstr("NOT RUN      real b "),
                                HasSubstr("the run ended during this case")));
  EXPECT_EQ(Judge(run / "b.real"), 3) << "no other case";
}

// A crash test of another program leaves no record.
TEST_F(JudgeCommandTest, SkipsCrashTests_WithANote) {
  RunOne("completes");
  const fs::path run = fs::canonical(runs() + "/latest");
  const std::string folder = run / "t.real";
  fs::create_directories(folder + "/crash-test");
  EXPECT_EQ(Judge("latest"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 case in "));
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("gauntlet judge: note: "),
                                HasSubstr("/t.real/crash-test\n")));
  for (const std::string& what : {folder, std::string("latest/t")}) {
    EXPECT_EQ(Judge(what), 4) << "nothing else is selected";
    EXPECT_THAT(err_.str(),
                HasSubstr("skipped, as a crash test of a program "
                          "has no record and no events; its results "
                          "are in "));
    EXPECT_EQ(out_.str(), "");
  }
}

TEST_F(JudgeCommandTest, JsonHasCrashTestsAsSkippedCases) {
  RunOne("completes");
  const std::string folder = fs::canonical(runs() + "/latest") / "t.real";
  fs::create_directories(folder + "/crash-test");
  const auto cases = [this] {
    return ReadResult(out_.str(), "out").value->cases;
  };
  EXPECT_EQ(Judge(folder, OutputFormat::kJson), 4);
  ASSERT_EQ(cases().size(), 1U);
  const CaseResult test = cases()[0];
  EXPECT_EQ(test.name, "t");
  EXPECT_EQ(test.world, "real");
  EXPECT_EQ(test.verdict.kind, VerdictKind::kSkip);
  EXPECT_THAT(test.verdict.reason, testing::EndsWith("its results are in " +
                                                     folder + "/crash-test"));
  EXPECT_EQ(Judge("latest", OutputFormat::kJson), 0);
  ASSERT_EQ(cases().size(), 2U);
  EXPECT_EQ(cases()[0].verdict.kind, VerdictKind::kPass);
  EXPECT_EQ(cases()[1].verdict.kind, VerdictKind::kSkip);
}

TEST_F(JudgeCommandTest, JsonHasEachCrashTestOnce) {
  RunOne("completes");
  AddCrashTest("t");
  EXPECT_EQ(RunJudge({.paths = {"latest", "latest/t"},
                      .runs_directory = runs(),
                      .output = OutputFormat::kJson},
                     console_),
            0)
      << err_.str();
  EXPECT_EQ(ReadResult(out_.str(), "out").value->cases.size(), 2U);
}

TEST_F(JudgeCommandTest, PicksANameAmongCasesAndCrashTests) {
  RunOne("completes");
  AddCrashTest("a-test");
  EXPECT_EQ(Judge("latest/a"), 0) << "an exact name goes first";
  EXPECT_THAT(err_.str(), Not(HasSubstr("a-test")));
  EXPECT_EQ(Judge("latest/a-"), 4) << err_.str();
  fs::rename(runs() + "/latest/a.sim", runs() + "/latest/a-case.sim");
  EXPECT_EQ(Judge("latest/a"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("case 'a': more than one begins so: "
                                    "a-case, a-test"));
  AddCrashTest("a");
  EXPECT_EQ(Judge("latest/a"), 4) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("/a.real/crash-test\n"));
}

TEST_F(JudgeCommandTest, SlashesAtTheEndHaveNoMeaning) {
  RunOne("completes");
  AddCrashTest("t");
  const std::string run = runs() + "/latest";
  for (const std::string& what :
       std::vector<std::string>{"latest/", "latest/a/", "latest/a.sim//",
                                run + "/a.sim/", run + "/a/"}) {
    EXPECT_EQ(Judge(what), 0) << what << err_.str();
  }
  for (const std::string& what :
       std::vector<std::string>{"latest/t/", run + "/t.real/"}) {
    EXPECT_EQ(Judge(what), 4) << what << err_.str();
    EXPECT_THAT(err_.str(), HasSubstr("/t.real/crash-test\n"));
  }
}

TEST_F(JudgeCommandTest, SimulatedCaseHasNoTime) {
  RunOne("completes");
  EXPECT_EQ(Judge("latest"), 0) << err_.str();
  EXPECT_THAT(out_.str(), Not(HasSubstr("0ms")));
}

TEST_F(JudgeCommandTest, PrintsTheFindingsOfAFailedCase) {
  RunOne("recovers");
  EXPECT_EQ(Judge(record()), 1);
  EXPECT_THAT(out_.str(), HasSubstr("outcome: expected recovers"));
  EXPECT_EQ(Judge(record(), OutputFormat::kJson), 1);
  EXPECT_THAT(out_.str(), HasSubstr("\"verdict\": \"FAIL\""));
}

TEST_F(JudgeCommandTest, ExplainsAFailureAsTheRunDid) {
  Run(kLosesTheRngKey);
  const std::string file = runs() + "/latest/result.json";
  const CaseResult ran = ReadResult(ReadTextFile(file), file).value->cases[0];
  ASSERT_THAT(ran.cause, HasSubstr("the state loaded at step 4 differs: rng"));
  EXPECT_EQ(Judge(record(), OutputFormat::kJson), 1);
  const CaseResult judged = ReadResult(out_.str(), "judged").value->cases[0];
  EXPECT_EQ(judged.cause, ran.cause);
  EXPECT_EQ(judged.differences, ran.differences);
  EXPECT_EQ(judged.consequences, ran.consequences);
  EXPECT_EQ(judged.summary, ran.summary);
  EXPECT_EQ(Judge("latest"), 1);
  EXPECT_THAT(out_.str(), HasSubstr("\n  cause     " + ran.cause + "\n"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(JudgeCommandTest, JudgesAFailedCaseThatCannotBeRunAgain) {
  Run(kLosesTheRngKey);
  const std::string scenario = runs() + "/latest/a.sim/scenario.yaml";
  std::string text = ReadTextFile(scenario);
  text.replace(text.find("step: 6"), 7, "step: 7");
  ASSERT_TRUE(WriteTextFile(scenario, text).ok());
  EXPECT_EQ(Judge(record()), 1);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("broken    trajectory"),
                    HasSubstr("cause     with the planted bug lose-rng-key, "),
                    Not(HasSubstr("the state loaded at step"))));
  EXPECT_THAT(err_.str(),
              HasSubstr("note: a (sim): the values that differ are not known, "
                        "as the case cannot be run again: " +
                        runs()));
}

TEST_F(JudgeCommandTest, RefusesARecordThatNamesNoInvariant) {
  RunOne("completes");
  std::string text = ReadTextFile(record());
  const std::string_view empty = "\"invariants\":[]";
  const size_t at = text.find(empty);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, empty.size(), "\"invariants\":[\"luck\"]");
  ASSERT_TRUE(WriteTextFile(record(), text).ok());
  EXPECT_EQ(Judge(record()), 2);
  EXPECT_EQ(err_.str(), "gauntlet judge: " + record() +
                            ":1: expect.invariants: expected names of "
                            "invariants, found \"luck\"; run the case again\n");
}

TEST_F(JudgeCommandTest, RefusesATornRecordByName) {
  RunOne("completes");
  std::string text = ReadTextFile(record());
  text.resize(text.size() / 2);
  ASSERT_TRUE(WriteTextFile(record(), text).ok());
  EXPECT_EQ(Judge(record()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("gauntlet judge: " + record() + ":"));
}

TEST_F(JudgeCommandTest, RefusesARecordOfAnotherVersion) {
  RunOne("completes");
  std::string text = ReadTextFile(record());
  const std::string version = "gauntlet.record/v3";
  text.replace(text.find(version), version.size(), "gauntlet.record/v1");
  ASSERT_TRUE(WriteTextFile(record(), text).ok());
  EXPECT_EQ(Judge(record()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected gauntlet.record/v3, found "
                                    "\"gauntlet.record/v1\""));
}

TEST_F(JudgeCommandTest, NamesAFolderWithoutARecord) {
  EXPECT_EQ(Judge(scratch_.path()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected a record.jsonl in or below it"));
  EXPECT_EQ(Judge("no-such-file"), 2);
}

TEST_F(JudgeCommandTest, FileThatIsNoRecord_IsRefusedWithACaseToName) {
  RunOne("completes");
  const std::string run = runs() + "/latest";
  EXPECT_EQ(Judge(run + "/result.json"), 2);
  EXPECT_EQ(err_.str(),
            "gauntlet judge: " + run +
                "/result.json: expected a record.jsonl or a case's "
                "folder, found another file; name a case, such as " +
                run + "/a.sim\n");
}

TEST_F(JudgeCommandTest, RefusesARecordThatWasChanged) {
  RunOne("recovers");
  std::string text = ReadTextFile(record());
  const std::string key = "\"outcome\":\"recovers\"";
  text.replace(text.find(key), key.size(), "\"outcomf\":\"recovers\"");
  ASSERT_TRUE(WriteTextFile(record(), text).ok());
  EXPECT_EQ(Judge(record()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("was changed after it was written"));
}

TEST_F(JudgeCommandTest, PrintsNoSummary_IfNoRecordIsReadable) {
  RunOne("completes");
  const std::string text = ReadTextFile(record());
  ASSERT_TRUE(WriteTextFile(record(), text.substr(0, text.size() / 2)).ok());
  EXPECT_EQ(Judge(record()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("cut short at line "));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(JudgeCommandTest, NamesACaseWithoutItsRecord) {
  RunOne("completes");
  fs::create_directories(runs() + "/latest/b.real");
  EXPECT_EQ(Judge(runs() + "/latest/"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("b.real: expected the record.jsonl of the "
                                    "case, found none; run the case again\n"));
  EXPECT_THAT(out_.str(), HasSubstr("PASS         sim  a "));
}

TEST_F(JudgeCommandTest, JudgesEachRecordOnce) {
  RunOne("completes");
  EXPECT_EQ(RunJudge({.paths = {runs() + "/latest", runs() + "/latest/a.sim"}},
                     console_),
            0)
      << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 case in "));
}

TEST_F(JudgeCommandTest, ListsTheSimulatedRunOfACaseBeforeTheReal) {
  RunOne("completes");
  Parsed<Record> real = ReadRecord(ReadTextFile(record()), record());
  ASSERT_TRUE(real.ok()) << real.error;
  real.value->world = "real";
  const fs::path folder = runs() + "/latest/a.real";
  fs::create_directories(folder);
  ASSERT_TRUE(
      WriteTextFile(folder / "record.jsonl", RecordToJsonLines(*real.value))
          .ok());
  for (const char* what : {"latest", "latest/a"}) {
    Judge(what);
    const size_t simulated = out_.str().find(" sim  a ");
    ASSERT_NE(simulated, std::string::npos) << err_.str();
    EXPECT_NE(out_.str().find(" real a ", simulated), std::string::npos)
        << out_.str();
  }
}

TEST_F(JudgeCommandTest, KeepsTheOrderOfThePaths) {
  RunOne("recovers");
  const std::string first = fs::canonical(runs() + "/latest").string();
  RunOne("completes");
  const std::string second = fs::canonical(runs() + "/latest").string();
  EXPECT_EQ(RunJudge({.paths = {second, first}}, console_), 1) << err_.str();
  EXPECT_LT(out_.str().find("PASS  "), out_.str().find("FAIL  "));
}

TEST_F(JudgeCommandTest, BadRecord_DoesNotStopTheOthers) {
  RunOne("completes");
  RunOne("recovers");
  const std::string old_record = runs() + "/old/b.sim/record.jsonl";
  fs::create_directories(fs::path(old_record).parent_path());
  ASSERT_TRUE(WriteTextFile(old_record, "{}\n").ok());
  EXPECT_EQ(Judge(runs()), 2);
  EXPECT_THAT(err_.str(), HasSubstr(old_record));
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("PASS         sim  a "),
                                HasSubstr("FAIL         sim  a ")));
}

TEST_F(JudgeCommandTest, ErrorsFollowTheVerdicts) {
  RunOne("recovers");
  const std::string torn = scratch_ / "torn.jsonl";
  ASSERT_TRUE(WriteTextFile(torn, "{}\n").ok());
  std::ostringstream both;
  Console console{both, both, Plain(), Plain()};
  EXPECT_EQ(
      RunJudge({.paths = {torn, "none", record()}, .runs_directory = runs()},
               console),
      2);
  const size_t summary = both.str().find("1 case in ");
  ASSERT_NE(summary, std::string::npos) << both.str();
  EXPECT_THAT(both.str(), HasSubstr("FAIL         sim  a "));
  for (const std::string& error : {torn + ":", std::string("run 'none': ")}) {
    EXPECT_NE(both.str().find("gauntlet judge: " + error, summary),
              std::string::npos)
        << both.str();
  }
}

}  // namespace
}  // namespace gauntlet
