#include "harness/cli/hooks/plan_file.h"

#include <cstdint>
#include <utility>

#include "chaos/inject/process_effects.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxPlanBytes = uint64_t{1} << 20;

Status CheckReal(const FaultPlan& plan) {
  for (const Fault& fault : plan.faults) {
    const std::string_view why = SimOnlyReason(fault);
    if (why.empty()) continue;
    return InvalidArgument(
        fmt::format("fault {}: {} is for the simulated world only: {}",
                    fault.id, FaultKindName(fault.kind), why));
  }
  return OkStatus();
}

// Refuses notices from a source that no worker polls: they would have no
// effect.
Status CheckNotices(const FaultPlan& plan, const PreemptionOptions& options) {
  for (const Fault& fault : plan.faults) {
    if (fault.kind != FaultKind::kPreempt) continue;
    const bool missing =
        (fault.with.notice == NoticeBy::kFile && options.file.empty()) ||
        (fault.with.notice == NoticeBy::kHttp && options.url.empty());
    if (!missing) continue;
    return InvalidArgument(
        fmt::format("fault {}: expected workers that look for notices by {}",
                    fault.id, NoticeByName(fault.with.notice)));
  }
  return OkStatus();
}

}  // namespace

Result<FaultPlan> ReadPlanFile(Storage& storage, const std::string& file,
                               const PreemptionOptions& options) {
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(storage, file, kMaxPlanBytes));
  Result<FaultPlan> plan = PlanFromJson(text);
  if (!plan.ok()) return Annotate(plan.status(), file);
  RETURN_IF_ERROR(Annotate(CheckReal(*plan), file));
  RETURN_IF_ERROR(Annotate(CheckNotices(*plan, options), file));
  return plan;
}

std::vector<std::string> NeverFired(const FaultPlan& plan,
                                    const std::string& state_directory) {
  FiredFaultFiles fired(state_directory);
  std::vector<std::string> ids;
  for (const Fault& fault : plan.faults) {
    if (!fired.HasFired(fault.id)) ids.push_back(fault.id);
  }
  return ids;
}

}  // namespace gauntlet
