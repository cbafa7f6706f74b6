#include "harness/record/text/repeated_texts.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(RepeatedTextsTest, NumbersListsAndRangesAreOnePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"exits", "exits"},
      {"steps 3-7; saved 4, 6", "steps #; saved #"},
      {"waited 0.5 s, then 3", "waited # s, then #"},
      {"save of step 5 failed: no space", "save of step # failed"},
      {"step-000000005-g1", "step-#-g#"},
      {"worker 1, incarnation 2", "worker #, incarnation #"},
      {"5. 7-", "#. #-"},
  };
  for (const auto& [text, key] : cases) {
    EXPECT_EQ(TextWithoutNumbers(text), key);
  }
}

TEST(RepeatedTextsTest, MergedText_HasRangesOfDifferentNumbers) {
  EXPECT_EQ(MergedText({"exits with 75"}), "exits with 75");
  EXPECT_EQ(MergedText({"exits with 75", "exits with 75"}), "exits with 75");
  EXPECT_EQ(MergedText({"worker 1, incarnation 2: steps 3-7",
                        "worker 1, incarnation 10: steps 2, 3",
                        "worker 1, incarnation 9: steps 2, 3"}),
            "worker 1, incarnation 2..10: steps 2..7");
  EXPECT_EQ(MergedText({"step-000000009", "step-000000010"}),
            "step-000000009..000000010");
}

TEST(RepeatedTextsTest, MergedText_EndsAtTheFirstDifferentWord) {
  EXPECT_EQ(
      MergedText({"save of step 5 failed: no space",
                  "save of step 6 failed: no entry", "save of step 7 failed"}),
      "save of step 5..7 failed...");
  EXPECT_EQ(MergedText({"rank 1: closed (port 7000 #2)", "rank 1: closed"}),
            "rank 1: closed...");
  EXPECT_EQ(MergedText({"rank 1: closed", "rank 1: closed (port 7000 #2)"}),
            "rank 1: closed...");
}

TEST(RepeatedTextsTest, MergedText_EndsAtANumberMissingInOneText) {
  EXPECT_EQ(MergedText({"lost node", "lost node2 of 3"}), "lost node...");
  EXPECT_EQ(MergedText({"lost node2 of 3", "lost node"}), "lost node...");
  EXPECT_EQ(MergedText({"step 3", "step "}), "step ...");
}

TEST(RepeatedTextsTest, NoteHasTheCountAndTheTime) {
  EXPECT_EQ(RepetitionNote(1, 12'400'000'000), "");
  EXPECT_EQ(RepetitionNote(38, 12'400'000'000), " (38 times until 12.400s)");
}

// Groups one-letter keys. A capital letter is a key of another emitter.
std::vector<std::vector<size_t>> Grouped(std::string_view letters) {
  std::vector<EventKey> events;
  for (const char letter : letters) {
    const bool is_other = letter >= 'A' && letter <= 'Z';
    const char key = is_other ? static_cast<char>(letter - 'A' + 'a') : letter;
    events.push_back({.emitter = is_other ? "worker 1" : "worker 0",
                      .pattern = std::string(1, key)});
  }
  return GroupRepeated(events);
}

TEST(RepeatedTextsTest, GroupsSequencesThatRepeat) {
  EXPECT_THAT(
      Grouped("xaaaay"),
      ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3, 4), ElementsAre(5)));
  EXPECT_THAT(Grouped("abababab"),
              ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
  EXPECT_THAT(Grouped("abbaabba"),
              ElementsAre(ElementsAre(0, 3, 4, 7), ElementsAre(1, 2, 5, 6)))
      << "in any order";
}

TEST(RepeatedTextsTest, GroupsEachEmitterForItself) {
  EXPECT_THAT(Grouped("BaAaaAaAA"),
              ElementsAre(ElementsAre(0), ElementsAre(1, 3, 4, 6),
                          ElementsAre(2, 5, 7, 8)))
      << "events of others may lie between";
  EXPECT_THAT(Grouped("aAaAaA"), SizeIs(6));
}

TEST(RepeatedTextsTest, ThreeTimesAreNoRepetition) {
  EXPECT_THAT(Grouped("aaa"), SizeIs(3));
  EXPECT_THAT(Grouped("ababab"), SizeIs(6));
  EXPECT_THAT(Grouped(""), SizeIs(0));
}

TEST(RepeatedTextsTest, SequenceMayHaveARepetitionInIt) {
  std::string letters;
  for (int i = 0; i < 4; ++i) letters += "aaaaaab";
  EXPECT_THAT(Grouped(letters), ElementsAre(SizeIs(24), SizeIs(4)));
}

TEST(RepeatedTextsTest, EachIndexIsInOneGroup) {
  const auto groups = Grouped("abcabcabcabcaxyxyxyxyb");
  std::vector<size_t> all;
  for (const std::vector<size_t>& group : groups) {
    EXPECT_TRUE(std::ranges::is_sorted(group));
    all.insert(all.end(), group.begin(), group.end());
  }
  std::ranges::sort(all);
  std::vector<size_t> expected(22);
  std::iota(expected.begin(), expected.end(), size_t{0});
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace gauntlet
