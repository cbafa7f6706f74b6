#include "harness/cli/help/doctor.h"

#include <algorithm>
#include <iterator>

#include "engine/cli/exit_code.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

std::string_view HealthName(Health health) {
  switch (health) {
    case Health::kGood:
      return "good";
    case Health::kMissing:
      return "missing";
    case Health::kBroken:
      return "broken";
  }
  return "?";
}

Ink InkOf(Health health) {
  switch (health) {
    case Health::kGood:
      return Ink::kGood;
    case Health::kMissing:
      return Ink::kWarning;
    case Health::kBroken:
      return Ink::kBad;
  }
  return Ink::kBad;
}

}  // namespace

std::string RenderProbes(const std::vector<Probe>& probes,
                         const TerminalStyle& style) {
  std::string text;
  for (const Probe& probe : probes) {
    // Pads before painting, as escape codes occupy no columns.
    const std::string health = fmt::format("{:<7}", HealthName(probe.health));
    text += fmt::format("{:<9} {}  {}", probe.name,
                        style.Paint(InkOf(probe.health), health), probe.found);
    if (!probe.consequence.empty()) text += " -> " + probe.consequence;
    text += '\n';
  }
  return text;
}

std::string ProbesToJson(const std::vector<Probe>& probes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Probe& probe : probes) {
    list.push_back({{"name", probe.name},
                    {"health", HealthName(probe.health)},
                    {"found", probe.found},
                    {"consequence", probe.consequence}});
  }
  return list.dump(2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

int RunDoctor(const DoctorCommand& command, Console& console) {
  std::vector<Probe> probes = {ProbeCpu(), ProbeDisk(), ProbeLoopback(),
                               ProbeFaultLibrary()};
  std::ranges::move(ProbeCuda(), std::back_inserter(probes));
  if (command.output == OutputFormat::kJson) {
    console.out << ProbesToJson(probes) << '\n';
  } else {
    console.out << RenderProbes(probes, console.out_style);
  }
  for (const Probe& probe : probes) {
    if (probe.health == Health::kBroken) {
      return static_cast<int>(ExitCode::kViolated);
    }
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace gauntlet
