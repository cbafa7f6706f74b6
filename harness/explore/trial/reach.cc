#include "harness/explore/trial/reach.h"

#include <climits>

#include "chaos/inject/injector.h"
#include "chaos/sim/scheduler/fiber.h"
#include "harness/run/case_runner.h"
#include "harness/run/executor/sim_run.h"

namespace gauntlet {

const std::vector<Occurrence>& Reach::Of(int worker, Point point) const {
  static const std::vector<Occurrence> kNone;
  const auto found = occurrences_.find({point, worker});
  return found == occurrences_.end() ? kNone : found->second;
}

std::vector<int> Reach::WorkersAt(Point point) const {
  std::vector<int> workers;
  for (auto at = occurrences_.lower_bound({point, INT_MIN});
       at != occurrences_.end() && at->first.first == point; ++at) {
    workers.push_back(at->first.second);
  }
  return workers;
}

Result<std::shared_ptr<const Reach>> ReachOf(const Case& setup,
                                             References& references) {
  Case undisturbed = setup;
  undisturbed.plan.faults.clear();
  undisturbed.plan.bugs.clear();
  RunPlan plan = PlanOf(undisturbed);
  ASSIGN_OR_RETURN(const auto data, references.DataOf(plan.train.job.data));
  const auto reach = std::make_shared<Reach>();
  std::map<int, Occurrence> positions;  // position of each worker
  plan.interrupted = references.interrupted();
  plan.on_hit = [&](const ProcessIdentity& self, Point point,
                    const PointContext& context) {
    if (self.incarnation != 1) return;
    Occurrence& position = positions[self.worker];
    if (InfoOf(point).part == RunPart::kTraining) {
      position = {.step = context.step, .epoch = context.epoch};
    }
    Occurrence occurrence = position;
    occurrence.begins_file = context.offset == 0;
    reach->Add(self.worker, point, occurrence);
  };
  FiberPool pool;
  static_cast<void>(RunSimulated(pool, plan, *data));
  if (plan.interrupted && plan.interrupted()) return Unavailable("interrupted");
  return std::shared_ptr<const Reach>(reach);
}

}  // namespace gauntlet
