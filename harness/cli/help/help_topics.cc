#include "harness/cli/help/help_topics.h"

#include <algorithm>
#include <array>

#include "chaos/inject/plan/fault_parameters.h"
#include "chaos/inject/plan/plan.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/flags/flag_synonyms.h"
#include "engine/cli/flags/help_page.h"
#include "engine/worker_exit_code.h"
#include "engine/world/fault_point.h"
#include "engine/world/time_split.h"
#include "harness/cli/help/catalog.h"
#include "harness/scenario/format/fault_synonyms.h"
#include "harness/scenario/format/keys.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string Entries(Catalog catalog) {
  std::vector<HelpEntry> entries;
  for (const CatalogEntry& entry : EntriesOf(catalog)) {
    entries.push_back({entry.name, entry.description});
  }
  return RenderHelpEntries(entries);
}

std::string PointsText() {
  return "Fault points: the named places in the engine where a fault can "
         "happen.\n"
         "A scenario gives the place in logical time, never in seconds:\n\n"
         "  at: {worker: 1, incarnation: 1, step: 40, point: ckpt.rename}\n"
         "  at: {worker: 1, point: ckpt.shard.write, save: 2, offset: 50%}\n\n"
         "occurrence: 3 is the third time that everything else in `at` "
         "matches, counted\nfrom 1 in each incarnation. save: 2 is the second "
         "save that this incarnation\nbegins. At a point that ends in .write, "
         "an occurrence is one file: its first\nblock, block: 2 (from 0) or "
         "the write that reaches offset: 50% (or bytes). With\nblock: any, "
         "each block is an occurrence.\n\n"
         "step: 40 is the step that training has reached. At ckpt.state.*, "
         "ckpt.retire.*\nand ckpt.end, and in an asynchronous save, training "
         "continues meanwhile. Then\nstep may be later than the step of the "
         "checkpoint, and depends on timing in real\nprocesses. Use save "
         "there.\n\n" +
         Entries(Catalog::kPoints);
}

std::string FaultsText() {
  return "Fault kinds: `do: NAME` in a scenario. Kinds that real processes "
         "cannot have are\nmarked; the simulated world has all of them. Common "
         "synonyms are understood (oom,\nenospc, sigkill, corrupt): gauntlet "
         "help synonyms. One kind with its parameters\nand an example: "
         "gauntlet help torn_write.\n\n" +
         Entries(Catalog::kFaults);
}

std::string InvariantsText() {
  return "Invariants: the checks of a run's record. A scenario names some of "
         "them\n(expect: {invariants: [NAME, …]}) or all. An invariant that "
         "had nothing to check\nis inconclusive. With two faults, one may "
         "prevent the other or delay an exit after\na notice: gauntlet run "
         "then reports fault-fired as inconclusive and grace as\nfailed. "
         "gauntlet explore skips both checks in plans with two or more faults."
         "\n\n" +
         Entries(Catalog::kInvariants);
}

std::string OutcomesText() {
  std::vector<HelpEntry> entries;
  for (const OutcomeInfo& info : AllOutcomes()) {
    entries.push_back({std::string(info.name), std::string(info.description)});
  }
  return "Outcomes: how a run can end. A scenario must name the outcome that "
         "it expects\n(expect: {outcome: NAME}).\n\n" +
         RenderHelpEntries(entries);
}

std::string PresetsText() {
  return "Presets: model, optimizer, data and epochs by name, for gauntlet "
         "train --preset\nNAME and for `preset: NAME` in a scenario (which has "
         "its own `epochs`). Flags\noverride a preset. Accuracy is that on the "
         "validation samples with one replica;\nseconds are CPU time of one "
         "worker with one thread.\n\n" +
         Entries(Catalog::kPresets);
}

std::string PlantedBugsText() {
  return "Planted bugs: known bugs that the engine runs with if a scenario "
         "says\nplanted_bugs: NAME. Such a mutation test passes only if the "
         "check that it names\nfails: expect: {outcome: violates, invariants: "
         "[NAME]}. In brackets: the\nsettings and faults of the scenario in "
         "scenarios/canary, with preset: tiny, in\nwhich it shows.\n\n" +
         Entries(Catalog::kPlantedBugs);
}

// Returns the values that the key may have, as ": a, b" or "; 1 to 64"; "" if
// the key has neither a short list nor bounds.
std::string KeyValues(const KeySpec& key) {
  if (!key.listed.empty()) return fmt::format(": {}", key.listed);
  const bool bounded = key.type == KeyType::kCount && key.high < KeySpec().high;
  return bounded ? fmt::format("; {} to {}", key.low, key.high) : "";
}

std::string KeyText(const KeySpec& key) {
  std::string text = fmt::format("{}{}", key.doc, KeyValues(key));
  if (!key.fallback.empty()) text += fmt::format(" ({})", key.fallback);
  return text;
}

