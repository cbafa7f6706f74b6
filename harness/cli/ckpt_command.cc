#include "harness/cli/ckpt_command.h"

#include <algorithm>

#include "harness/cli/exit_code.h"
#include "harness/cli/trained_checkpoint.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

int Fail(Console& console, std::string_view verb, const Status& status) {
  fmt::print(console.err, "gauntlet ckpt {}: {}\n", verb, status.message());
  return static_cast<int>(ExitCode::kUsage);
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

void PrintReports(const std::vector<CheckpointReport>& reports,
                  OutputFormat output, Console& console) {
  if (output == OutputFormat::kJson) {
    console.out << ReportsToJson(reports) << '\n';
  } else {
    console.out << RenderReports(reports, console.out_style);
  }
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

std::string RenderReports(const std::vector<CheckpointReport>& reports,
                          const TerminalStyle& style) {
  std::string text;
  for (const CheckpointReport& report : reports) {
    const bool good = report.verdict.ok();
    text += fmt::format(
        "{:<28} {}  {:<8}", report.name,
        good ? style.Paint(Ink::kGood, "good") : style.Paint(Ink::kBad, "bad "),
        LineageStateName(report.lineage));
    text += good ? fmt::format("  epoch {}, {}, {}, state {}", report.epoch,
                               Size(report.bytes), Age(report.age_seconds),
                               report.state_digest.Short())
                 : "  " + report.verdict.message();
    text += '\n';
  }
  const auto next = std::ranges::find_if(
      reports, [](const CheckpointReport& report) { return report.next; });
  text += next == reports.end()
              ? "no checkpoint can be loaded\n"
              : fmt::format("a run goes on from {}\n", next->name);
  return text;
}

std::string ReportsToJson(const std::vector<CheckpointReport>& reports) {
  Json list = Json::array();
  for (const CheckpointReport& report : reports) {
    list.push_back({{"name", report.name},
                    {"good", report.verdict.ok()},
                    {"lineage", LineageStateName(report.lineage)},
                    {"reason", report.verdict.message()},
                    {"next", report.next},
                    {"step", report.step},
                    {"epoch", report.epoch},
                    {"generation", report.generation},
                    {"bytes", report.bytes},
                    {"state_digest", report.state_digest.ToString()}});
  }
  return Dump(list);
}

int RunCheckpointList(const CheckpointListCommand& command, World& world,
                      Console& console) {
  const auto reports =
      InspectStore(world, command.directory, InspectDepth::kManifests);
  if (!reports.ok()) return Fail(console, "ls", reports.status());
  PrintReports(*reports, command.output, console);
  return static_cast<int>(ExitCode::kHeld);
}

int RunCheckpointVerify(const CheckpointVerifyCommand& command, World& world,
                        Console& console) {
  const StorePath path = SplitStorePath(command.path);
  auto reports = InspectStore(world, path.directory, InspectDepth::kEveryByte);
  if (!reports.ok()) return Fail(console, "verify", reports.status());
  if (!path.name.empty()) {
    std::erase_if(*reports, [&path](const CheckpointReport& report) {
      return report.name != path.name;
    });
    if (reports->empty()) {
      return Fail(console, "verify",
                  NotFound(command.path + ": no such checkpoint"));
    }
  }
  PrintReports(*reports, command.output, console);
  const bool any_good = std::any_of(reports->begin(), reports->end(), IsGood);
  const bool any_bad = std::any_of(
      reports->begin(), reports->end(), [](const CheckpointReport& report) {
        return report.lineage == LineageState::kCurrent && !report.verdict.ok();
      });
  if (!any_good) return static_cast<int>(ExitCode::kNoCheckpoint);
  return static_cast<int>(any_bad ? ExitCode::kViolated : ExitCode::kHeld);
}

int RunCheckpointDiff(const CheckpointDiffCommand& command, World& world,
                      Console& console) {
  const auto differences =
      CompareCheckpoints(world, command.left, command.right);
  if (!differences.ok()) return Fail(console, "diff", differences.status());
  Json list = Json::array();
  std::string text;
  for (const TensorDifference& difference : *differences) {
    list.push_back(DifferenceJson(difference));
    text += DifferenceText(difference);
  }
  if (differences->empty()) text = "equal bit for bit\n";
  console.out << (command.output == OutputFormat::kJson ? Dump(list) + "\n"
                                                        : text);
  return static_cast<int>(differences->empty() ? ExitCode::kHeld
                                               : ExitCode::kViolated);
}

}  // namespace gauntlet
