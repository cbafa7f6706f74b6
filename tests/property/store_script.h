// A sequence of actions on a checkpoint store, as text and back.
#ifndef GAUNTLET_TESTS_PROPERTY_STORE_SCRIPT_H_
#define GAUNTLET_TESTS_PROPERTY_STORE_SCRIPT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/sim/disk/durability_profile.h"
#include "engine/status.h"

namespace gauntlet {

enum class StoreVerb : uint8_t {
  kLive,     // a process claims, saves `saves` times, keeps `keep`, and ends
  kGone,     // as kLive, but the process dies at storage operation `at`
  kError,    // as kLive, but storage operation `at` fails once
  kStay,     // as kLive, but the process keeps running and becomes stale
  kLate,     // the oldest stale process saves once more
  kRace,     // another process claims at operation `at` of a save
  kDamage,   // flips one bit of a checkpoint
  kEdit,     // a user selects another checkpoint, and a process claims
  kMisedit,  // a user selects a missing checkpoint, and a process claims
  kForget,   // removes the state file
  kPower,    // power loss
};
inline constexpr int kStoreVerbs = 11;

// An action. Each verb uses some of the numbers.
struct StoreAction {
  StoreVerb verb = StoreVerb::kLive;
  uint64_t saves = 0;
  uint64_t keep = 1;
  uint64_t at = 0;    // an operation, an index, or a seed
  uint64_t byte = 0;  // kDamage: selects the file and the byte
};

struct StoreScript {
  DurabilityProfile profile = DurabilityProfile::kExt4;
  std::vector<StoreAction> actions;
};

// Text form: the profile ("weak"), then one action per line.
std::string ScriptToText(const StoreScript& script);
Result<StoreScript> ScriptFromText(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_PROPERTY_STORE_SCRIPT_H_