// Returns the key as a scenario writes it. The table's "with.slow.latency" is
// "with.latency (slow)", and "with.slow" is "do: slow".
std::string WrittenKey(const KeySpec& key) {
  constexpr std::string_view kWith = "with.";
  if (!key.path.starts_with(kWith)) return std::string(key.path);
  const std::string_view rest = key.path.substr(kWith.size());
  const size_t dot = rest.find('.');
  if (dot == rest.npos) return fmt::format("do: {}", rest);
  return fmt::format("with.{} ({})", rest.substr(dot + 1), rest.substr(0, dot));
}

// Builds the topic from the table that the loader uses.
std::string ScenariosText() {
  std::string text =
      "Scenarios: YAML files. One scenario is one claim; a file may hold "
      "several, with\n--- between them. A whole one:\n\n"
      "  schema: gauntlet/v2\n"
      "  name: crash-in-a-shard\n"
      "  preset: tiny\n"
      "  job: {epochs: 4, replicas: 4}\n"
      "  cluster: {workers: 4}\n"
      "  checkpoint: {every: {steps: 5}}\n"
      "  faults:\n"
      "    - at: {worker: 1, save: 2, point: ckpt.shard.write, offset: 50%}\n"
      "      do: crash\n"
      "  expect: {outcome: recovers, resumed_from: {step: 5}}\n\n"
      "The parameters of a fault stand directly in its `with`. Those of each "
      "kind are at\nthe end of the list, after `do: KIND`:\n\n"
      "    - at: {worker: 1, step: 10}\n"
      "      do: slow\n"
      "      with: {latency: 2s, repeat: always}\n\n"
      "Every key, with its default in parentheses:\n\n";
  for (const KeySpec& key : AllKeys()) {
    text += fmt::format("  {:<34} {}\n", WrittenKey(key), KeyText(key));
  }
  return text +
         "\nmatrix: dotted paths of other keys, each with a list of values: "
         "{cluster.workers:\n[1, 2, 4]} gives three cases. A mutation test has "
         "planted_bugs: BUG\nand expect: {outcome: violates, invariants: "
         "[NAME]}. Examples: scenarios/smoke,\nscenarios/canary.\n";
}

HelpEntry ExitCodeEntry(int code, std::string_view meaning) {
  return {fmt::format("{:>3}", code), std::string(meaning)};
}

std::string ExitCodesText() {
  std::vector<HelpEntry> commands;
  for (const ExitCodeInfo& info : AllExitCodes()) {
    commands.push_back(
        ExitCodeEntry(static_cast<int>(info.code), info.meaning));
  }
  std::vector<HelpEntry> workers;
  for (const WorkerExitInfo& info : kWorkerExits) {
    workers.push_back(ExitCodeEntry(static_cast<int>(info.exit), info.meaning));
  }
  return "Exit codes, of all commands:\n\n" + RenderHelpEntries(commands) +
         "\nIf several apply: the first of 130, 2, 1, 3, 5, 6.\n\n"
         "Exit codes of workers, in messages such as \"worker 0 exited with "
         "code 74\":\n\n" +
         RenderHelpEntries(workers) +
         fmt::format(
             "\nA worker that a scenario crashes (do: crash) exits with "
             "{}, or with.exit_code.\nA worker that is killed exits with {}.\n",
             FaultParameters().exit_code, static_cast<int>(ExitCode::kKilled));
}

std::string SynonymsText() {
  std::vector<HelpEntry> faults;
  for (const FaultKindInfo& info : AllFaultKinds()) {
    const std::vector<std::string> names = SynonymsOf(info.kind);
    if (names.empty()) continue;
    faults.push_back(
        {std::string(info.name), fmt::format("{}", fmt::join(names, ", "))});
  }
  std::vector<HelpEntry> flags;
  for (const FlagSynonym& synonym : AllFlagSynonyms()) {
    std::string text(synonym.use == SynonymUse::kReplaced ? synonym.option
                                                          : synonym.advice);
    flags.push_back({std::string(synonym.name), std::move(text)});
  }
  return "Words from other tools. A note names the word of gauntlet.\n\n"
         "Fault kinds (`do:` in a scenario; case does not matter, and the name "
         "of an error,\nsuch as ENOSPC, is errno with that error):\n" +
         RenderHelpEntries(faults) + "\nOptions:\n" + RenderHelpEntries(flags);
}

