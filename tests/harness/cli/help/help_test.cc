#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cli/exit_code.h"
#include "engine/worker_exit_code.h"
#include "engine/world/fault_point.h"
#include "harness/cli/command_line.h"
#include "harness/cli/help/catalog.h"
#include "harness/cli/help/help_topics.h"
#include "harness/cli/help_command.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/format/keys.h"
#include "harness/scenario/requirements.h"
#include "harness/scenario/scenario.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct HelpOutput {
  int exit_code = 0;
  std::string out;
  std::string err;
};

HelpOutput Help(const std::string& topic) {
  const TerminalStyle style(ColorChoice::kOff, TerminalFacts());
  std::ostringstream out;
  std::ostringstream err;
  Console console{out, err, style, style};
  const int exit_code = RunHelp({.topic = topic}, console);
  return {exit_code, out.str(), err.str()};
}

// Returns the words, separated by single spaces.
std::string OneLine(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += word + " ";
  return line;
}

TEST(HelpTest, PointsNamesEveryPoint) {
  const HelpOutput output = Help("points");
  EXPECT_EQ(output.exit_code, 0);
  for (const PointInfo& info : AllPoints()) {
    EXPECT_THAT(output.out, HasSubstr(std::string(info.name) + " "));
  }
}

// Returns the texts of the mutation tests that switch the bug on.
std::vector<std::string> MutationTestsOf(const PlantedBugInfo& bug) {
  std::vector<std::string> texts;
  for (const auto& file :
       std::filesystem::directory_iterator(GAUNTLET_SCENARIOS "/canary")) {
    std::string text = ReadTextFile(file.path());
    const std::string key = fmt::format("\nplanted_bugs: {}\n", bug.name);
    if (text.find(key) != text.npos) texts.push_back(std::move(text));
  }
  return texts;
}

// Returns true iff the scenario has the setting: "do: crash", "simulation
// only", "without a fault".
bool HasSetting(const std::string& text, const std::string& setting) {
  if (setting == "without a fault") return text.find("faults:") == text.npos;
  if (setting == "simulation only") {
    const Case one = LoadScenarios(text, "bug.yaml").cases.at(0);
    return !WhyNotHere(one, CapabilitiesOf(WorldKind::kReal)).empty();
  }
  return text.find(setting) != text.npos;
}

TEST(HelpTest, PointInTheTailOfASave_ExplainsItsStep) {
  for (const char* point :
       {"ckpt.state.write", "ckpt.state.fsync", "ckpt.state.rename",
        "ckpt.retire.rename", "ckpt.retire.renamed", "ckpt.retire.remove",
        "ckpt.end"}) {
    EXPECT_THAT(Help(point).out,
                HasSubstr("`step` in `at` is the step that training has "
                          "reached, not that of the\ncheckpoint."))
        << point;
  }
  for (const char* point : {"ckpt.begin", "ckpt.committed", "step.begin"}) {
    EXPECT_THAT(Help(point).out, Not(HasSubstr("`step`"))) << point;
  }
}

