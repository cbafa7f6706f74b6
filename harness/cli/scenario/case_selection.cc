#include "harness/cli/scenario/case_selection.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/cli/flags/flags.h"
#include "engine/real/storage/posix_storage.h"
#include "engine/utf8.h"
#include "harness/cli/flags/comma_list.h"
#include "harness/cli/flags/shard_flag.h"
#include "harness/cli/run_folders/last_failures.h"
#include "harness/cli/scenario/demo_scenarios.h"
#include "harness/cli/scenario/label_expression.h"
#include "harness/cli/scenario/scenario_files.h"
#include "harness/run/case_data.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/format/diagnostic.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

void LoadText(std::string_view text, const std::string& name,
              LoadedScenarios& loaded) {
  LoadedFile file = LoadScenarios(text, name);
  loaded.notes.push_back({.file = name,
                          .text = RenderOldSpellings(file, name) +
                                  RenderWarnings(file, name, text)});
  if (!file.errors.empty()) {
    loaded.errors += RenderErrors(file, name, text);
    return;
  }
  loaded.scenarios += file.scenarios.size();
  std::move(file.cases.begin(), file.cases.end(),
            std::back_inserter(loaded.cases));
}

// kInvalidArgument: two cases have the same name, which also names their
// folders.
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

// Returns a suggestion for a label that no case has. Other tools write `!a` for
// `not a`, and `a,b` for `a or b`.
std::string SuggestLabel(const std::string& label,
                         const std::set<std::string>& known) {
  if (label.starts_with('!')) {
    const std::string negated = label.substr(1);
    if (!known.contains(negated)) return "; write not in place of !";
    return fmt::format("; did you mean 'not {}'?", EscapeBytes(negated));
  }
  const std::vector<std::string> parts = SplitAtCommas(label);
  const bool is_list =
      parts.size() > 1 && std::ranges::all_of(parts, [&](const auto& part) {
        return known.contains(part);
      });
  if (is_list) {
    return fmt::format(
        "; did you mean '{}'?",
        EscapeBytes(fmt::format("{}", fmt::join(parts, " or "))));
  }
  return DidYouMean(label, {known.begin(), known.end()});
}

// Sets the device of the job, except in attempts that the case runs on the CPU.
void SetDevice(DeviceKind device, Case& one) {
  KernelOptions& kernels = one.train.kernels;
  kernels.device = device;
  for (DeviceKind& of_incarnation : kernels.device_per_attempt) {
    if (of_incarnation != DeviceKind::kCpu) of_incarnation = device;
  }
}

class Selector {
 public:
  explicit Selector(const RunCommand& command) : command_(command) {}

  Status Prepare(const std::function<const char*(const char*)>& variable) {
    for (const std::string& label : command_.labels) {
      Result<LabelMatcher> matcher = ParseLabelExpression(label);
      if (!matcher.ok()) return Annotate(matcher.status(), "--label");
      labels_.push_back(*std::move(matcher));
    }
    shard_ = command_.shard;
    if (shard_.count == 1) {
      ASSIGN_OR_RETURN(shard_, ShardFromEnvironment(variable));
    }
    if (!command_.last_failed) return OkStatus();
    ASSIGN_OR_RETURN(last_, FindLastFailures(command_.runs_directory));
    return OkStatus();
  }

  Selection Select(const std::vector<Case>& cases) const {
    std::vector<SuiteItem> items;
    size_t in_all = 0;
    for (const Case& one : cases) {
      const std::vector<WorldKind> worlds = WorldsOf(one);
      in_all += worlds.size();
      if (!Wanted(one)) continue;
      for (const WorldKind world : worlds) Add(one, world, items);
    }
    // Applies --last-failed after dividing into shards, because the earlier run
    // had the cases of this shard only.
    items = Shard(items);
    const std::vector<SuiteItem> all = items;
    if (command_.last_failed) {
      std::erase_if(
          items, [this](const SuiteItem& item) { return !FailedBefore(item); });
    }
    std::string hint;
    if (all.empty()) {
      hint = HintForEmptySelection(cases);
    } else if (items.empty()) {
      hint = HintForNoFailure(all);
    }
    return {.items = std::move(items),
            .of = in_all * static_cast<size_t>(command_.repeat),
            .is_shard = shard_.count > 1,
            .note = last_.note,
            .hint = std::move(hint)};
  }

 private:
  // Returns the requested worlds in which the case runs. A case with a trainer
  // runs in the real world only, unless only the simulated one is requested.
  std::vector<WorldKind> WorldsOf(const Case& one) const {
    if (command_.world == WorldChoice::kSimulated) {
      return {WorldKind::kSimulated};
    }
    if (command_.world == WorldChoice::kReal || one.trainer) {
      return {WorldKind::kReal};
    }
    return {WorldKind::kSimulated, WorldKind::kReal};
  }

