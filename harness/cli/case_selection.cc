#include "harness/cli/case_selection.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "engine/real/posix_storage.h"
#include "harness/cli/demo_scenarios.h"
#include "harness/cli/flags.h"
#include "harness/cli/label_expression.h"
#include "harness/cli/run_directory.h"
#include "harness/cli/scenario_files.h"
#include "harness/cli/shard_flag.h"
#include "harness/record/result_file.h"
#include "harness/run/text_file.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

void LoadText(std::string_view text, const std::string& name,
              LoadedScenarios& loaded) {
  LoadedFile file = LoadScenarios(text, name);
  loaded.notes += RenderOldSpellings(file, name);
  loaded.notes += RenderWarnings(file, name, text);
  if (!file.errors.empty()) {
    loaded.errors += RenderErrors(file, name, text);
    return;
  }
  loaded.scenarios += file.scenarios.size();
  std::move(file.cases.begin(), file.cases.end(),
            std::back_inserter(loaded.cases));
}

// Each has a folder of its name. kInvalidArgument: two have one name.
Status CheckNames(const std::vector<SuiteItem>& items) {
  std::map<std::pair<std::string_view, WorldKind>, const Case*> by_name;
  for (const SuiteItem& item : items) {
    const Case& one = item.one;
    const auto [other, is_new] = by_name.emplace(
        std::pair(std::string_view(one.name), item.world), &one);
    if (is_new) continue;
    return InvalidArgument(fmt::format(
        "two cases have the name {}, expected one: {}:{} and {}:{}", one.name,
        other->second->file, other->second->line, one.file, one.line));
  }
  return OkStatus();
}

// The cases that did not hold in the last run, by name and world.
using CaseKeys = std::set<std::pair<std::string, std::string>>;

// Returns the name of the case that a repetition is of: "a" for "a(2of3)".
std::string_view WithoutTime(std::string_view name) {
  const size_t begin = name.rfind('(');
  const std::string_view time =
      begin == name.npos ? std::string_view() : name.substr(begin + 1);
  const size_t of = time.find("of");
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  const bool is_time = time.ends_with(')') && of != time.npos &&
                       is_number(time.substr(0, of)) &&
                       is_number(time.substr(of + 2, time.size() - of - 3));
  return is_time ? name.substr(0, begin) : name;
}

Result<CaseKeys> LastFailures(const RunCommand& command) {
  const fs::path file =
      fs::path(command.runs_directory) / "latest" / kResultFileName;
  std::error_code error;
  if (!fs::exists(file, error)) {
    return InvalidArgument(fmt::format("--last-failed: no earlier run in {}",
                                       command.runs_directory));
  }
  const Parsed<RunResult> last = ReadResult(ReadTextFile(file), file.string());
  if (!last.ok()) {
    return InvalidArgument("--last-failed: " + last.error);
  }
  CaseKeys failed;
  for (const CaseResult& one : last.value->cases) {
    if (one.verdict.kind == VerdictKind::kFail ||
        one.verdict.kind == VerdictKind::kError ||
        one.verdict.kind == VerdictKind::kNotRun) {
      failed.emplace(one.name, one.world);
      failed.emplace(WithoutTime(one.name), one.world);
    }
  }
  return failed;
}

// A life of the job on the CPU stays there.
void ComputeOn(DeviceKind device, Case& one) {
  KernelOptions& kernels = one.train.kernels;
  kernels.device = device;
  for (DeviceKind& of_life : kernels.device_by_life) {
    if (of_life != DeviceKind::kCpu) of_life = device;
  }
}

class Selection {
 public:
  explicit Selection(const RunCommand& command) : command_(command) {}

  Status Prepare(const std::function<const char*(const char*)>& variable) {
    for (const std::string& label : command_.labels) {
      ASSIGN_OR_RETURN(LabelMatcher matcher, ParseLabelExpression(label));
      labels_.push_back(std::move(matcher));
    }
    shard_ = command_.shard;
    if (shard_.count == 1) {
      ASSIGN_OR_RETURN(shard_, ShardFromEnvironment(variable));
    }
    if (!command_.last_failed) return OkStatus();
    ASSIGN_OR_RETURN(failed_before_, LastFailures(command_));
    return OkStatus();
  }

  std::vector<SuiteItem> Select(const std::vector<Case>& cases) const {
    std::vector<SuiteItem> items;
    for (const Case& one : cases) {
      if (!Wanted(one)) continue;
      if (command_.world != WorldChoice::kReal) {
        Add(one, WorldKind::kSimulated, items);
      }
      if (command_.world != WorldChoice::kSimulated) {
        Add(one, WorldKind::kReal, items);
      }
    }
    // A shard's own run says what failed there: the filter comes second.
    items = Shard(items);
    if (command_.last_failed) {
      std::erase_if(
          items, [this](const SuiteItem& item) { return !FailedBefore(item); });
    }
    return items;
  }

 private:
  bool Wanted(const Case& one) const {
    if (one.name.find(command_.name_filter) == one.name.npos) return false;
    return labels_.empty() ||
           std::ranges::any_of(labels_, [&](const LabelMatcher& matches) {
             return matches(one.labels);
           });
  }

  // A repetition did if any of its case did.
  bool FailedBefore(const SuiteItem& item) const {
    const std::string_view name = command_.repeat > 1
                                      ? WithoutTime(item.one.name)
                                      : std::string_view(item.one.name);
    return failed_before_.contains(
        {std::string(name), std::string(WorldKindName(item.world))});
  }

  void Add(const Case& one, WorldKind world,
           std::vector<SuiteItem>& items) const {
    for (int i = 1; i <= command_.repeat; ++i) {
      SuiteItem item = {.one = one, .world = world};
      if (command_.device) ComputeOn(*command_.device, item.one);
      if (command_.seed) item.one.seed = item.one.plan.seed = *command_.seed;
      if (command_.repeat > 1) {
        item.one.name += fmt::format("({}of{})", i, command_.repeat);
      }
      items.push_back(std::move(item));
    }
  }

  std::vector<SuiteItem> Shard(const std::vector<SuiteItem>& items) const {
    std::vector<SuiteItem> part;
    const auto count = static_cast<size_t>(shard_.count);
    const auto index = static_cast<size_t>(shard_.index) - 1;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i % count == index) part.push_back(items[i]);
    }
    return part;
  }

  const RunCommand& command_;
  std::vector<LabelMatcher> labels_;  // any of them; empty: all cases
  ShardChoice shard_;
  CaseKeys failed_before_;
};

}  // namespace

Result<LoadedScenarios> LoadScenarioFiles(
    const std::vector<std::string>& paths) {
  LoadedScenarios loaded;
  PosixStorage storage;
  ASSIGN_OR_RETURN(const std::vector<std::string> files,
                   FindScenarioFiles(storage, paths));
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text,
                     ReadFile(storage, file, kMaxScenarioBytes));
    LoadText(text, file, loaded);
  }
  return loaded;
}

LoadedScenarios LoadDemo() {
  LoadedScenarios loaded;
  for (const DemoScenario& demo : DemoScenarios()) {
    LoadText(demo.text, std::string(demo.name), loaded);
  }
  return loaded;
}

Result<std::vector<SuiteItem>> SelectCases(
    const RunCommand& command, const std::vector<Case>& cases,
    const std::function<const char*(const char*)>& variable) {
  Selection selection(command);
  RETURN_IF_ERROR(selection.Prepare(variable));
  std::vector<SuiteItem> items = selection.Select(cases);
  RETURN_IF_ERROR(CheckNames(items));
  return items;
}

}  // namespace gauntlet
