#include "harness/cli/crash_states_command.h"

#include <chrono>
#include <optional>
#include <string>

#include "chaos/sim/durability_profile.h"
#include "engine/real/real_host.h"
#include "engine/real/system_clock.h"
#include "harness/cli/exit_code.h"
#include "harness/explore/crash_states.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

constexpr Duration kLineEvery = std::chrono::seconds(10);
constexpr Duration kRedrawEvery = std::chrono::milliseconds(100);

struct Totals {
  uint64_t points = 0;
  uint64_t enumerated = 0;
  uint64_t distinct = 0;
  double left_out = 0;
};

Totals TotalsOf(const CrashStateReport& report) {
  Totals totals;
  for (const CrashStateCounts& counts : report.counts) {
    totals.points += counts.points;
    totals.enumerated += counts.images_enumerated;
    totals.distinct += counts.images_distinct;
    totals.left_out += counts.images_left_out;
  }
  return totals;
}

std::string RenderFinding(const CrashStateFinding& finding) {
  std::string text = fmt::format(
      "FOUND  {}: power lost after {}\n       expected {}\n       found    "
      "{}\n",
      finding.id, finding.point, finding.expected, finding.found);
  for (const std::string& line : finding.survived) {
    text += fmt::format("         {}\n", line);
  }
  return text;
}

std::string RenderReport(const CrashStateReport& report, double seconds) {
  const Totals totals = TotalsOf(report);
  std::string text = fmt::format(
      "{} {} cuts, {} distinct images in {:.1f}s ({:.0f} a second): {} held, "
      "{} broken\n",
      report.complete ? "done: all" : "interrupted after", totals.points,
      totals.distinct, seconds,
      seconds > 0 ? static_cast<double>(totals.distinct) / seconds : 0.0,
      totals.distinct - report.images_failed, report.images_failed);
  for (const CrashStateCounts& counts : report.counts) {
    text += fmt::format(
        "  {:<12} {:<9} {:>5} cuts {:>9} outcomes {:>8} images, {:.4g} left out"
        " by the bound, {} refusals that were due\n",
        ProfileName(counts.profile), CrashWindowName(counts.window),
        counts.points, counts.images_enumerated, counts.images_distinct,
        counts.images_left_out, counts.refusals);
  }
  return text;
}

std::string ToJson(const CrashStateReport& report, double seconds) {
  const Totals totals = TotalsOf(report);
  Json findings = Json::array();
  for (const CrashStateFinding& finding : report.findings) {
    findings.push_back({{"id", finding.id},
                        {"point", finding.point},
                        {"survived", finding.survived},
                        {"expected", finding.expected},
                        {"found", finding.found}});
  }
  const Json json = {
      {"mode", "crash-states"},
      {"complete", report.complete},
      {"cases", totals.distinct},
      {"seconds", seconds},
      {"per_second",
       seconds > 0 ? static_cast<double>(totals.distinct) / seconds : 0.0},
      {"findings", std::move(findings)},
      {"broken", report.images_failed},
      {"nondeterministic", 0},
      {"points_hit", totals.points},
      {"points_total", totals.points},
      {"outcomes", totals.enumerated},
      {"left_out_by_the_bound", totals.left_out},
  };
  return json.dump() + "\n";
}

// Says now and then how far it is, and when to stop.
class Watch {
 public:
  Watch(const ExploreCommand& command, Console& console)
      : command_(command), console_(console) {}

  double Seconds() const {
    return std::chrono::duration<double>(clock_.Now() - begin_).count();
  }
  bool interrupted() const { return host_.TerminationNotices() > 0; }

  Proceed See(const CrashStateReport& report) {
    const Time now = clock_.Now();
    const bool animates = console_.err_style.animates();
    if (now - last_ >= (animates ? kRedrawEvery : kLineEvery)) {
      last_ = now;
      const Totals totals = TotalsOf(report);
      fmt::print(console_.err, "{}{:.0f}s  {} cuts  {} images  broken {}{}",
                 animates ? "\r\x1b[K" : "", Seconds(), totals.points,
                 totals.distinct, report.images_failed, animates ? "" : "\n");
      console_.err << std::flush;
      shown_ = animates;
    }
    const bool late = command_.time && now - begin_ >= *command_.time;
    return interrupted() || late ? Proceed::kStop : Proceed::kGoOn;
  }

  void Clear() {
    if (shown_) console_.err << "\r\x1b[K" << std::flush;
  }

 private:
  const ExploreCommand& command_;
  Console& console_;
  SystemClock clock_;
  RealHost host_;
  const Time begin_ = clock_.Now();
  Time last_ = begin_;
  bool shown_ = false;
};

}  // namespace

int ExploreCrashStatesOf(const Case& base, const ExploreCommand& command,
                         Console& console) {
  References references("", "explore");
  Watch watch(command, console);
  CrashStateOptions options;
  if (command.stop_after > 0) options.max_findings = command.stop_after;
  options.on_progress = [&](const CrashStateReport& report) {
    return watch.See(report);
  };
  const Result<CrashStateReport> report =
      ExploreCrashStates(base, references, options);
  watch.Clear();
  if (!report.ok()) {
    fmt::print(console.err, "gauntlet explore: {}\n",
               report.status().message());
    return static_cast<int>(ExitCode::kNoVerdict);
  }
  if (command.output == OutputFormat::kJson) {
    console.out << ToJson(*report, watch.Seconds());
  } else {
    for (const CrashStateFinding& finding : report->findings) {
      console.out << RenderFinding(finding);
    }
    console.out << RenderReport(*report, watch.Seconds());
  }
  if (watch.interrupted()) return static_cast<int>(ExitCode::kInterrupted);
  return static_cast<int>(report->images_failed > 0 ? ExitCode::kViolated
                                                    : ExitCode::kHeld);
}

}  // namespace gauntlet
