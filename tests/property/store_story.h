// A sequence of actions on a checkpoint store, as text and back.
#ifndef GAUNTLET_TESTS_PROPERTY_STORE_STORY_H_
#define GAUNTLET_TESTS_PROPERTY_STORE_STORY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/sim/disk/durability_profile.h"
#include "engine/status.h"

namespace gauntlet {

enum class StoreVerb : uint8_t {
  kLive,     // a process claims, makes `saves`, leaving `keep`, and ends
  kGone,     // the same, but it is gone at storage operation `at`
  kError,    // the same, but operation `at` fails once
  kStay,     // the same, but it does not end: a survivor
  kLate,     // the oldest survivor makes one more save
  kRace,     // at operation `at` of a save another process claims
  kDamage,   // one bit of a checkpoint
  kEdit,     // a person wants another checkpoint, and a process claims
  kMisedit,  // a person wants one that is not there, and a process claims
  kForget,   // the state file is gone
  kPower,    // a power loss
};
inline constexpr int kStoreVerbs = 11;

// The verb decides which numbers count.
struct StoreAction {
  StoreVerb verb = StoreVerb::kLive;
  uint64_t saves = 0;
  uint64_t keep = 1;
  uint64_t at = 0;    // an operation, one of several, or a seed
  uint64_t byte = 0;  // kDamage: chooses the file, and the byte in it
};

struct StoreStory {
  DurabilityProfile profile = DurabilityProfile::kExt4;
  std::vector<StoreAction> actions;
};

// "weak", then an action a line.
std::string StoryToText(const StoreStory& story);
Result<StoreStory> StoryFromText(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_PROPERTY_STORE_STORY_H_
