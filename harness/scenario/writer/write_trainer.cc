#include "harness/scenario/writer/write_trainer.h"

#include <string_view>
#include <vector>

#include "engine/text/units.h"
#include "harness/scenario/writer/flow_map.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

FlowMap TrainerFaultMap(const TrainerFault& fault) {
  FlowMap at;
  at.Add("file", QuotedYaml(fault.file));
  if (!fault.operation.empty()) at.Add("operation", fault.operation);
  at.AddUnless(uint64_t{1}, "occurrence", fault.occurrence);
  at.AddIf("rank", fault.rank);
  FlowMap map;
  map.Add("do", fault.kind);
  if (!fault.profile.empty()) map.Add("profile", fault.profile);
  map.AddMap("at", at);
  return map;
}

}  // namespace

std::string TrainerToYaml(const TrainerSetup& setup) {
  const TrainerSetup base;
  std::string out = "trainer:\n";
  const auto line = [&out](std::string_view key, std::string_view value) {
    out += fmt::format("  {}: {}\n", key, value);
  };
  const auto list = [&line](std::string_view key,
                            const std::vector<std::string>& texts) {
    if (!texts.empty()) line(key, QuotedYamlList(texts));
  };
  const auto text = [&line](std::string_view key, const std::string& value) {
    if (!value.empty()) line(key, QuotedYaml(value));
  };
  const auto time = [&line](std::string_view key, Duration fallback,
                            Duration value) {
    if (value != fallback) line(key, DurationToText(value));
  };
  list("command", setup.command);
  list("resume", setup.resume);
  list("result", setup.results);
  list("checkpoint", setup.checkpoints);
  text("result_command", setup.result_command);
  text("step_regex", setup.step_pattern);
  if (setup.has_shared_network) line("network", "shared");
  time("grace", base.grace, setup.grace);
  time("pause", base.pause, setup.pause);
  time("trial_limit", base.trial_limit, setup.trial_limit);
  out += "  faults:\n";
  for (const TrainerFault& fault : setup.faults) {
    out += fmt::format("    - {}\n", TrainerFaultMap(fault).Text());
  }
  return out;
}

}  // namespace gauntlet
