// Crash states of a save, of recoveries, and of a deletion: every on-disk state
// that a power loss during one of them can leave, within a bound. The real
// recovery code is run on each.
//
// One simulated run is recorded as a log of micro-operations
// (chaos/sim/disk/disk_log.h). It is undisturbed for the windows (CrashWindow)
// kSave and kRot, and has a crash for the other windows. The log is replayed
// under each profile. After each operation of the window the machine loses its
// power, and every image that the profile allows
// (chaos/sim/disk/crash_images.h, with its bound) is examined. On each new
// image, CheckpointStore does what it does when a chief starts: claims a
// generation, chooses a parent, verifies it and loads it. All ranks load the
// checkpoint that the chief names, by the same call on the same bytes, so one
// load is enough. Then the digest of the loaded state is computed again.
//
// Allowed outcomes. In this list, a save is one that was acknowledged before
// the cut.
// - The recovered state is in the reference trajectory, under its step and
//   phase, and is not older than the newest save. A cold start is allowed only
//   if there is no save.
// - If there is a save with a finite state, a checkpoint with a finite state
//   remains that is not older than the newest of these saves.
// - A refusal is not allowed.
// - After a cut in the deletion, the newest save is recovered. A cold start is
//   allowed only if no committed checkpoint is on the disk.
// - kLyingFsync may lose an acknowledged save. So any state of the reference
//   trajectory, or a refusal, is allowed. A cold start is allowed only if no
//   committed checkpoint is on the disk.
// - After rot (one bit of a file at rest is flipped), any state of the
//   reference trajectory is allowed that is not older than the second newest
//   save. A refusal is allowed only if there are fewer than two checkpoints. A
//   cold start is not allowed.
// - With --allow-cold-start, a cold start is allowed wherever a refusal is.
//   After rot, the refusal itself is then not allowed.
#ifndef GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_STATES_H_
#define GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_STATES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/sim/disk/crash_images.h"
#include "chaos/sim/disk/sim_disk.h"
#include "engine/status.h"
#include "harness/run/reference.h"
#include "harness/run/shard_choice.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// A window is a part of a recorded run. The search cuts the power after each
// disk operation in it. The name of a window is in --windows, in ids of crash
// states and in JSON.
enum class CrashWindow : uint8_t {
  kSave,       // from the start of a save to the start of the next
  kRecovery,   // second generation, until its second save or end of training
  kClaim,      // as kRecovery, but a second crash interrupts the claim
  kRejection,  // as kRecovery, where the newest checkpoint is damaged
  kDeletion,   // deletion of a finished run's checkpoints
  kRot,        // no cut: the disk as the save leaves it, with one bit flipped
};
struct CrashWindowInfo {
  CrashWindow window;
  std::string_view name;  // "save"
};
inline constexpr std::array kCrashWindows = {
    CrashWindowInfo{CrashWindow::kSave, "save"},
    CrashWindowInfo{CrashWindow::kRecovery, "recovery"},
    CrashWindowInfo{CrashWindow::kClaim, "claim"},
    CrashWindowInfo{CrashWindow::kRejection, "rejection"},
    CrashWindowInfo{CrashWindow::kDeletion, "deletion"},
    CrashWindowInfo{CrashWindow::kRot, "rot"}};
std::vector<CrashWindow> AllCrashWindows();
std::string_view CrashWindowName(CrashWindow window);

// Counts for one window under one profile.
struct CrashStateCounts {
  DurabilityProfile profile = DurabilityProfile::kExt4;
  CrashWindow window = CrashWindow::kSave;
  uint64_t points = 0;             // cuts: one after each micro-operation
  uint64_t images_enumerated = 0;  // an image counts at each cut that leaves it
  uint64_t images_distinct = 0;    // images from which a recovery was run
  double images_left_out = 0;      // beyond the bound
  uint64_t refusals = 0;           // recoveries that were refused, as allowed
};

struct CrashStateFinding {
  // "weak-save-17-3-0.2.5": profile, window, operation, and what survived. A
  // value for CrashStateOptions::only.
  std::string id;
  std::string event;  // "power lost after …", "bit 0 of byte … is flipped"
  std::vector<std::string> survived;  // pending writes that remain, or are torn
  std::string expected;
  std::string found;
};

