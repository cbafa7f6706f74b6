#include "harness/scenario/fault_writer.h"

#include <vector>

#include "harness/scenario/flow_map.h"
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
    map.Add("life", site.life == kAnyLife ? "any" : std::to_string(site.life));
  }
  map.AddIf("step", site.step);
  map.AddIf("epoch", site.epoch);
  map.Add("point", PointName(site.point));
  map.AddUnless(base.hit, "hit", site.hit);
  if (site.offset) map.Add("offset", OffsetToText(*site.offset));
  return map;
}

void AddTear(const FaultParameters& with, FlowMap& map) {
  const FaultParameters base;
  map.AddUnless(base.blocks, "blocks", with.blocks);
  if (with.keep != base.keep) {
    std::vector<int> blocks;
    for (int block = 0; block < 64; ++block) {
      if ((with.keep >> block & 1) != 0) blocks.push_back(block);
    }
    map.Add("keep", YamlList(blocks));
  }
  if (with.then != base.then) {
    map.Add("then", ChoiceName("with.torn_write.then", with.then));
  }
}

void AddNetwork(const FaultParameters& with, FlowMap& map) {
  const FaultParameters base;
  if (with.groups != base.groups) {
    std::vector<std::string> groups;
    for (const auto& group : with.groups) groups.push_back(YamlList(group));
    map.Add("groups", YamlList(groups));
  }
  if (with.way != base.way) {
    map.Add("way", ChoiceName("with.one_way.way", with.way));
  }
  map.AddUnless(base.percent, "percent", with.percent);
  map.AddUnless(base.jitter, "jitter", with.jitter);
  map.AddUnless(base.by, "by", with.by);
  if (with.direction != base.direction) {
    map.Add("direction",
            ChoiceName("with.clock_jump.direction", with.direction));
  }
}

// What a kind does not take stands at its default.
FlowMap WithMap(const Fault& fault) {
  const FaultParameters& with = fault.with;
  const FaultParameters base;
  FlowMap map;
  map.AddUnless(base.exit_code, "exit_code", with.exit_code);
  if (fault.kind == FaultKind::kSlow || fault.kind == FaultKind::kDelay) {
    map.Add("latency", DurationToText(with.latency));
  } else {
    map.AddUnless(base.latency, "latency", with.latency);
  }
  map.AddUnless(base.duration, "duration", with.duration);
  if (fault.kind == FaultKind::kPreempt) {
    map.Add("grace", DurationToText(with.grace));
    if (with.notice != base.notice) map.Add("by", NoticeByName(with.notice));
  }
  for (const FaultErrorInfo& info : AllFaultErrors()) {
    if (info.number == with.error && with.error != base.error) {
      map.Add("error", info.name);
    }
  }
  map.AddUnless(base.hits, "hits", with.hits);
  if (with.device_error != base.device_error) {
    map.Add("error", ChoiceName("with.gpu_error.error", with.device_error));
  }
  AddTear(with, map);
  AddNetwork(with, map);
  if (with.bytes != base.bytes)
    map.Add("bytes", fmt::format("{}B", with.bytes));
  if (with.offset != base.offset) map.Add("offset", OffsetToText(with.offset));
  map.AddUnless(base.bit, "bit", with.bit);
  if (with.times == FaultTimes::kAlways && !with.until_step) {
    map.Add("times", "always");
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
