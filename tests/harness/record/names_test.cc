#include <array>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "engine/world/event_vocabulary.h"
#include "harness/record/invariants.h"

namespace gauntlet {
namespace {

template <typename Enum, size_t n>
void ExpectNamesOfTheirOwn(const std::array<EventWord<Enum>, n>& words) {
  for (const EventWord<Enum>& word : words) {
    EXPECT_EQ(FindWord(words, word.name), word.value) << word.name;
  }
  EXPECT_EQ(FindWord(words, "meteor"), std::nullopt);
}

TEST(RecordNamesTest, EachWordOfEventsHasANameOfItsOwn) {
  ExpectNamesOfTheirOwn(kEventKinds);
  ExpectNamesOfTheirOwn(kEventReasons);
  ExpectNamesOfTheirOwn(kEventPhases);
}

TEST(RecordNamesTest, EachInvariantHasAName) {
  std::set<std::string_view> names;
  for (const InvariantInfo& info : AllInvariants()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(IsInvariant(info.name));
  }
  EXPECT_FALSE(IsInvariant("all"));
}

}  // namespace
}  // namespace gauntlet
