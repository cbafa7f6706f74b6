// The `trainer` of a scenario: another training program to crash-test, in place
// of a job of the engine.
#ifndef GAUNTLET_HARNESS_SCENARIO_TRAINER_SETUP_H_
#define GAUNTLET_HARNESS_SCENARIO_TRAINER_SETUP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/world/clock.h"

namespace gauntlet {

// A crash at a file operation of the program.
struct TrainerFault {
  std::string kind;  // "kill": a name of crash-test --faults
  // Pattern of the file's path below {out}, as for fnmatch(3); here * also
  // matches "/".
  std::string file = "*";
  std::string operation;  // "rename"; empty: any that changes or syncs a file
  uint64_t occurrence = 1;
  std::optional<uint64_t> rank;
  std::string profile;  // of a power loss: "ext4" or "weak"; empty: both
};

struct TrainerSetup {
  std::vector<std::string> command;  // with "{out}"
  std::vector<std::string> resume;   // empty: same as `command`
  // Patterns in the format of TrainerFault::file.
  std::vector<std::string> results;      // empty: all files
  std::vector<std::string> checkpoints;  // empty: files that a resume reads
  std::string result_command;
  std::string step_pattern;
  bool has_shared_network = false;
  Duration grace = std::chrono::seconds(5);
  Duration pause = std::chrono::seconds(1);
  Duration trial_limit{};  // zero: based on the recorded run
  std::vector<TrainerFault> faults;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_TRAINER_SETUP_H_
