// Hindrances: intervals during which a fault keeps a process or a link from
// working.
//
// A deadline does not run during a hindrance: a fault of one millisecond
// excuses one millisecond.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_HINDRANCES_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_HINDRANCES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "harness/oracle/history/history.h"
#include "harness/record/record.h"

namespace gauntlet {

struct Hindrance {
  enum class Kind : uint8_t {
    kTask,        // one task of the process is blocked
    kBeats,       // the process sends no heartbeats
    kProcess,     // the process is paused, or ended with its connections open
    kLinks,       // no frame reaches the process, or leaves it
    kLateFrames,  // frames from or to the process may be late
    kAbsent,      // the process has ended, or has left its generation
  };
  Kind kind = Kind::kTask;
  Emitter of;
  int64_t from_ns = 0;
  int64_t until_ns = 0;
  int64_t late_ns = 0;  // kLateFrames: longest delay of a frame
};

// Returns true iff the hindrance can make a wait exceed the limit. Late frames
// do so only if they are late enough; all other hindrances can.
bool MatchesLateness(const Hindrance& one, int64_t limit_ns);

class Hindrances {
 public:
  // If the fault causes a hindrance, adds it for the process in which the fault
  // fired.
  void Fired(const RecordFault& fault, const Emitter& in, int64_t t_ns);
  // Adds a late frame from or to the process.
  void FrameLate(const Emitter& of, int64_t t_ns, int64_t late_ns);
  void Add(const Hindrance& hindrance) { all_.push_back(hindrance); }
  // Ends the hindrances of a process that has ended.
  void Ended(const Emitter& process, int64_t t_ns);
  // Ends the absences (kAbsent) of the worker. Called when a process of the
  // worker is running again.
  void Present(int worker, int64_t t_ns);

  static constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();
  // Returns how many nanoseconds of the interval are free of hindrances. Takes
  // into account only hindrances for which `counts` returns true, and only the
  // first `longest_ns` of each.
  using Counts = std::function<bool(const Hindrance&)>;
  int64_t Undisturbed(int64_t from_ns, int64_t until_ns, const Counts& counts,
                      int64_t longest_ns = kForEver) const;
  // Returns the time since which there has been a hindrance at every moment
  // until `t_ns`; nullopt if there is none at `t_ns`. Takes into account only
  // hindrances for which `counts` returns true.
  std::optional<int64_t> Since(int64_t t_ns, const Counts& counts) const;
  // Returns true iff a hindrance for which `counts` returns true overlaps the
  // interval.
  bool Any(int64_t from_ns, int64_t until_ns, const Counts& counts) const;
  const std::vector<Hindrance>& all() const { return all_; }

 private:
  std::vector<Hindrance> all_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_HINDRANCES_H_
