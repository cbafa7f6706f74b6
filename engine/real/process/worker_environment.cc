#include "engine/real/process/worker_environment.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <unistd.h>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 9> kClusterNames = {
    "TF_CONFIG",        "RANK",       "WORLD_SIZE",
    "LOCAL_RANK",       "GROUP_RANK", "GROUP_WORLD_SIZE",
    "LOCAL_WORLD_SIZE", "ROLE_RANK",  "JOB_COMPLETION_INDEX"};
constexpr std::array<std::string_view, 8> kClusterPrefixes = {
    "MASTER_", "PET_", "TORCHELASTIC_", "SLURM_",
    "OMPI_",   "PMI_", "PMIX_",         "PRTE_"};

bool TellsPlace(std::string_view name) {
  return std::ranges::find(kClusterNames, name) != kClusterNames.end() ||
         std::ranges::any_of(kClusterPrefixes, [&](std::string_view prefix) {
           return name.starts_with(prefix);
         });
}

}  // namespace

std::vector<std::string> WorkerEnvironment(
    const std::vector<std::string>& inherited,
    const std::vector<std::string>& added) {
  std::vector<std::string> environment;
  for (const std::string& entry : inherited) {
    const bool replaced =
        std::ranges::any_of(added, [&](const std::string& other) {
          return VariableName(other) == VariableName(entry);
        });
    if (!replaced && !TellsPlace(VariableName(entry)))
      environment.push_back(entry);
  }
  environment.insert(environment.end(), added.begin(), added.end());
  return environment;
}

std::string_view VariableName(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

std::vector<std::string> ProcessEnvironment() {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  return environment;
}

}  // namespace gauntlet
