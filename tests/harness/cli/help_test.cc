#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/world/fault_point.h"
#include "harness/cli/catalog.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/help_command.h"

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

struct Said {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Said Help(const std::string& topic) {
  const TerminalStyle style(ColorChoice::kOff, TerminalFacts());
  std::ostringstream out;
  std::ostringstream err;
  Console console{out, err, style, style};
  const int exit_code = RunHelp({.topic = topic}, console);
  return {exit_code, out.str(), err.str()};
}

TEST(HelpTest, PointsNamesEveryPoint) {
  const Said said = Help("points");
  EXPECT_EQ(said.exit_code, 0);
  for (const PointInfo& info : AllPoints()) {
    EXPECT_THAT(said.out, HasSubstr(std::string(info.name) + " "));
  }
}

TEST(HelpTest, ASubcommandHasItsOwn) {
  const Said said = Help("ckpt ls");
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_THAT(said.out, HasSubstr("Usage: gauntlet ckpt ls"));
  EXPECT_EQ(Help("ckpt sl").exit_code, 2);
  EXPECT_EQ(Help("train ls").exit_code, 2);
}

TEST(HelpTest, ExitCodesNamesEveryCode) {
  const Said said = Help("exit-codes");
  for (const ExitCodeInfo& info : AllExitCodes()) {
    EXPECT_THAT(said.out, HasSubstr(info.meaning));
  }
  EXPECT_THAT(said.out, HasSubstr("143  train: stopped"));
}

TEST(HelpTest, ScenariosSaysWhatAValueMayBe) {
  const std::string said = Help("scenarios").out;
  EXPECT_THAT(said, HasSubstr("the error: EIO|"));
  EXPECT_THAT(said, HasSubstr("each time it is sent, 1 to 90 (10)"));
}

TEST(HelpTest, TheUsageSaysWhichArgumentsAreNeededAndHowMany) {
  EXPECT_THAT(Help("replay").out, HasSubstr("[OPTIONS] WHAT\n"));
  EXPECT_THAT(Help("explore").out, HasSubstr("[OPTIONS] [BASE]\n"));
  EXPECT_THAT(Help("run").out, HasSubstr("[OPTIONS] [PATH...]\n"));
  EXPECT_THAT(Help("list").out, HasSubstr("[OPTIONS] WHAT [PATH...]\n"));
  EXPECT_THAT(Help("ckpt diff").out, HasSubstr("[OPTIONS] A B\n"));
  EXPECT_THAT(Help("ckpt diff").out, HasSubstr("\n  A B  "));
}

TEST(HelpTest, ACommandsTopicIsItsOwnHelp) {
  EXPECT_THAT(Help("train").out, HasSubstr("Usage: gauntlet train"));
  EXPECT_THAT(Help("").out, HasSubstr("gauntlet run --demo"));
}

TEST(HelpTest, AnUnknownTopicIsAMistake) {
  const Said said = Help("pionts");
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err,
            "gauntlet help: unknown topic 'pionts'; did you mean points?\n");
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