// A window under a profile. The profile of kRot is always kExt4.
struct CrashStatePart {
  DurabilityProfile profile = DurabilityProfile::kExt4;
  CrashWindow window = CrashWindow::kSave;

  bool operator==(const CrashStatePart&) const = default;
};

struct CrashStateReport {
  std::vector<CrashStateCounts> counts;
  // The first max_findings findings, each of a distinct image. The counts below
  // include the findings that are left out here.
  std::vector<CrashStateFinding> findings;
  uint64_t images_failed = 0;    // distinct images
  uint64_t outcomes_failed = 0;  // an image counts once for each cut
  uint64_t ran_twice = 0;        // images
  uint64_t nondeterministic = 0;
  // Parts not examined to the end because the search was stopped; empty: none.
  std::vector<CrashStatePart> unfinished;

  bool finished() const { return unfinished.empty(); }
  // Returns true iff every part was examined to the end, and the bound left out
  // no image.
  bool complete() const {
    return finished() && std::ranges::all_of(counts, [](const auto& of_part) {
             return of_part.images_left_out == 0;
           });
  }
};

enum class Proceed : uint8_t { kContinue, kStop };

struct CrashStateOptions {
  std::vector<DurabilityProfile> profiles = {DurabilityProfile::kExt4,
                                             DurabilityProfile::kWeak};
  std::vector<CrashWindow> windows = AllCrashWindows();
  // Parts to examine, in turns. If empty: each of `windows` under each of
  // `profiles`; kRot only once.
  std::vector<CrashStatePart> parts = {};
  CrashBound bound;
  // Bound under kLyingFsync, where no write is ever certainly on the disk.
  CrashBound lying_bound = {.names_up_to = 64, .combinations_up_to = 64};
  // Number of the save in the run, from 1. 0: the first save at which retention
  // removes a checkpoint, or else the last save.
  uint64_t save = 0;
  size_t max_findings = 20;
  size_t stop_after = 0;     // stops after so many findings; 0: never
  std::string only;          // a finding's id: examines this image alone
  uint64_t twice_every = 0;  // every N-th image is recovered twice; 0: none
  uint64_t max_images = 0;   // stops after so many distinct images; 0: never
  // Shard of the search. Each distinct crash state belongs to one shard, which
  // judges it for all crash points that leave it. Every shard counts all crash
  // points and all states left out.
  ShardChoice shard = {};
  // Called at each crash point and image. Returns true to end the search with
  // the findings so far.
  std::function<bool()> stop = [] { return false; };
  // Called now and then between two images, with the report so far; null: not
  // called.
  std::function<Proceed(const CrashStateReport&)> on_progress;
  // Describes the recovery from an image, for the message if the program
  // crashes in this recovery.
  std::function<std::string(const std::string& id)> name_of =
      [](const std::string& id) { return "crash image " + id; };
};

// Runs the search in turns, so that the caller can do other work in between.
// All turns together equal one call of ExploreCrashStates.
class CrashStateSearch {
 public:
  // Errors: those of ExploreCrashStates. `references` must outlive the search.
  static Result<CrashStateSearch> Make(const Case& base, References& references,
                                       const CrashStateOptions& options);
  CrashStateSearch(CrashStateSearch&&) noexcept;
  ~CrashStateSearch();

  // Recovers from the next states of one part: 16 or more, or all that remain.
  // The next turn takes the next part. REQUIRES: !ended().
  Status TakeTurn();
  // True if all is done, or the search was stopped.
  bool ended() const;
  // Returns the results so far, without `unfinished`.
  const CrashStateReport& report() const;
  // Returns the report and ends the search.
  CrashStateReport TakeReport();

 private:
  struct State;
  explicit CrashStateSearch(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Examines all parts. The result depends on the arguments alone. Ignores the
// case's own faults, but not its planted bugs. kInvalidArgument: `only` is not
// an id of this case, or the run has fewer saves than needed. Other errors: the
// run cannot be made.
Result<CrashStateReport> ExploreCrashStates(const Case& base,
                                            References& references,
                                            const CrashStateOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_STATES_H_
