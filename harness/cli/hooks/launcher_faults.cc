#include "harness/cli/hooks/launcher_faults.h"

#include <string>
#include <utility>

#include "harness/cli/hooks/plan_file.h"
#include "harness/run/files/temporary_directory.h"
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

// A fault plan, and the directory that records which of its faults fired.
class PlannedLauncherFaults final : public LauncherFaults {
 public:
  // `own_state` owns the directory `state` if it is temporary; null: the user
  // gave the directory.
  PlannedLauncherFaults(FaultPlan plan, std::string state,
                        std::unique_ptr<TemporaryDirectory> own_state)
      : plan_(std::move(plan)),
        state_(std::move(state)),
        own_state_(std::move(own_state)) {}

  const std::string& state_directory() const override { return state_; }

  // Prints nothing if the user gave the state directory: other runs may share
  // it, and the faults may still fire in those runs.
  void PrintUnfired(Console& console) const override {
    if (own_state_ == nullptr) return;
    for (const std::string& id : NeverFired(plan_, state_)) {
      fmt::print(console.err, "gauntlet train: --plan: fault {} never fired\n",
                 id);
    }
  }

 private:
  const FaultPlan plan_;
  const std::string state_;
  const std::unique_ptr<TemporaryDirectory> own_state_;
};

// Warns that bugs are planted, so the results are not those of the real engine.
void WarnOfPlantedBugs(const FaultPlan& plan, Console& console) {
  for (const PlantedBug bug : plan.bugs) {
    fmt::print(console.err, "gauntlet train: --plan: with planted bug {}\n",
               AllPlantedBugs()[static_cast<size_t>(bug)].name);
  }
}

}  // namespace

Result<std::unique_ptr<LauncherFaults>> PrepareLauncherFaults(
    Storage& storage, const TrainCommand& command, Console& console) {
  Result<FaultPlan> plan =
      ReadPlanFile(storage, command.plan_file, command.options.preemption);
  if (!plan.ok()) return Annotate(plan.status(), "--plan");
  std::string state = command.plan_state_directory;
  std::unique_ptr<TemporaryDirectory> own_state;
  if (state.empty()) {
    auto made = TemporaryDirectory::Make("plan");
    if (!made.ok()) return Annotate(made.status(), "--plan");
    own_state = *std::move(made);
    state = own_state->path();
  }
  WarnOfPlantedBugs(*plan, console);
  return std::unique_ptr<LauncherFaults>(
      std::make_unique<PlannedLauncherFaults>(
          *std::move(plan), std::move(state), std::move(own_state)));
}

}  // namespace gauntlet
