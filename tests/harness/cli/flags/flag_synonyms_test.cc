#include "engine/cli/flags/flag_synonyms.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/command_line.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

std::string HelpOf(const std::string& command) {
  const auto line = ParseCommandLine(Words{command, "--help=all"});
  if (!line.ok()) return "";  // ckpt has no options of its own
  return std::get<PrintTextCommand>(line->command).text;
}

bool HasOption(const std::string& help, std::string_view name) {
  return std::ranges::any_of(
      std::vector<std::string>{"\n  ", ", "}, [&](const std::string& before) {
        const size_t at = help.find(before + std::string(name));
        if (at == std::string::npos) return false;
        const char next = help[at + before.size() + name.size()];
        return next == ' ' || next == '\n';
      });
}

TEST(FlagSynonymsTest, EveryOneStandsForAnOptionOfSomeCommand) {
  std::vector<std::string> pages;
  for (const std::string& command : CommandNames()) {
    pages.push_back(HelpOf(command));
  }
  for (const FlagSynonym& synonym : AllFlagSynonyms()) {
    EXPECT_TRUE(std::ranges::any_of(pages, [&](const std::string& page) {
      return HasOption(page, synonym.option) && !HasOption(page, synonym.name);
    })) << synonym.name;
    EXPECT_EQ(synonym.advice.empty(), synonym.use == SynonymUse::kReplaced)
        << synonym.name;
  }
}

TEST(FlagSynonymsTest, NoNameIsThereTwice) {
  for (const FlagSynonym& synonym : AllFlagSynonyms()) {
    EXPECT_EQ(
        std::ranges::count(AllFlagSynonyms(), synonym.name, &FlagSynonym::name),
        1)
        << synonym.name;
  }
}

struct SynonymCase {
  Words words;
  std::string note;
};

TEST(FlagSynonymsTest, SynonymIsReadAsOurOption_WithANote) {
  const std::vector<SynonymCase> cases = {
      {{"train", "--learning-rate", "0.1"},
       "--learning-rate is understood as --lr"},
      {{"train", "--batch-size=8"}, "--batch-size is understood as --batch"},
      {{"train", "--num-epochs", "2"},
       "--num-epochs is understood as --epochs"},
      {{"train", "--random-seed", "2"},
       "--random-seed is understood as --seed"},
      {{"train", "--checkpoint-dir", "c"},
       "--checkpoint-dir is understood as --ckpt"},
      {{"train", "--resume", "--ckpt", "c"},
       "--resume is not needed: train resumes by itself if its --ckpt DIR "
       "holds checkpoints"},
      {{"run", "a.yaml", "--lf"}, "--lf is understood as --last-failed"},
      {{"run", "a.yaml", "--dry-run"}, "--dry-run is understood as --list"},
      {{"explore", "--duration", "9s"}, "--duration is understood as --time"},
  };
  for (const auto& [words, note] : cases) {
    const auto line = ParseCommandLine(words);
    ASSERT_TRUE(line.ok()) << line.status().ToString();
    EXPECT_THAT(line->notes, ElementsAre(note));
  }
}

TEST(FlagSynonymsTest, Synonym_SetsTheValueOfItsOption) {
  const auto line =
      ParseCommandLine(Words{"train", "--learning-rate", "0.5", "--batch_size",
                             "8", "--lr-schedule=cosine_decay:10"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  const JobSpec& job = std::get<TrainCommand>(line->command).options.job;
  EXPECT_EQ(job.optimizer.learning_rate, 0.5f);
  EXPECT_EQ(job.batch, 8);
  EXPECT_EQ(job.optimizer.schedule.kind, ScheduleKind::kCosineDecay);
}

TEST(FlagSynonymsTest, WordWithSeveralMeanings_GetsAdvice) {
  const std::vector<SynonymCase> cases = {
      {{"train", "--devices", "2"},
       "unknown option '--devices': --device cuda chooses GPUs, --workers N "},
      {{"train", "--resume", "c"},
       "--resume: expected no value, found 'c': train resumes by itself"},
      {{"train", "--resume=c"}, "--resume: expected no value, found 'c'"},
      {{"train", "--num-workers", "2"}, "--workers N is the number of "},
      {{"train", "--optimizer", "adam"}, "in a file for --job replaces it"},
      {{"train", "--log-dir", "l"}, "--tensorboard DIR for curves"},
      {{"explore", "--runs", "d"}, "'--runs': --out DIR names the folder"},
      {{"run", "--out", "d"},
       "unknown option '--out': --runs DIR names the folder of the runs"},
  };
  for (const auto& [words, message] : cases) {
    const auto line = ParseCommandLine(words);
    ASSERT_FALSE(line.ok()) << message;
    EXPECT_THAT(line.status().message(), HasSubstr(message));
  }
}

TEST(FlagSynonymsTest, OptionsOfOthersAreNotTouched) {
  EXPECT_THAT(ParseCommandLine(Words{"doctor", "--learning-rate", "1"})
                  .status()
                  .message(),
              HasSubstr("unknown option '--learning-rate'"));
  const auto line = ParseCommandLine(Words{"run", "--", "--dry-run"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_THAT(std::get<RunCommand>(line->command).paths,
              ElementsAre("--dry-run"));
}

}  // namespace
}  // namespace gauntlet
