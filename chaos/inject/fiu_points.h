// Fault points of a real process, by libfiu (https://blitiri.com.ar/p/libfiu):
// the point of failure of Point p is named "gauntlet/" + PointName(p).
//
// The plan's points are enabled with fiu_enable_external, whose callback asks
// the Injector. Where external control is on, a person can besides enable
// points from outside ("fiu-ctrl -c 'enable
// name=gauntlet/ckpt.rename,failinfo=5' PID"), and the operation there reports
// that errno (EIO without a failinfo). What is enabled from outside takes the
// place of the plan at that point.
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

// On where fiu-run started this process (FIU_CTRL_FIFO or FIU_ENABLE is set).
ExternalControl ExternalControlFromEnvironment();

// libfiu's table of points is the process's, so there is one of these in it at
// a time; it takes its points out again. Safe from any task.
//
// Costs a relaxed load (about 2 ns) at a point that the plan does not name, 60
// to 100 ns at one that it names, or at all of them with external control on.
class FiuPoints final : public FaultPoints {
 public:
  // The plan is the injector's; all must outlive this.
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
  std::vector<std::string> names_;        // libfiu's, by point
  std::vector<std::atomic<bool>> gates_;  // by point
  std::vector<Point> enabled_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FIU_POINTS_H_
