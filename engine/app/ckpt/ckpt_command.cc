#include "engine/app/ckpt/ckpt_command.h"

#include <algorithm>
#include <filesystem>

#include "engine/app/ckpt/trained_checkpoint.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/cli/exit_code.h"
#include "engine/epoch_text.h"
#include "engine/world/directories.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string Size(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const double kib = static_cast<double>(bytes) / 1024.0;
  return kib < 1024.0 ? fmt::format("{:.1f} KiB", kib)
                      : fmt::format("{:.1f} MiB", kib / 1024.0);
}

std::string Age(int64_t seconds) {
  if (seconds < 0) return "from the future";
  if (seconds < 120) return fmt::format("{} s ago", seconds);
  if (seconds < 7200) return fmt::format("{} min ago", seconds / 60);
  if (seconds < 172'800) return fmt::format("{} h ago", seconds / 3600);
  return fmt::format("{} days ago", seconds / 86'400);
}

bool IsGood(const CheckpointReport& report) {
  return report.lineage == LineageState::kCurrent && report.verdict.ok();
}

// kOneCheckpoint: the user named one checkpoint, so the output does not state
// where a run would resume.
enum class Scope : uint8_t { kStore, kOneCheckpoint };

// Returns a line that states how a run would begin if it were started now.
std::string StartText(const StoreReport& store) {
  if (!store.start.ok()) {
    return fmt::format("a run stops: {}\n", store.start.message());
  }
  const auto next =
      std::ranges::find_if(store.checkpoints, &CheckpointReport::next);
  if (next == store.checkpoints.end()) return "a run starts from scratch\n";
  return fmt::format("a run resumes from {}{}\n", next->name,
                     next->verified ? "" : " if its bytes verify");
}

void PrintStore(const StoreReport& store, Scope scope, OutputFormat output,
                Console& console) {
  if (output == OutputFormat::kJson) {
    console.out << ReportsToJson(store.checkpoints) << '\n';
  } else {
    console.out << RenderReports(store.checkpoints, console.out_style);
  }
  if (scope == Scope::kOneCheckpoint) return;
  if (output == OutputFormat::kText) {
    console.out << StartText(store);
  } else if (!store.start.ok()) {
    console.err << StartText(store);
  }
  if (!store.state_file.empty()) {
    fmt::print(console.err, "{}\n", store.state_file);
  }
  for (const std::string& line : store.missing) {
    fmt::print(console.err, "{}\n", line);
  }
}

// Returns the exit code. If no run can start in the checkpoint directory, this
// is the code for the error that prevents the start, even if checkpoints are
// damaged too.
ExitCode CodeOf(const StoreReport& store, Scope scope) {
  if (scope == Scope::kStore && !store.start.ok()) {
    return ExitForInspect(store.start);
  }
  if (scope == Scope::kStore && store.checkpoints.empty()) {
    return ExitCode::kOk;
  }
  if (std::ranges::none_of(store.checkpoints, IsGood)) {
    return ExitCode::kNoCheckpoint;
  }
  const bool any_bad = std::ranges::any_of(
      store.checkpoints, [](const CheckpointReport& report) {
        return report.lineage == LineageState::kCurrent && !report.verdict.ok();
      });
  const bool any_missing = scope == Scope::kStore && !store.missing.empty();
  return any_bad || any_missing ? ExitCode::kViolated : ExitCode::kOk;
}

// Inspects a checkpoint directory. kNotFound: no entry has a name such as
// gen-000001 or step-000000005-g1, so it is not a checkpoint directory.
Result<StoreReport> Inspect(World& world, const std::string& directory,
                            InspectDepth depth) {
  ASSIGN_OR_RETURN(const auto entries, world.storage.List(directory));
  const bool is_store =
      std::ranges::any_of(entries, [](const DirectoryEntry& entry) {
        return ParseEntryName(entry.name).kind != EntryKind::kOther;
      });
  if (!is_store) {
    return NotFound(directory +
                    ": no checkpoint store here: expected entries such as "
                    "gen-000001 or step-000000005-g1, found none");
  }
  return InspectStore(world, directory, depth);
}

// Returns kInvalidArgument if the path is a checkpoint directory instead of one
// checkpoint.
Status CheckIsNoStore(World& world, const std::string& path) {
  const auto entries = world.storage.List(path);
  if (!entries.ok()) return OkStatus();
  const auto checkpoint = std::ranges::find(
      *entries, EntryKind::kCheckpoint, [](const DirectoryEntry& entry) {
        return ParseEntryName(entry.name).kind;
      });
  if (checkpoint == entries->end()) return OkStatus();
  return InvalidArgument(
      fmt::format("{}: expected a checkpoint, found a store; name one, such as "
                  "{}/{}",
                  path, WithoutLastSlashes(path), checkpoint->name));
}

// Returns the verdict as text. All texts that one command can print have the
// same width.
std::string PaintedVerdict(const CheckpointReport& report,
                           const TerminalStyle& style) {
  if (!report.verdict.ok()) return style.Paint(Ink::kBad, "bad         ");
  if (report.verified) return style.Paint(Ink::kGood, "good        ");
  return "not verified";
}

std::string DifferenceText(const TensorDifference& difference) {
  if (!difference.kind.empty()) {
    return fmt::format("{}: {}\n", difference.name, difference.kind);
  }
  const std::string ulps =
      difference.ulps ? fmt::format(" ({} ulp)", *difference.ulps) : "";
  return fmt::format("{}: {} of {} elements differ, first [{}]: {} {}{}\n",
                     difference.name, difference.differing, difference.elements,
                     difference.first_element, difference.first_hex,
                     difference.second_hex, ulps);
}

// Returns true if the checkpoint is good, false if it is bad, and null if its
// manifest is valid but its bytes were not read.
Json GoodToJson(const CheckpointReport& report) {
  if (!report.verdict.ok()) return false;
  return report.verified ? Json(true) : Json(nullptr);
}

Json DifferenceJson(const TensorDifference& difference) {
  Json json = {{"name", difference.name},
               {"kind", difference.kind},
               {"elements", difference.elements},
               {"differing", difference.differing},
               {"first_element", difference.first_element},
               {"first", difference.first_hex},
               {"second", difference.second_hex},
               {"ulps", nullptr}};
  if (difference.ulps) json["ulps"] = *difference.ulps;
  return json;
}

}  // namespace

int FailCheckpointCommand(Console& console, std::string_view verb,
                          const Status& status) {
  fmt::print(console.err, "gauntlet ckpt {}: {}\n", verb, status.message());
  return static_cast<int>(ExitForInspect(status));
}

std::string RenderReports(const std::vector<CheckpointReport>& reports,
                          const TerminalStyle& style) {
  std::string text;
  for (const CheckpointReport& report : reports) {
    const bool good = report.verdict.ok();
    text += fmt::format("{:<28} {}  {:<8}", report.name,
                        PaintedVerdict(report, style),
                        LineageStateName(report.lineage));
    text +=
        good ? fmt::format("  {}, {}, {}, state {}",
                           EpochsCompleted(report.epoch), Size(report.bytes),
                           Age(report.age_seconds), report.state_digest.Short())
             : "  " + report.verdict.message();
    if (good && report.not_finite_since) {
      text +=
          fmt::format(", non-finite since step {}", *report.not_finite_since);
    }
    text += '\n';
  }
  return text;
}

std::string ReportsToJson(const std::vector<CheckpointReport>& reports) {
  Json list = Json::array();
  for (const CheckpointReport& report : reports) {
    list.push_back({{"name", report.name},
                    {"good", GoodToJson(report)},
                    {"verified", report.verified},
                    {"lineage", LineageStateName(report.lineage)},
                    {"reason", report.verdict.message()},
                    {"next", report.next},
                    {"step", report.step},
                    {"epoch", report.epoch},
                    {"generation", report.written_by},
                    {"resumed_by", report.resumed_by},
                    {"bytes", report.bytes},
                    {"state_digest", report.state_digest.ToString()},
                    {"finite", !report.not_finite_since}});
    if (report.not_finite_since) {
      list.back()["first_nonfinite_step"] = *report.not_finite_since;
    }
  }
  return Dump(list);
}

namespace {

// Returns kNotFound if nothing exists at the path, not even a link.
Status CheckIsThere(World& world, const std::string& path) {
  const Status listed = world.storage.List(path).status();
  std::error_code ignored;
  if (listed.code() != Code::kNotFound ||
      std::filesystem::is_symlink(path, ignored)) {
    return OkStatus();
  }
  return NotFound(fmt::format(
      "{}: no such file or folder; expected a checkpoint, or the folder of a "
      "job's checkpoints",
      path));
}

}  // namespace

int RunCheckpointList(const CheckpointListCommand& command, World& world,
                      Console& console) {
  const Status there = CheckIsThere(world, command.directory);
  if (!there.ok()) return FailCheckpointCommand(console, "ls", there);
  const auto store = Inspect(world, WithoutLastSlashes(command.directory),
                             InspectDepth::kManifests);
  if (!store.ok()) return FailCheckpointCommand(console, "ls", store.status());
  PrintStore(*store, Scope::kStore, command.output, console);
  return static_cast<int>(store->start.ok() ? ExitCode::kOk
                                            : ExitForInspect(store->start));
}

int RunCheckpointVerify(const CheckpointVerifyCommand& command, World& world,
                        Console& console) {
  const StorePath path = SplitStorePath(command.path);
  const Status there = CheckIsThere(world, path.directory);
  if (!there.ok()) return FailCheckpointCommand(console, "verify", there);
  auto store = Inspect(world, path.directory, InspectDepth::kEveryByte);
  if (!store.ok())
    return FailCheckpointCommand(console, "verify", store.status());
  std::vector<CheckpointReport>& reports = store->checkpoints;
  if (!path.name.empty()) {
    std::erase_if(reports, [&path](const CheckpointReport& report) {
      return report.name != path.name;
    });
    if (reports.empty()) {
      // A link with a checkpoint's name has no report. `start` then is the
      // error that it causes.
      return FailCheckpointCommand(
          console, "verify",
          store->obstacle_name == path.name
              ? store->start
              : NotFound(command.path + ": no such checkpoint"));
    }
  }
  const Scope scope = path.name.empty() ? Scope::kStore : Scope::kOneCheckpoint;
  PrintStore(*store, scope, command.output, console);
  return static_cast<int>(CodeOf(*store, scope));
}

int RunCheckpointDiff(const CheckpointDiffCommand& command, World& world,
                      Console& console) {
  for (const std::string& path : {command.left, command.right}) {
    const Status there = CheckIsThere(world, path);
    if (!there.ok()) return FailCheckpointCommand(console, "diff", there);
    const Status single = CheckIsNoStore(world, path);
    if (!single.ok()) return FailCheckpointCommand(console, "diff", single);
  }
  const auto differences =
      CompareCheckpoints(world, command.left, command.right);
  if (!differences.ok())
    return FailCheckpointCommand(console, "diff", differences.status());
  Json list = Json::array();
  std::string text;
  for (const TensorDifference& difference : *differences) {
    list.push_back(DifferenceJson(difference));
    text += DifferenceText(difference);
  }
  if (differences->empty()) text = "equal bit for bit\n";
  console.out << (command.output == OutputFormat::kJson ? Dump(list) + "\n"
                                                        : text);
  return static_cast<int>(differences->empty() ? ExitCode::kOk
                                               : ExitCode::kViolated);
}

}  // namespace gauntlet
