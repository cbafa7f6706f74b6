#include "harness/scenario/reader/read_trainer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "harness/scenario/trainer_setup.h"
#include "harness/trainer/text/program_output.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMostFaults = 100;
constexpr std::array<std::string_view, 7> kOwnKeys = {
    "schema", "name", "labels", "requires", "timeout", "expect", "trainer"};

void ReadCommand(const MapReader& map, std::vector<std::string>& out) {
  constexpr std::string_view key = "command";
  if (!map.TextList(key, out)) return;
  const bool has_place = std::ranges::any_of(out, [](const std::string& one) {
    return one.find("{out}") != std::string::npos;
  });
  if (has_place) return;
  map.Error(map.PlaceOf(key),
            "expected an argument with {out}, the directory that the program "
            "writes to, found none",
            "command: [python3, train.py, --out, '{out}']");
}

void ReadStepRegex(const MapReader& map, std::string& out) {
  constexpr std::string_view key = "step_regex";
  if (!map.Text(key, out)) return;
  const Status parsed = StepPattern::Parse(out).status();
  if (parsed.ok()) return;
  map.Error(map.PlaceOf(key), parsed.message(),
            "step_regex: 'resumed from step (\\d+)'");
}

void ReadTrainerFault(const MapReader& map, TrainerFault& fault) {
  if (!map.Choice("do", fault.kind) && map.Find("do") == nullptr)
    map.Error(map.PlaceOf("do"), "expected a `do`", "do: kill");
  if (map.Choice("profile", fault.profile) && fault.kind != "power")
    map.Error(map.PlaceOf("profile"), "expected with `do: power` only");
  const MapReader at = map.Map("at");
  at.Text("file", fault.file);
  at.Choice("operation", fault.operation);
  at.Count("occurrence", fault.occurrence);
  at.Count("rank", fault.rank);
  if (map.Find("at") == nullptr) {
    map.Error(map.PlaceOf("at"), "expected an `at`: the operation of the crash",
              "at: {file: 'ckpt-*', operation: rename}");
  }
}

void ReadExpected(const MapReader& document) {
  const MapReader expect = document.Map("expect");
  std::string outcome;
  const bool is_wanted =
      expect.Choice("outcome", outcome) && outcome == "recovers";
  const YamlNode* const node = document.Find("expect");
  if (is_wanted && node->entries.size() == 1) return;
  document.Error(
      document.PlaceOf("expect"),
      "expected `outcome: recovers` and nothing else, as the program is not "
      "Gauntlet's own training job",
      "expect: {outcome: recovers}");
}

}  // namespace

void ReadTrainer(const MapReader& document, const YamlNode& node, Case& one) {
  for (const YamlEntry& entry : node.entries) {
    if (std::ranges::find(kOwnKeys, entry.key) != kOwnKeys.end()) continue;
    document.Error(
        entry.place,
        fmt::format(
            "`{}` describes Gauntlet's own training job: not allowed beside "
            "`trainer`",
            entry.key),
        "remove it");
  }
  TrainerSetup setup;
  const MapReader map = document.Map("trainer");
  if (map.Find("command") == nullptr) {
    map.Error(map.PlaceOf("command"), "expected a `command`",
              "command: [python3, train.py, --out, '{out}']");
  }
  ReadCommand(map, setup.command);
  map.TextList("resume", setup.resume);
  map.NameList("result", setup.results);
  map.NameList("checkpoint", setup.checkpoints);
  map.Text("result_command", setup.result_command);
  ReadStepRegex(map, setup.step_pattern);
  std::string network;
  map.Choice("network", network);
  setup.has_shared_network = network == "shared";
  map.Time("grace", setup.grace);
  map.Time("pause", setup.pause);
  map.Time("trial_limit", setup.trial_limit);
  for (const MapReader& fault : map.Maps("faults", kMostFaults))
    ReadTrainerFault(fault, setup.faults.emplace_back());
  if (setup.faults.empty()) {
    map.Error(map.PlaceOf("faults"),
              "expected `faults`: crashes to come back "
              "from",
              "faults: [{do: kill, at: {file: 'ckpt-*', operation: rename}}]");
  }
  ReadExpected(document);
  one.trainer = std::move(setup);
}

}  // namespace gauntlet
