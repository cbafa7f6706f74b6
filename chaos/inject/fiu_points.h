// Fault points of a real process, by libfiu (https://blitiri.com.ar/p/libfiu):
// the point of failure of Point p is named "gauntlet/" + PointName(p).
//
// The plan's points are enabled with fiu_enable_external, whose callback asks
// the Injector. With external control, a person can also enable points from
// outside, with or without a plan (docs/guides/scenarios.md, *Faults by hand*).
// At a point that a person has enabled, no fault of the plan happens. The
// operation fails with the errno of the point's failinfo (EIO without one).
#ifndef GAUNTLET_CHAOS_INJECT_FIU_POINTS_H_
#define GAUNTLET_CHAOS_INJECT_FIU_POINTS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "chaos/inject/injector.h"
#include "chaos/inject/plan/plan.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

enum class ExternalControl : uint8_t { kOff, kOn };

// Returns kOn if fiu-run started this process: FIU_CTRL_FIFO or FIU_ENABLE is
// set.
ExternalControl ExternalControlFromEnvironment();

// libfiu has one table of points per process, so only one FiuPoints may exist
// at a time. The destructor removes its points. Safe from any task.
//
// A point costs a relaxed load (about 2 ns) if the plan does not name it; 60 to
// 100 ns if it does, or with external control.
class FiuPoints final : public FaultPoints {
 public:
  // `plan` is the injector's. All arguments must outlive this.
  FiuPoints(Injector& injector, const FaultPlan& plan,
            ExternalControl external);
  ~FiuPoints() override;

  Status Hit(Point point, const PointContext& context) override {
    if (!gates_[static_cast<size_t>(point)].load(std::memory_order_relaxed))
        [[likely]] {
      injector_.NotePosition(point, context);
      return OkStatus();
    }
    return Ask(point, context);
  }
  bool Planted(PlantedBug bug) const override;

 private:
  Status Ask(Point point, const PointContext& context);

  Injector& injector_;
  std::vector<std::string> names_;  // libfiu's, by point
  // By point. True: Hit asks libfiu.
  std::vector<std::atomic<bool>> gates_;
  std::vector<Point> enabled_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FIU_POINTS_H_
