// Progress of a backward pass, for an exchange that runs at the same time.
//
// A pass computes the gradients of the last layer first, so the end of the
// array becomes final first. The exchange sums the final part while the pass
// computes the rest.
#ifndef GAUNTLET_ENGINE_CLUSTER_RING_PASS_PROGRESS_H_
#define GAUNTLET_ENGINE_CLUSTER_RING_PASS_PROGRESS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/world/clock.h"
#include "engine/world/tasks.h"

namespace gauntlet {

// One task computes the gradients, another one waits for them. The waiting task
// may read all values that were written before SetFinalFrom or Complete.
class PassProgress {
 public:
  explicit PassProgress(Tasks& tasks) : changed_(tasks.NewEvent()) {}

  // Begins another pass: no gradient is final. REQUIRES: no task waits.
  void Begin();
  // Marks the gradients from this offset on as final. Offsets descend.
  void SetFinalFrom(size_t offset);
  // Ends the pass. All gradients are final, and so are the values that are
  // summed together with them.
  void Complete(Time now);

  void WaitUntilFinalFrom(size_t offset);
  void WaitUntilComplete();
  // Time of Complete; kNever before it.
  Time completed() const { return Time(Duration(completed_.load())); }

 private:
  template <typename Condition>
  void WaitFor(const Condition& holds);

  static constexpr int64_t kIncomplete = kNever.time_since_epoch().count();

  std::atomic<size_t> final_from_ = SIZE_MAX;
  std::atomic<int64_t> completed_ = kIncomplete;  // time of Complete, in ns
  std::unique_ptr<Event> changed_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RING_PASS_PROGRESS_H_
