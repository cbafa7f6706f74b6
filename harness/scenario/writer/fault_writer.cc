#include "harness/scenario/writer/fault_writer.h"

#include "harness/scenario/fault_text.h"
#include "harness/scenario/writer/flow_map.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

FlowMap SiteMap(const Fault& fault) {
  const FaultSite& site = fault.site;
  const FaultSite base;
  FlowMap map;
  if (site.worker != base.worker) map.Add("worker", WorkerName(site.worker));
  const int default_incarnation =
      fault.after.empty() ? base.incarnation : kAnyIncarnation;
  if (site.incarnation != default_incarnation) {
    map.Add("incarnation", site.incarnation == kAnyIncarnation
                               ? "any"
                               : std::to_string(site.incarnation));
  }
  map.AddIf("step", site.step);
  map.AddIf("epoch", site.epoch);
  map.Add("point", PointName(site.point));
  map.AddIf("save", site.save);
  map.AddUnless(base.occurrence, "occurrence", site.occurrence);
  if (site.block != base.block) {
    map.Add("block",
            site.block == kAnyBlock ? "any" : std::to_string(site.block));
  }
  if (site.offset) map.Add("offset", OffsetText(*site.offset));
  return map;
}

FlowMap WithMap(const Fault& fault) {
  const FaultParameters& with = fault.with;
  FlowMap map;
  for (const FaultParameterInfo& parameter : ParametersOf(fault.kind)) {
    if (parameter.is_required || !IsDefault(parameter, with)) {
      map.Add(parameter.name, FaultParameterText(parameter, with));
    }
  }
  if (with.times == FaultTimes::kAlways && !with.until_step) {
    map.Add("repeat", "always");
  }
  return map;
}

}  // namespace

std::string FaultToYaml(const Fault& fault) {
  std::string text = fmt::format("  - id: {}\n", QuotedYaml(fault.id));
  if (!fault.after.empty()) {
    text += fmt::format("    after: {}\n", QuotedYaml(fault.after));
  }
  text += fmt::format("    at: {}\n    do: {}\n", SiteMap(fault).Text(),
                      FaultKindName(fault.kind));
  const FlowMap with = WithMap(fault);
  if (!with.empty()) text += fmt::format("    with: {}\n", with.Text());
  if (fault.with.until_step) {
    text += fmt::format("    until: {{step: {}}}\n", *fault.with.until_step);
  }
  return text;
}

}  // namespace gauntlet
