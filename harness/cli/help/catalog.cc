#include "harness/cli/help/catalog.h"

#include <algorithm>

#include "chaos/inject/plan/fault_parameters.h"
#include "engine/check.h"
#include "engine/job/job.h"
#include "engine/job/preset_run.h"
#include "engine/world/fault_point.h"
#include "harness/record/invariants.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

template <typename Infos>
std::vector<CatalogEntry> Named(const Infos& infos) {
  std::vector<CatalogEntry> entries;
  for (const auto& info : infos) {
    entries.push_back({std::string(info.name), std::string(info.description)});
  }
  return entries;
}

// Returns the kind's parameters, such as "blocks, keep, then". Marks those that
// a scenario must give.
std::string ParametersText(FaultKind kind) {
  std::vector<std::string> names;
  for (const FaultParameterInfo& parameter : ParametersOf(kind)) {
    std::string name(parameter.name);
    // A scenario may name a cluster manager in place of a grace period.
    if (kind == FaultKind::kPreempt && name == "grace") name += " or profile";
    if (parameter.is_required) name += " (required)";
    names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Returns the fault kinds, with their parameters and worlds.
std::vector<CatalogEntry> Faults() {
  std::vector<CatalogEntry> entries;
  for (const FaultKindInfo& info : AllFaultKinds()) {
    std::string description(info.description);
    if (const std::string names = ParametersText(info.kind); !names.empty()) {
      description += fmt::format(" (with: {})", names);
    }
    if (!info.why_not_real.empty()) {
      description += fmt::format(" [simulated only: {}]", info.why_not_real);
    }
    entries.push_back({std::string(info.name), std::move(description)});
  }
  return entries;
}

// Returns the presets, with the data, the length and the result of the run.
std::vector<CatalogEntry> Presets() {
  std::vector<CatalogEntry> entries;
  for (const PresetInfo& info : AllPresets()) {
    const PresetRun& run = PresetRunOf(info.name);
    const DataSpec data = PresetJob(info.name)->data;
    entries.push_back(
        {std::string(info.name),
         fmt::format("{}; {} digits of {}x{} pixels; {} epochs: accuracy about "
                     "{}%, about {} s; {}",
                     info.description, data.samples, data.side, data.side,
                     run.epochs, run.accuracy_percent, run.seconds,
                     run.purpose)});
  }
  return entries;
}

// Returns the planted bugs, each with the settings and faults under which it
// has an effect.
std::vector<CatalogEntry> PlantedBugs() {
  std::vector<CatalogEntry> entries;
  for (const PlantedBugInfo& info : AllPlantedBugs()) {
    entries.push_back(
        {std::string(info.name),
         fmt::format("{}; shows when {} [shows with {}]", info.description,
                     info.shows_when, info.shows_with)});
  }
  return entries;
}

}  // namespace

std::vector<CatalogEntry> EntriesOf(Catalog catalog) {
  switch (catalog) {
    case Catalog::kPresets:
      return Presets();
    case Catalog::kPoints:
      return Named(AllPoints());
    case Catalog::kFaults:
      return Faults();
    case Catalog::kInvariants:
      return Named(AllInvariants());
    case Catalog::kPlantedBugs:
      return PlantedBugs();
    case Catalog::kScenarios:
      break;
  }
  CHECK(false, "scenarios are files, not entries");
}

std::string RenderEntries(const std::vector<CatalogEntry>& entries) {
  size_t width = 0;
  for (const CatalogEntry& entry : entries) {
    width = std::max(width, entry.name.size());
  }
  std::string text;
  for (const CatalogEntry& entry : entries) {
    text += fmt::format("{:<{}}  {}\n", entry.name, width, entry.description);
  }
  return text;
}

}  // namespace gauntlet