// Meanings, indexed by TimePart.
constexpr std::array<std::string_view, kTimeParts> kPartMeanings = {
    "step: forward and backward pass",
    "step: sum of the gradients over the workers; save: their messages",
    "step: optimizer",
    "step: evaluation before it",
    "step: training waited for saves before it",
    "reports, events, callbacks",
    "save: state from the device",
    "save: digests of the state and its files; start: digest of a survivor's "
    "state",
    "save: folder of the checkpoint",
    "save: copy that an async save writes from",
    "save: training waited for a task of the save",
    "save: file of this worker",
    "save: fsync of that file",
    "save: index, manifest and rename, with their fsyncs; or removal",
    "save: list of checkpoints",
    "save: removal of old checkpoints",
    "start: data, model, store and arrays; weights of a new run",
    "start: until all workers have arrived",
    "start: claim of a generation, with the chosen checkpoint verified",
    "start: checkpoint read",
    "start: state received from another worker",
    "start: agreement on the state to start from",
};

std::string TimesText() {
  std::vector<HelpEntry> entries;
  for (size_t i = 0; i < kTimeParts; ++i) {
    entries.push_back({std::string(TimePartName(static_cast<TimePart>(i))),
                       std::string(kPartMeanings.at(i))});
  }
  return "Times: where the time of training, saves and starts goes, in parts "
         "with nothing\nbetween them. On a GPU, queued work counts in the part "
         "that waits for it.\n\n"
         "  --events DIR   `step` has parts_ns since the step before; "
         "`save_times` has parts_ns\n"
         "                 (training waited) and background_ns (tasks); "
         "`start_times`\n"
         "                 has parts_ns from the start of the worker, or its "
         "last generation,\n"
         "                 until training begins\n"
         "  --json         `times`: sums over the steps and saves of the "
         "chief's last process\n"
         "  --tensorboard  time/compute, time/save, ...: seconds a step\n\n" +
         RenderHelpEntries(entries);
}

std::string TutorialText() {
  return "Tutorial: docs/tutorial.md in the sources of gauntlet. In five "
         "minutes it leads\nfrom a blank file to a failing scenario of your "
         "own, and to the report that\nnames the cause.\n\n"
         "Without the sources: gauntlet run --demo shows what a run prints, "
         "and\ngauntlet help scenarios has a whole scenario and every key.\n";
}

struct Topic {
  std::string_view name;
  std::string (*text)();
};

constexpr std::array kTopics = {
    Topic{"scenarios", ScenariosText},
    Topic{"points", PointsText},
    Topic{"faults", FaultsText},
    Topic{"invariants", InvariantsText},
    Topic{"outcomes", OutcomesText},
    Topic{"presets", PresetsText},
    Topic{"planted-bugs", PlantedBugsText},
    Topic{"exit-codes", ExitCodesText},
    Topic{"synonyms", SynonymsText},
    Topic{"times", TimesText},
    Topic{"tutorial", TutorialText},
    Topic{"json-schema", ScenarioJsonSchema},
};

// Returns a fault of this kind as written in a scenario, with required
// parameters.
std::string FaultExample(FaultKind kind) {
  std::string with;
  for (const FaultParameterInfo& parameter : ParametersOf(kind)) {
    if (parameter.example.empty()) continue;
    with += fmt::format("      with: {{{}: {}}}\n", parameter.name,
                        parameter.example);
  }
  if (kind == FaultKind::kPreempt) {
    with = "      with: {profile: k8s}\n";
  } else if (kind == FaultKind::kErrno) {
    with = "      with: {error: ENOSPC}\n";
  }
  return fmt::format("  faults:\n    - at: {{worker: 1, {}}}\n      do: {}\n{}",
                     InfoOf(kind).target == FaultTarget::kStorage
                         ? "save: 2, point: ckpt.shard.write"
                         : "step: 10, point: step.begin",
                     FaultKindName(kind), with);
}

// Returns "a, b, c" for "a|b|c", so that lines can be wrapped.
std::string WithCommas(std::string_view listed) {
  std::string text;
  for (const char c : listed) {
    if (c == '|') {
      text += ", ";
    } else {
      text += c;
    }
  }
  return text;
}

std::string FaultText(const FaultKindInfo& info) {
  std::string text =
      fmt::format("{} (fault kind): {}.\n", info.name, info.description);
  if (!info.why_not_real.empty()) {
    text += fmt::format("Simulated only: {}.\n", info.why_not_real);
  }
  std::vector<HelpEntry> parameters;
  const std::string map = fmt::format("with.{}", info.name);
  for (const std::string& name : KeysOf(map)) {
    parameters.push_back(
        {name, WithCommas(KeyText(*FindKey(map + "." + name)))});
  }
  text += "\nParameters, in `with: {…}`, with defaults in parentheses:\n" +
          RenderHelpEntries(parameters);
  const std::vector<std::string> synonyms = SynonymsOf(info.kind);
  if (!synonyms.empty()) {
    text += fmt::format("\nAlso understood: {}.\n", fmt::join(synonyms, ", "));
  }
  return text + "\nExample:\n" + FaultExample(info.kind);
}

