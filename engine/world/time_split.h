// Measures how long the named parts of a task take. Each lap begins where the
// previous one ended, so the parts leave no gap.
#ifndef GAUNTLET_ENGINE_WORLD_TIME_SPLIT_H_
#define GAUNTLET_ENGINE_WORLD_TIME_SPLIT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/world/clock.h"

namespace gauntlet {

enum class TimePart : uint8_t {
  // Parts of a step. On a GPU, queued work counts in the part that waits for
  // it.
  kCompute,   // forward and backward pass
  kExchange,  // exchange of gradients after the passes; exchanges of a save
  kUpdate,    // optimizer
  kEvaluate,
  kSave,   // training waited for saves
  kOther,  // reports, events, callbacks
  // Parts of a save.
  kFetch,   // copy of the state from the device
  kDigest,  // digests of the state and of written bytes; also in a start
  kPrepare,
  kCopy,  // copy into the buffer that an async save writes from
  kWait,  // wait for a task of the save
  kWrite,
  kSync,
  kCommit,     // index, manifest and rename, with syncs; or removal after a
               // failure
  kStateFile,  // the list of checkpoints
  kRetention,
  // Parts of a start.
  kBuild,     // data, model, store, arrays of the training step
  kJoin,      // wait until all workers have arrived
  kClaim,     // claim of a generation; verification of the checkpoint
  kLoad,      // load of a checkpoint
  kTransfer,  // transfer of a state from another worker's memory
  kAgree,     // agreement on the state to start from
};
inline constexpr size_t kTimeParts = static_cast<size_t>(TimePart::kAgree) + 1;

// Returns "compute", "state_file" …: the names in events.
std::string_view TimePartName(TimePart part);
std::optional<TimePart> FindTimePart(std::string_view name);

struct PartTime {
  TimePart part = TimePart::kOther;
  Duration took{0};

  bool operator==(const PartTime&) const = default;
};

// Adds the parts to `totals`, which stays in the order of the enum.
void AddTo(std::vector<PartTime>& totals, const std::vector<PartTime>& parts);

// A stopwatch for one task. The clock outlives it.
class TimeSplit {
 public:
  explicit TimeSplit(const Clock& clock) : TimeSplit(clock, clock.Now()) {}
  // The first part begins at `since`.
  TimeSplit(const Clock& clock, Time since) : clock_(&clock), mark_(since) {}

  // Assigns the time since the last call of Lap or Skip to this part.
  void Lap(TimePart part) { took_[static_cast<size_t>(part)] += SinceMark(); }
  // Ignores the time since the last call of Lap or Skip: something ran then
  // that is not measured.
  void Skip() { static_cast<void>(SinceMark()); }
  // Discards the measured times and starts again now.
  void Restart() {
    Skip();
    took_.fill(Duration::zero());
  }
  // Returns the parts that took time since the last call of Take, in the order
  // of the enum.
  std::vector<PartTime> Take();

 private:
  Duration SinceMark() {
    const Time now = clock_->Now();
    const Duration since = now - mark_;
    mark_ = now;
    return since;
  }

  const Clock* clock_;
  Time mark_;
  std::array<Duration, kTimeParts> took_{};
};

// As TimeSplit::Lap; does nothing if `times` is null.
inline void Lap(TimeSplit* times, TimePart part) {
  if (times != nullptr) times->Lap(part);
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_TIME_SPLIT_H_
