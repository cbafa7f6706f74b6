#include "harness/cli/record/show_command.h"

#include <filesystem>
#include <sstream>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/command_line.h"
#include "harness/cli/run/run_command.h"
#include "harness/record/record_file.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kCrash[] =
    "faults: [{id: crash, at: {worker: 0, point: step.end, step: 3}, "
    "do: crash}]\n"
    "expect: {outcome: recovers}\n";

class ShowCommandTest : public testing::Test {
 protected:
  // Leaves the records of simulated runs of these cases.
  void Run(const std::vector<std::string>& names) {
    std::vector<std::string> files;
    for (const std::string& name : names) {
      files.push_back(scratch_ / (name + ".yaml"));
      ASSERT_TRUE(
          WriteTextFile(files.back(), SmallScenario(kCrash, name)).ok());
    }
    std::ostringstream out;
    Console console{out, out, Plain(), Plain()};
    RunScenarios({.paths = files,
                  .world = WorldChoice::kSimulated,
                  .runs_directory = runs()},
                 console);
  }
  static TerminalStyle Plain() { return TerminalStyle(ColorChoice::kOff, {}); }
  std::string runs() const { return scratch_ / "runs"; }
  std::string folder() const { return runs() + "/latest/a.sim"; }

  // Returns the exit code; messages go to err_, the table to out_.
  int Show(std::vector<std::string> words) {
    words.insert(words.begin(), {"show", "--runs", runs()});
    const Result<CommandLine> line = ParseCommandLine(words);
    EXPECT_TRUE(line.ok()) << line.status().ToString();
    out_.str("");
    err_.str("");
    return RunShow(std::get<ShowCommand>(line->command), console_);
  }

  ScratchDirectory scratch_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, Plain(), Plain()};
};

TEST_F(ShowCommandTest, ShowsACase_ByNameFolderAndFile) {
  Run({"a", "b"});
  for (const std::string& what :
       {std::string("latest/a"), std::string("latest/a.sim"), folder(),
        folder() + "/record.jsonl"}) {
    EXPECT_EQ(Show({what}), 0) << err_.str();
    EXPECT_THAT(out_.str(),
                AllOf(HasSubstr("a (sim): "),
                      HasSubstr("crash fires: crash worker 0 at step.end"),
                      HasSubstr("incarnation 2 starts"),
                      HasSubstr("launcher exits with 0, 1 restart")));
  }
}