std::optional<std::string> HelpOnFault(std::string_view name) {
  for (const FaultKindInfo& info : AllFaultKinds()) {
    if (info.name == name) return FaultText(info);
  }
  const std::optional<FaultSynonym> synonym = FindFaultSynonym(name);
  if (!synonym) return std::nullopt;
  std::string meaning(FaultKindName(synonym->kind));
  if (!synonym->parameter.empty()) {
    meaning +=
        fmt::format(" with {{{}: {}}}", synonym->parameter, synonym->value);
  }
  return fmt::format("{} is understood as {}.\n\n{}", name, meaning,
                     *HelpOnFault(FaultKindName(synonym->kind)));
}

// Returns the meaning of `step` at the point, if it differs from that at other
// points.
std::string StepNote(Point point) {
  if (!IsTailOfSave(point)) return "";
  return "\nTraining may continue while the chief is at this point, also in a "
         "synchronous\nsave: `step` in `at` is the step that training has "
         "reached, not that of the\ncheckpoint. Use `save: N`, which selects "
         "the N-th save.\n";
}

// Returns help on the key of this name and on the keys below it. If there is no
// such key, returns help on all keys that end in ".NAME" and on the parameters
// written as NAME ("with.latency"), or nullopt if there are none.
std::optional<std::string> HelpOnKey(std::string_view name) {
  const std::string below = fmt::format("{}.", name);
  const std::string end = fmt::format(".{}", name);
  const std::string parameter = fmt::format("{} (", name);
  std::vector<HelpEntry> whole;
  std::vector<HelpEntry> ends;
  for (const KeySpec& key : AllKeys()) {
    const std::string written = WrittenKey(key);
    const HelpEntry entry = {written, WithCommas(KeyText(key))};
    if (key.path == name || key.path.starts_with(below)) whole.push_back(entry);
    if (key.path.ends_with(end) || written.starts_with(parameter)) {
      ends.push_back(entry);
    }
  }
  const std::vector<HelpEntry>& entries = whole.empty() ? ends : whole;
  if (entries.empty()) return std::nullopt;
  return fmt::format("{} ({} of a scenario, with {} in parentheses):\n{}", name,
                     entries.size() == 1 ? "key" : "keys",
                     entries.size() == 1 ? "its default" : "their defaults",
                     RenderHelpEntries(entries));
}

std::optional<std::string> HelpOnOutcome(std::string_view name) {
  for (const OutcomeInfo& info : AllOutcomes()) {
    if (info.name != name) continue;
    return fmt::format("{0} (outcome): {1}.\n\n  expect: {{outcome: {0}}}\n",
                       name, info.description);
  }
  return std::nullopt;
}

struct DescribedCatalog {
  Catalog catalog;
  std::string_view noun;
};

constexpr std::array kDescribed = {
    DescribedCatalog{Catalog::kFaults, "fault kind"},
    DescribedCatalog{Catalog::kPoints, "fault point"},
    DescribedCatalog{Catalog::kInvariants, "invariant"},
    DescribedCatalog{Catalog::kPresets, "preset"},
    DescribedCatalog{Catalog::kPlantedBugs, "planted bug"},
};

}  // namespace

std::vector<std::string> HelpTopics() {
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) names.emplace_back(topic.name);
  return names;
}

std::optional<std::string> HelpOnTopic(std::string_view topic) {
  const auto* found = std::ranges::find(kTopics, topic, &Topic::name);
  if (found == kTopics.end()) return std::nullopt;
  return found->text();
}

std::vector<std::string> DescribedNames() {
  std::vector<std::string> names;
  for (const DescribedCatalog& one : kDescribed) {
    for (const CatalogEntry& entry : EntriesOf(one.catalog)) {
      names.push_back(entry.name);
    }
  }
  for (const OutcomeInfo& info : AllOutcomes()) names.emplace_back(info.name);
  for (const KeySpec& key : AllKeys()) {
    const bool is_topic =
        std::ranges::find(kTopics, key.path, &Topic::name) != kTopics.end();
    if (!is_topic) names.emplace_back(key.path);
  }
  return names;
}

std::optional<std::string> HelpOnName(std::string_view name) {
  if (auto fault = HelpOnFault(name)) return fault;
  const std::string_view advice = AdviceOnFaultName(name);
  if (!advice.empty()) return fmt::format("{}: {}.\n", name, advice);
  for (const DescribedCatalog& one : kDescribed) {
    for (const CatalogEntry& entry : EntriesOf(one.catalog)) {
      if (entry.name != name) continue;
      const std::optional<Point> point =
          one.catalog == Catalog::kPoints ? FindPoint(name) : std::nullopt;
      return fmt::format("{} ({}): {}.\n{}", name, one.noun, entry.description,
                         point ? StepNote(*point) : "");
    }
  }
  if (auto outcome = HelpOnOutcome(name)) return outcome;
  return HelpOnKey(name);
}

}  // namespace gauntlet