  bool HasWantedName(const Case& one) const {
    return command_.names.empty() ||
           std::ranges::any_of(command_.names, [&one](const std::string& part) {
             return one.name.find(part) != one.name.npos;
           });
  }

  bool Wanted(const Case& one) const {
    if (!HasWantedName(one)) return false;
    return labels_.empty() ||
           std::ranges::any_of(labels_, [&](const LabelMatcher& matches) {
             return matches(one.labels);
           });
  }

  // Returns why --last-failed leaves none of the items.
  std::string HintForNoFailure(std::vector<SuiteItem> items) const {
    for (SuiteItem& item : items) {
      const WorldKind other = item.world == WorldKind::kReal
                                  ? WorldKind::kSimulated
                                  : WorldKind::kReal;
      item.world = other;
      if (!FailedBefore(item)) continue;
      return fmt::format(
          "; --last-failed: cases failed or did not run in the other world "
          "only (--world {})",
          WorldKindName(other));
    }
    return "; --last-failed: none of them failed in the last run";
  }

  // See Selection::hint.
  std::string HintForEmptySelection(const std::vector<Case>& cases) const {
    if (cases.empty()) return ": " + NoScenarioFileIn(command_.paths);
    const std::string label = UnknownLabel(cases);
    if (!label.empty() || std::ranges::any_of(cases, [this](const Case& one) {
          return HasWantedName(one);
        })) {
      return label;
    }
    std::vector<std::string> parts;
    for (const std::string& part : command_.names) {
      parts.push_back(Quoted(part));
    }
    return fmt::format("; -k: no case has {} in its name",
                       fmt::join(parts, " or "));
  }

  // Returns a hint on the first label of the expressions that no case has; ""
  // if each label has a case.
  std::string UnknownLabel(const std::vector<Case>& cases) const {
    std::set<std::string> known;
    for (const Case& one : cases) {
      known.insert(one.labels.begin(), one.labels.end());
    }
    for (const std::string& expression : command_.labels) {
      for (const std::string& label : LabelsIn(expression)) {
        if (known.contains(label)) continue;
        return fmt::format("; no case has the label {}{}", Quoted(label),
                           SuggestLabel(label, known));
      }
    }
    return "";
  }

  // Returns true iff the item failed in the last run. A repetition counts as
  // failed if any repetition of its case failed.
  bool FailedBefore(const SuiteItem& item) const {
    const std::string_view name = command_.repeat > 1
                                      ? WithoutTime(item.one.name)
                                      : std::string_view(item.one.name);
    return last_.cases.contains(
        {std::string(name), std::string(WorldKindName(item.world))});
  }

  void Add(const Case& one, WorldKind world,
           std::vector<SuiteItem>& items) const {
    for (int i = 1; i <= command_.repeat; ++i) {
      SuiteItem item = {.one = one, .world = world};
      SetDeviceAndSeed(item.one);
      if (command_.repeat > 1) {
        item.one.name += fmt::format("({}of{})", i, command_.repeat);
      }
      items.push_back(std::move(item));
    }
  }

  // Sets the device and the seed that the command names. Another program
  // (`trainer`) has neither.
  void SetDeviceAndSeed(Case& one) const {
    if (one.trainer) return;
    if (command_.device) SetDevice(*command_.device, one);
    if (command_.seed) one.seed = one.plan.seed = *command_.seed;
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
  std::vector<LabelMatcher> labels_;  // a case must match one; empty: all cases
  ShardChoice shard_;
  LastFailures last_;
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

Result<Selection> SelectCases(
    const RunCommand& command, const std::vector<Case>& cases,
    const std::function<const char*(const char*)>& variable) {
  Selector selector(command);
  RETURN_IF_ERROR(selector.Prepare(variable));
  Selection selection = selector.Select(cases);
  RETURN_IF_ERROR(CheckNames(selection.items));
  return selection;
}

std::string TextOf(const std::vector<FileNotes>& notes) {
  std::string text;
  for (const FileNotes& one : notes) text += one.text;
  return text;
}

std::string TextOfSelected(const std::vector<FileNotes>& notes,
                           const std::vector<SuiteItem>& items) {
  std::set<std::string_view> selected;
  for (const SuiteItem& item : items) selected.insert(item.one.file);
  std::string text;
  for (const FileNotes& one : notes) {
    if (selected.contains(one.file)) text += one.text;
  }
  return text;
}

std::string DataError(const std::vector<const Case*>& cases) {
  PosixStorage storage;
  CaseDataChecker checker(storage);
  for (const Case* one : cases) {
    const Status status = checker.Check(*one);
    if (status.ok()) continue;
    return RenderDiagnostic({one->data_place, status.message(), ""}, one->file,
                            ReadTextFile(one->file));
  }
  return "";
}

}  // namespace gauntlet