TEST_F(ShowCommandTest, RunOfOneCaseNeedsNoName_OneOfSeveralDoes) {
  Run({"a"});
  EXPECT_EQ(Show({"latest"}), 0) << err_.str();
  Run({"a", "b"});
  EXPECT_EQ(Show({"latest"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected RUN/CASE, as it has 2 records; "
                                    "name one, such as latest/a.sim"));
  EXPECT_EQ(Show({runs() + "/latest"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected the folder of one case"));
}

// The real record is the simulated one with its world changed.
TEST_F(ShowCommandTest, OneCaseInBothWorldsNeedsNoName) {
  Run({"a"});
  const std::string real = runs() + "/latest/a.real";
  std::filesystem::copy(runs() + "/latest/a.sim", real,
                        std::filesystem::copy_options::recursive);
  const std::string file = real + "/record.jsonl";
  Record record = *ReadRecord(ReadTextFile(file), file).value;
  record.world = "real";
  ASSERT_TRUE(WriteTextFile(file, RecordToJsonLines(record)).ok());
  EXPECT_EQ(Show({"latest"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("a (sim): "));
  EXPECT_EQ(Show({"latest", "--world", "real"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("a (real): "));
}

TEST_F(ShowCommandTest, ProposesACaseThatFailed_ThenOneThatRan) {
  Run({"a", "b", "c"});
  const std::string file = runs() + "/latest/result.json";
  RunResult result = *ReadResult(ReadTextFile(file), file).value;
  result.cases.at(0).verdict.kind = VerdictKind::kSkip;
  ASSERT_TRUE(WriteTextFile(file, ResultToJson(result)).ok());
  EXPECT_EQ(Show({"latest"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("name one, such as latest/b.sim\n"));
  result.cases.at(2).verdict.kind = VerdictKind::kFail;
  ASSERT_TRUE(WriteTextFile(file, ResultToJson(result)).ok());
  EXPECT_EQ(Show({"latest"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("name one, such as latest/c.sim\n"));
  EXPECT_EQ(Show({runs() + "/latest"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("/latest/c.sim\n"));
}

TEST_F(ShowCommandTest, WritesAChromeTraceInPlaceOfTheTable) {
  Run({"a"});
  const std::string file = scratch_ / "timeline.json.gz";
  EXPECT_EQ(Show({"latest/a", "--trace", file}), 0) << err_.str();
  EXPECT_THAT(out_.str(), testing::MatchesRegex(file + "  [0-9]+ KiB\n"));
  EXPECT_TRUE(ReadTextFile(file).starts_with("\x1f\x8b"));
  EXPECT_EQ(Show({"latest/a", "--trace", scratch_ / "none/t.gz"}), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("--trace: " + (scratch_ / "none/t.gz") +
                        ": there is no folder " + (scratch_ / "none")));
}

TEST_F(ShowCommandTest, OptionsWithoutEffectOnATraceAreRefused) {
  const std::vector<std::string> options[] = {
      {"--all"},     {"--json"},        {"--from", "3"},
      {"--to", "9"}, {"--worker", "0"}, {"--width", "80"}};
  for (const std::vector<std::string>& option : options) {
    std::vector<std::string> words = {"show", "latest/a", "--trace", "t.json"};
    words.insert(words.end(), option.begin(), option.end());
    EXPECT_THAT(ParseCommandLine(words).status().message(),
                HasSubstr(option[0] + " cannot be combined with --trace"));
  }
}

TEST_F(ShowCommandTest, TraceGoesToNoPipe) {
  Run({"a"});
  const std::string pipe = scratch_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(Show({"latest/a", "--trace", pipe}), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("--trace: " + pipe + ": expected a regular file"));
}

TEST_F(ShowCommandTest, ShowsTheRequestedWorkerOrLauncher) {
  Run({"a"});
  EXPECT_EQ(Show({"latest/a", "--worker", "launcher"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("worker 0 exited with code 70"),
                                Not(HasSubstr("crash fires"))));
  EXPECT_EQ(Show({"latest/a", "--worker", "0"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("crash fires"),
                                Not(HasSubstr("worker 0 exited"))));
}

TEST_F(ShowCommandTest, WorldMustBeThatOfTheRecord) {
  Run({"a"});
  for (const std::string& what :
       {std::string("latest/a"), folder(), folder() + "/record.jsonl"}) {
    EXPECT_EQ(Show({what, "--world", "sim"}), 0) << err_.str();
    EXPECT_EQ(Show({what, "--world", "real"}), 2) << what;
    EXPECT_THAT(err_.str(),
                AllOf(HasSubstr("--world real: expected a record of that "
                                "world, found only "),
                      HasSubstr("/a.sim/record.jsonl, which is of world sim")));
  }
}

TEST_F(ShowCommandTest, CrashTestHasNoEvents) {
  Run({"a"});
  std::filesystem::create_directories(runs() +
                                      "/latest/torn-save.real/crash-test");
  for (const char* what : {"latest/torn-save", "latest/torn-save.real",
                           "latest/torn", "latest/torn-save/"}) {
    EXPECT_EQ(Show({what}), 2) << what;
    EXPECT_THAT(err_.str(), HasSubstr("a crash test of a program has no record "
                                      "and no events; its results are in "))
        << what;
  }
}

TEST_F(ShowCommandTest, NamesTheMissingFile) {
  Run({"a"});
  EXPECT_EQ(Show({"latest/nope"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("case 'nope': there is none; there is a"));
  EXPECT_EQ(Show({"./nope.jsonl"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("there is no such record"));
  EXPECT_EQ(Show({scratch_.path()}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected a record.jsonl in it"));
}

TEST_F(ShowCommandTest, RefusesOtherFiles) {
  const std::string file = scratch_ / "record.jsonl";
  ASSERT_TRUE(WriteTextFile(file, "no json\n").ok());
  EXPECT_EQ(Show({file}), 2);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("gauntlet show: " + file + ":1:"),
                                HasSubstr("expected one JSON object")));
  const std::string scenario = scratch_ / "s.yaml";
  ASSERT_TRUE(WriteTextFile(scenario, "name: s\n").ok());
  EXPECT_EQ(Show({scenario}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("found a scenario: run it first (gauntlet "
                                    "run " +
                                    scenario +
                                    "), then name its "
                                    "case, such as latest/CASE\n"));
}

TEST_F(ShowCommandTest, FileThatIsNoRecord_IsRefusedWithACaseToName) {
  Run({"a"});
  const std::string run = runs() + "/latest";
  const std::string report = run + "/report.html";
  ASSERT_TRUE(WriteTextFile(report, "<html>\n").ok());
  for (const std::string& file : {run + "/result.json", report}) {
    EXPECT_EQ(Show({file}), 2);
    EXPECT_EQ(err_.str(), "gauntlet show: " + file +
                              ": expected a record.jsonl or a case's folder, "
                              "found another file; name a case, such as " +
                              run + "/a.sim\n");
  }
  const std::string scenario = folder() + "/scenario";
  ASSERT_TRUE(WriteTextFile(scenario, "name: a\n").ok());
  EXPECT_EQ(Show({scenario}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("such as " + folder() + "/record.jsonl\n"));
  const std::string other = scratch_ / "passwd";
  ASSERT_TRUE(WriteTextFile(other, "").ok());
  EXPECT_EQ(Show({other}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("such as latest/CASE\n"));
}

TEST_F(ShowCommandTest, TornRecordOfAnotherName_IsARecord) {
  Run({"a"});
  const std::string text = ReadTextFile(folder() + "/record.jsonl");
  const std::string copy = scratch_ / "copy";
  ASSERT_TRUE(WriteTextFile(copy, text).ok());
  EXPECT_EQ(Show({copy}), 0) << err_.str();
  ASSERT_TRUE(WriteTextFile(copy, text.substr(0, text.size() / 2)).ok());
  EXPECT_EQ(Show({copy}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("a record that is cut short at line "));
}

TEST_F(ShowCommandTest, RefusesAMissingWorker_AndAnEmptyRange) {
  Run({"a"});
  EXPECT_EQ(Show({"latest/a", "--worker", "7"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--worker: expected one that has events in "
                                    "this record (launcher, worker 0, worker "
                                    "1), found worker 7\n"));
  EXPECT_EQ(Show({"latest/a", "--from", "23h"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("nothing selected"));
}

TEST_F(ShowCommandTest, JsonIsOneObject) {
  Run({"a"});
  EXPECT_EQ(Show({"latest/a", "--json", "--all"}), 0);
  EXPECT_FALSE(nlohmann::json::parse(out_.str())["rows"].empty());
}

TEST(TableStyleTest, DrawsLinesOnlyInAUtf8TerminalWithColour) {
  const auto art = [](ColorChoice choice, const TerminalFacts& facts) {
    return TableStyleOf(TerminalStyle(choice, facts)).art;
  };
  const TerminalFacts terminal = {
      .is_terminal = true, .utf8 = true, .columns = 132};
  EXPECT_EQ(art(ColorChoice::kAuto, terminal), LineArt::kUnicode);
  EXPECT_EQ(TableStyleOf(TerminalStyle(ColorChoice::kAuto, terminal)).width,
            132);
  TerminalFacts facts = terminal;
  facts.no_color = true;
  EXPECT_EQ(art(ColorChoice::kAuto, facts), LineArt::kAscii);
  facts = terminal;
  facts.utf8 = false;
  EXPECT_EQ(art(ColorChoice::kAuto, facts), LineArt::kAscii);
  facts = terminal;
  facts.is_terminal = false;
  EXPECT_EQ(art(ColorChoice::kAuto, facts), LineArt::kAscii);
}

TEST(TableStyleTest, CutsLongTextsOnlyOnATerminal) {
  const auto most_lines = [](const TerminalFacts& facts) {
    return TableStyleOf(TerminalStyle(ColorChoice::kAuto, facts)).most_lines;
  };
  EXPECT_GT(most_lines({.is_terminal = true, .columns = 150}), 0U);
  EXPECT_EQ(most_lines({.columns = 150}), 0U);
}

// Returns the error for these options of `gauntlet show`.
std::string Refused(std::vector<std::string> words) {
  words.insert(words.begin(), "show");
  const Result<CommandLine> line = ParseCommandLine(words);
  EXPECT_FALSE(line.ok());
  return line.status().message();
}

TEST(ShowFlagsTest, RefusesMeaninglessFlags) {
  EXPECT_THAT(Refused({}), HasSubstr("WHAT: expected RUN/CASE"));
  EXPECT_THAT(Refused({""}), HasSubstr("WHAT: expected RUN/CASE"));
  EXPECT_THAT(Refused({"a", "--worker", "x"}),
              HasSubstr("--worker: expected a worker's number, or launcher, "
                        "found 'x'"));
  EXPECT_THAT(Refused({"a", "--from", "soon"}),
              HasSubstr("--from: expected a step such as 12 or a time such as "
                        "1.5s, found 'soon'"));
  EXPECT_THAT(Refused({"a", "--from", "7", "--to", "5"}),
              HasSubstr("--to: expected 7 or later, as --from, found 5"));
}

TEST(ShowFlagsTest, BoundsAreStepsOrTimes) {
  const Result<CommandLine> line = ParseCommandLine(std::vector<std::string>{
      "show", "a", "--from", "12", "--to", "1.5s", "--worker", "launcher"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  const auto& command = std::get<ShowCommand>(line->command);
  EXPECT_EQ(command.filter.from->value, 12u);
  EXPECT_EQ(command.filter.from->unit, TimelineBound::Unit::kStep);
  EXPECT_EQ(command.filter.to->value, 1'500'000'000u);
  EXPECT_THAT(command.filter.workers, testing::ElementsAre(kLauncherColumn));
}

}  // namespace
}  // namespace gauntlet
