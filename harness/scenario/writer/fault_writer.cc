#include "harness/scenario/writer/fault_writer.h"

#include <vector>

#include "chaos/inject/plan/fault_parameters.h"
#include "harness/scenario/writer/flow_map.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string OffsetToText(const FileOffset& offset) {
  return fmt::format("{}{}", offset.value,
                     offset.unit == OffsetUnit::kPercent ? "%" : "");
}

FlowMap SiteMap(const Fault& fault) {
  const FaultSite& site = fault.site;
  const FaultSite base;
  FlowMap map;
  if (site.worker != base.worker) map.Add("worker", WorkerName(site.worker));
  const int usual_life = fault.after.empty() ? base.life : kAnyLife;
  if (site.life != usual_life) {
    map.Add("incarnation",
            site.life == kAnyLife ? "any" : std::to_string(site.life));
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
  if (site.offset) map.Add("offset", OffsetToText(*site.offset));
  return map;
}

std::string BlocksToText(uint64_t mask) {
  std::vector<int> blocks;
  for (int block = 0; block < 64; ++block) {
    if ((mask >> block & 1) != 0) blocks.push_back(block);
  }
  return YamlList(blocks);
}

std::string GroupsToText(const std::vector<std::vector<int>>& all) {
  std::vector<std::string> groups;
  for (const auto& group : all) groups.push_back(YamlList(group));
  return YamlList(groups);
}

std::string ParameterToText(const FaultParameterInfo& parameter,
                            const FaultParameters& with) {
  return std::visit(
      OnPlace{[&](Duration FaultParameters::*duration) {
                return DurationToText(with.*duration);
              },
              [&](std::optional<Duration> FaultParameters::*duration) {
                return DurationToText((with.*duration).value_or(Duration(0)));
              },
              [&](FileOffset FaultParameters::*offset) {
                return OffsetToText(with.*offset);
              },
              [&](const BytesPlace& place) {
                return fmt::format("{}B", with.*place.bytes);
              },
              [&](const ChoicePlace& place) {
                return std::string(place.names()[place.get(with)]);
              },
              [&](const BlocksPlace& place) {
                return BlocksToText(with.*place.mask);
              },
              [&](const GroupsPlace& place) {
                return GroupsToText(with.*place.groups);
              },
              [&](auto number) { return fmt::format("{}", with.*number); }},
      parameter.place);
}

FlowMap WithMap(const Fault& fault) {
  const FaultParameters& with = fault.with;
  FlowMap map;
  for (const FaultParameterInfo& parameter : ParametersOf(fault.kind)) {
    if (parameter.is_required || !IsDefault(parameter, with)) {
      map.Add(parameter.name, ParameterToText(parameter, with));
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
