// What the faults that fired keep from working, and until when.
//
// A deadline runs only while nothing is in its way: a fault of a millisecond
// excuses a millisecond.
#ifndef GAUNTLET_HARNESS_ORACLE_HINDRANCES_H_
#define GAUNTLET_HARNESS_ORACLE_HINDRANCES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "harness/oracle/history.h"
#include "harness/record/record.h"

namespace gauntlet {

struct Hindrance {
  enum class Kind : uint8_t {
    kTask,        // one task of the process stands still
    kBeats,       // the task that sends its heartbeats
    kProcess,     // all of it stands still, or is gone without a goodbye
    kLinks,       // nothing gets through to it, or from it
    kLateFrames,  // each frame from or to it may be late
    kAbsent,      // a worker has no process, or one that has left the others
  };
  Kind kind = Kind::kTask;
  Emitter of;
  int64_t from_ns = 0;
  int64_t until_ns = 0;
  int64_t late_ns = 0;  // kLateFrames: by how much at the most
};

// Returns true iff it can be why something takes longer than the limit: late
// frames only if they are late enough.
bool MatchesLateness(const Hindrance& one, int64_t limit_ns);

class Hindrances {
 public:
  // A fault fired in the process.
  void Fired(const RecordFault& fault, const Emitter& in, int64_t t_ns);
  // A frame from or to the process is late.
  void FrameLate(const Emitter& of, int64_t t_ns, int64_t late_ns);
  void Add(const Hindrance& hindrance) { all_.push_back(hindrance); }
  // The process is gone: what stood in its own way does not any more.
  void Ended(const Emitter& process, int64_t t_ns);
  // Its worker has a process again.
  void Present(int worker, int64_t t_ns);

  static constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();
  // How much of the time none of those that count was there. One that has been
  // there for longer counts no more.
  using Counts = std::function<bool(const Hindrance&)>;
  int64_t Undisturbed(int64_t from_ns, int64_t until_ns, const Counts& counts,
                      int64_t longest_ns = kForEver) const;
  // Since when something has been in the way without a break, at that time.
  std::optional<int64_t> Since(int64_t t_ns, const Counts& counts) const;
  bool Any(int64_t from_ns, int64_t until_ns, const Counts& counts) const;
  const std::vector<Hindrance>& all() const { return all_; }

 private:
  std::vector<Hindrance> all_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HINDRANCES_H_
