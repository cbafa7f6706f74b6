#include "tests/harness/mutation/passing_records.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/run/case_runner.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/requirements.h"
#include "harness/scenario/run_setup.h"

namespace gauntlet {

namespace fs = std::filesystem;

std::vector<std::string> FindSuiteFiles(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".yaml") continue;
    if (path.parent_path().filename() == "peers") continue;
    files.push_back(path.string());
  }
  std::ranges::sort(files);
  return files;
}

Result<std::vector<Case>> LoadCases(const std::vector<std::string>& files) {
  std::vector<Case> cases;
  for (const std::string& file : files) {
    const std::string text = ReadTextFile(file);
    LoadedFile loaded = LoadScenarios(text, file);
    if (!loaded.errors.empty()) {
      return InvalidArgument(RenderErrors(loaded, file, text));
    }
    std::ranges::move(loaded.cases, std::back_inserter(cases));
  }
  return cases;
}

Fitness FitnessOf(const Case& one) {
  if (!one.plan.bugs.empty() || one.expect.outcome == Outcome::kViolates) {
    return Fitness::kPlantedBug;
  }
  Capabilities here = CapabilitiesOf(WorldKind::kSimulated);
  here.disk_bytes = UINT64_MAX;
  return WhyNotHere(one, here).empty() ? Fitness::kFits : Fitness::kNotHere;
}

Result<Record> CaseRecorder::Run(const Case& one) {
  const RunPlan plan = PlanOf(one);
  Record record = RecordHead(one);
  record.world = WorldKindName(WorldKind::kSimulated);
  record.expect = {.outcome = one.expect.outcome};
  ASSIGN_OR_RETURN(const auto golden, references_.GoldenFor(plan));
  record.golden = *golden;
  ASSIGN_OR_RETURN(const auto data, references_.DataOf(plan.train.job.data));
  if (memo_ == nullptr) {
    memo_ = std::make_unique<RunMemo>(plan.train.job, *data);
  }
  AdoptLog(RunSimulated(pool_, plan, *data, memo_.get()), record);
  return record;
}

}  // namespace gauntlet