TEST(HelpTest, PlantedBugs_NameTheSettingsOfAMutationTest) {
  const std::string help = OneLine(Help("planted-bugs").out);
  for (const PlantedBugInfo& bug : AllPlantedBugs()) {
    EXPECT_THAT(help, HasSubstr(fmt::format("[shows with {}]", bug.shows_with)))
        << bug.name;
    std::vector<std::string> settings = {"preset: tiny"};
    for (std::string_view rest = bug.shows_with; !rest.empty();) {
      const size_t end = std::min(rest.find(", "), rest.size());
      settings.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    const auto has_all = [&settings](const std::string& text) {
      return std::ranges::all_of(settings, [&text](const std::string& one) {
        return HasSetting(text, one);
      });
    };
    EXPECT_TRUE(std::ranges::any_of(MutationTestsOf(bug), has_all)) << bug.name;
  }
}

TEST(HelpTest, PlantedBugs_NameTheirConditionAndACheckThatCatchesThem) {
  const std::string help = OneLine(Help("planted-bugs").out);
  for (const PlantedBugInfo& bug : AllPlantedBugs()) {
    EXPECT_THAT(help, HasSubstr(fmt::format("; shows when {}", bug.shows_when)))
        << bug.name;
    const std::string check = fmt::format("invariants: [{}]", bug.caught_by);
    EXPECT_TRUE(std::ranges::any_of(MutationTestsOf(bug),
                                    [&check](const std::string& text) {
                                      return text.find(check) != text.npos;
                                    }))
        << bug.name;
  }
}

TEST(HelpTest, FaultsNameParametersThatAScenarioMustGive) {
  const std::string faults = RenderEntries(EntriesOf(Catalog::kFaults));
  EXPECT_THAT(
      faults,
      testing::AllOf(testing::HasSubstr("(with: grace or profile (required), "
                                        "by)\n"),
                     testing::HasSubstr("(with: latency (required))\n"),
                     testing::HasSubstr("(with: blocks, keep, then)\n")));
}

TEST(HelpTest, SubcommandHasAHelpPageOfItsOwn) {
  const HelpOutput output = Help("ckpt ls");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_THAT(output.out, HasSubstr("Usage: gauntlet ckpt ls"));
  EXPECT_EQ(Help("ckpt sl").exit_code, 2);
  EXPECT_EQ(Help("train ls").exit_code, 2);
}

TEST(HelpTest, ExitCodesNamesEveryCode) {
  const std::string output = OneLine(Help("exit-codes").out);
  for (const ExitCodeInfo& info : AllExitCodes()) {
    EXPECT_THAT(output, HasSubstr(info.meaning));
  }
  EXPECT_THAT(output, HasSubstr(" 143 train: stopped"));
  EXPECT_THAT(output, HasSubstr(" 137 killed with signal 9"));
}

TEST(HelpTest, ExitCodesExplainAProgramThatFailsWithoutACrash) {
  EXPECT_THAT(OneLine(Help("exit-codes").out),
              HasSubstr("crash-test: its program fails without a crash (in a "
                        "scenario that is inconclusive, 3"));
}

TEST(HelpTest, ExitCodes_IncludeThoseOfWorkers) {
  const std::string all = OneLine(Help("exit-codes").out);
  const size_t begin = all.find("Exit codes of workers");
  ASSERT_NE(begin, all.npos);
  const std::string workers = all.substr(begin);
  for (const WorkerExitInfo& info : kWorkerExits) {
    EXPECT_THAT(workers,
                HasSubstr(fmt::format(" {} {}", static_cast<int>(info.exit),
                                      info.meaning)));
  }
  EXPECT_THAT(workers, HasSubstr("exits with 70, or with.exit_code. A worker "
                                 "that is killed exits with 137."));
}

// tests/acceptance/signals.py tests that `train` exits with these codes.
TEST(HelpTest, ExitCodesOfTrainDifferForTheFirstAndTheSecondCtrlC) {
  const std::string codes = OneLine(Help("exit-codes").out);
  EXPECT_THAT(codes,
              HasSubstr("a second Ctrl-C to train, which ends it at once "
                        "(after the first one: 143)"));
  EXPECT_THAT(codes,
              HasSubstr("stopped by a preemption notice, such as SIGTERM "
                        "or the first Ctrl-C"));
  const std::string train = OneLine(Help("train").out);
  EXPECT_THAT(train,
              HasSubstr("Ctrl-C and SIGTERM are preemption notices: "
                        "training saves, if --ckpt is given, and exits "
                        "with 143. A second Ctrl-C ends it at once, with "
                        "130."));
}

TEST(HelpTest, ScenariosTopicHasTheRangesOfValues) {
  const std::string output = Help("scenarios").out;
  EXPECT_THAT(output, HasSubstr("name of the error: EIO|"));
  EXPECT_THAT(output, HasSubstr("each time it is sent; 1 to 90 (10)"));
}

TEST(HelpTest, ParametersOfAFault_AreShownAsAScenarioWritesThem) {
  const std::string output = Help("scenarios").out;
  EXPECT_THAT(output, HasSubstr("      do: slow\n      with: {latency: 2s, "));
  EXPECT_THAT(output, HasSubstr("\n  do: slow  "));
  EXPECT_THAT(output, HasSubstr("\n  with.latency (slow)  "));
  EXPECT_THAT(output, Not(HasSubstr("with.slow")));
  EXPECT_THAT(Help("with.slow").out, HasSubstr("\n  with.latency (slow)  "));
  const std::string latency = Help("with.latency").out;
  EXPECT_THAT(latency, HasSubstr("\n  with.latency (slow)  "));
  EXPECT_THAT(latency, HasSubstr("\n  with.latency (kill)  "));
}

TEST(HelpTest, UsageHasTheRequiredArgumentsAndTheirNumber) {
  EXPECT_THAT(Help("replay").out, HasSubstr("[OPTIONS] WHAT\n"));
  EXPECT_THAT(Help("explore").out, HasSubstr("[OPTIONS] [BASE]\n"));
  EXPECT_THAT(Help("run").out, HasSubstr("[OPTIONS] [PATH...]\n"));
  EXPECT_THAT(Help("list").out, HasSubstr("[OPTIONS] WHAT [PATH...]\n"));
  EXPECT_THAT(Help("ckpt diff").out, HasSubstr("[OPTIONS] A B\n"));
  EXPECT_THAT(Help("ckpt diff").out, HasSubstr("\n  A B  "));
}

TEST(HelpTest, ListOfCheckpointsExplainsTheirStates) {
  for (const char* topic : {"ckpt ls", "ckpt verify"}) {
    EXPECT_THAT(
        Help(topic).out,
        HasSubstr("\nEach checkpoint is current (a run may load it), "));
  }
}

TEST(HelpTest, CommandsTopicIsItsOwnHelp) {
  EXPECT_THAT(Help("train").out, HasSubstr("Usage: gauntlet train"));
  EXPECT_THAT(Help("").out, HasSubstr("\nStart: gauntlet run --demo\n"));
}

TEST(HelpTest, UnknownTopic_IsOneLineWithTheNearest) {
  const HelpOutput output = Help("pionts");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(output.err,
            "gauntlet help: unknown topic 'pionts'; did you mean points?\n");
  for (const std::string topic : {"nosuch", "nope"}) {
    EXPECT_EQ(Help(topic).err,
              fmt::format("gauntlet help: unknown topic '{}'; gauntlet help "
                          "lists topics and commands\n",
                          topic));
  }
}

TEST(HelpTest, OverviewListsAllTopicsAndCommands) {
  const HelpOutput output = Help("");
  for (const std::string& topic : HelpTopics()) {
    EXPECT_THAT(output.out, HasSubstr(topic));
  }
  for (const std::string& command : CommandNames()) {
    EXPECT_THAT(output.out, HasSubstr(command));
  }
}

TEST(HelpTest, PartOfATopic_NamesTheTopic) {
  EXPECT_THAT(Help("bugs").err, StartsWith("gauntlet help: unknown topic "
                                           "'bugs'; did you mean "
                                           "planted-bugs?\n"));
}

TEST(HelpTest, EveryTopicHasAPage) {
  for (const std::string& topic : HelpTopics()) {
    const HelpOutput output = Help(topic);
    EXPECT_EQ(output.exit_code, 0) << topic;
    EXPECT_GT(output.out.size(), 200u) << topic;
  }
}

TEST(HelpTest, EveryDescribedNameHasAnEntry) {
  for (const std::string& name : DescribedNames()) {
    EXPECT_THAT(Help(name).out, StartsWith(name)) << Help(name).err;
  }
}

TEST(HelpTest, Key_HasItsLine_AndAGroupTheLinesOfItsKeys) {
  EXPECT_EQ(
      Help("disk.capacity")
          .out.find("disk.capacity (key of a scenario, with its default in "
                    "parentheses):\n  disk.capacity  "),
      0u)
      << Help("disk.capacity").out;
  const std::string expect = Help("expect").out;
  EXPECT_THAT(expect, StartsWith("expect (keys of a scenario, "));
  EXPECT_THAT(expect, HasSubstr("\n  expect.resumed_from.step "));
  EXPECT_THAT(Help("checkpoint").out, HasSubstr("\n  checkpoint.every "));
  EXPECT_THAT(Help("checkpoint.every").out,
              StartsWith("checkpoint.every (key"));
  EXPECT_THAT(Help("resumed_from").out, HasSubstr("expect.resumed_from"));
  EXPECT_THAT(Help("checkpoint.evry").err,
              HasSubstr("did you mean checkpoint.every?"));
}

TEST(HelpTest, OutcomeHasItsMeaning) {
  EXPECT_EQ(Help("recovers").out,
            "recovers (outcome): the run is interrupted, continues after a "
            "restart or a requeue, and trains to its end.\n\n"
            "  expect: {outcome: recovers}\n");
  for (const std::string& name : ChoicesOf(*FindKey("expect.outcome"))) {
    EXPECT_THAT(Help(name).out, StartsWith(name + " (outcome): "));
    EXPECT_THAT(Help("outcomes").out, HasSubstr("\n  " + name + " "));
  }
}

TEST(HelpTest, TutorialNamesItsFile) {
  EXPECT_THAT(Help("tutorial").out, HasSubstr("docs/tutorial.md"));
}

TEST(HelpTest, JsonSchemaIsThatOfScenarios) {
  EXPECT_EQ(Help("json-schema").out, ScenarioJsonSchema());
}

TEST(HelpTest, FaultKindHasParametersAndAnExample) {
  const std::string output = Help("torn_write").out;
  EXPECT_THAT(output, HasSubstr("\n  blocks  "));
  EXPECT_THAT(output, HasSubstr("Example:\n  faults:\n    - at: {worker: 1, "));
}

TEST(HelpTest, SynonymOfAFaultKind_NamesTheKind) {
  EXPECT_THAT(Help("oom").out,
              StartsWith("oom is understood as out_of_memory.\n\n"
                         "out_of_memory (fault kind): "));
  EXPECT_THAT(Help("ENOSPC").out,
              StartsWith("ENOSPC is understood as errno with {error: ENOSPC}"));
  EXPECT_THAT(Help("latency").out, HasSubstr("use slow "));
}

// Examples that users copy from the help must load.
TEST(HelpTest, ExamplesOfFaultKindsLoad) {
  for (const FaultKindInfo& info : AllFaultKinds()) {
    const std::string text = Help(std::string(info.name)).out;
    const std::string example = text.substr(text.find("Example:\n") + 9);
    const std::string scenario =
        "schema: gauntlet/v2\nname: s\njob: {epochs: 3}\ncluster: {workers: "
        "3, device: emulated}\ncheckpoint: {every: {steps: 5}}\nexpect: "
        "{outcome: recovers}\n" +
        example.substr(example.find("faults"));
    const LoadedFile loaded = LoadScenarios(scenario, "s.yaml");
    EXPECT_EQ(RenderErrors(loaded, "s.yaml", scenario), "") << info.name;
  }
}

TEST(HelpTest, GroupOfOptions_IsAPageOfItsOwn) {
  const std::string cluster = Help("train cluster").out;
  EXPECT_THAT(cluster, HasSubstr("\nCluster:\n"));
  EXPECT_THAT(cluster, HasSubstr("--rendezvous HOST:PORT"));
  EXPECT_THAT(cluster, Not(HasSubstr("--preset NAME")));
  const std::string first = Help("train").out;
  EXPECT_THAT(first, Not(HasSubstr("--rendezvous HOST:PORT")));
  EXPECT_THAT(first, HasSubstr("--rendezvous, "));
  const HelpOutput unknown = Help("train clutser");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean cluster?"));
}

TEST(HelpTest, OptionsOfRunAndExplore_StandInNamedGroups) {
  for (const std::string command : {"run", "explore"}) {
    const std::string page = Help(command).out;
    EXPECT_THAT(page, Not(HasSubstr("\nOptions:\n"))) << command;
    for (const std::string group : {"Selection", "Execution", "Output"}) {
      EXPECT_THAT(page, HasSubstr("\n" + group + ":\n  -")) << command;
    }
  }
  EXPECT_THAT(Help("explore crash-states").out, HasSubstr("--max-states N"));
}

TEST(HelpTest, AllShowsEveryOptionOfTheFirstPageToo) {
  const std::string all = Help("train all").out;
  EXPECT_THAT(all, HasSubstr("--rendezvous HOST:PORT"));
  EXPECT_THAT(all, HasSubstr("--preset NAME"));
}

// Returns the number of characters, not bytes.
size_t ColumnsOf(const std::string& line) {
  return static_cast<size_t>(std::ranges::count_if(line, [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

TEST(HelpTest, PagesFitAnOrdinaryTerminalAndHaveAnExample) {
  for (const std::string& command : CommandNames()) {
    const std::string page = Help(command).out;
    EXPECT_THAT(page, HasSubstr("\n  gauntlet " + command)) << command;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(ColumnsOf(line), 80u) << command << ": " << line;
    }
  }
}

TEST(CatalogTest, PresetsStateTheAccuracyOfTheirRun) {
  const std::vector<CatalogEntry> presets = EntriesOf(Catalog::kPresets);
  const auto cnn = std::ranges::find(presets, "cnn", &CatalogEntry::name);
  ASSERT_NE(cnn, presets.end());
  EXPECT_THAT(cnn->description,
              HasSubstr("4096 digits of 28x28 pixels; 10 epochs: accuracy "
                        "about 98%, about "));
}

TEST(CatalogTest, DescriptionsStandBelowEachOther) {
  EXPECT_EQ(RenderEntries({{"a", "one"}, {"long", "two"}}),
            "a     one\nlong  two\n");
}

TEST(CatalogTest, EveryCatalogHasEntriesWithNamesAndDescriptions) {
  for (const Catalog catalog :
       {Catalog::kPresets, Catalog::kPoints, Catalog::kFaults,
        Catalog::kInvariants, Catalog::kPlantedBugs}) {
    const std::vector<CatalogEntry> entries = EntriesOf(catalog);
    EXPECT_FALSE(entries.empty());
    for (const CatalogEntry& entry : entries) {
      EXPECT_NE(entry.name, "");
      EXPECT_NE(entry.description, "") << entry.name;
    }
  }
}

}  // namespace
}  // namespace gauntlet
