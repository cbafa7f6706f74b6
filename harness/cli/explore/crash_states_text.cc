#include "harness/cli/explore/crash_states_text.h"

#include "chaos/sim/disk/durability_profile.h"
#include "harness/run/files/shell_word.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

std::string PartName(const CrashStatePart& part) {
  if (part.window == CrashWindow::kRot) return "rot";
  return fmt::format("{} on {}", CrashWindowName(part.window),
                     ProfileName(part.profile));
}

}  // namespace

CrashStateTotals TotalsOf(const CrashStateReport& report) {
  CrashStateTotals totals;
  for (const CrashStateCounts& counts : report.counts) {
    totals.points += counts.points;
    totals.enumerated += counts.images_enumerated;
    totals.distinct += counts.images_distinct;
    totals.left_out += counts.images_left_out;
  }
  return totals;
}

std::vector<std::string> UnfinishedParts(const CrashStateReport& report) {
  std::vector<std::string> names;
  for (const CrashStatePart& part : report.unfinished) {
    names.push_back(PartName(part));
  }
  return names;
}

std::string RenderCrashFinding(const WrittenCrashFinding& written) {
  const CrashStateFinding& finding = written.finding;
  std::string text =
      fmt::format("FOUND  {}: {}\n       expected {}\n       found    {}\n",
                  finding.id, finding.event, finding.expected, finding.found);
  for (const std::string& line : finding.survived) {
    text += fmt::format("         {}\n", line);
  }
  if (written.file.empty()) {
    return text +
           fmt::format("       no file of it: {}\n", written.why_no_file);
  }
  return text + fmt::format("       replay: gauntlet replay {}\n",
                            ShellWord(written.file));
}

std::string RenderCrashStateParts(const CrashStateReport& report) {
  std::string text;
  for (const CrashStateCounts& counts : report.counts) {
    text += fmt::format(
        "  {:<12} {:<9} {:>5} crash points {:>9} outcomes {:>8} states, {:.4g} "
        "left out (--max-states), {} refusals that were due\n",
        ProfileName(counts.profile), CrashWindowName(counts.window),
        counts.points, counts.images_enumerated, counts.images_distinct,
        counts.images_left_out, counts.refusals);
  }
  return text;
}

Json CrashFindingsToJson(const std::vector<WrittenCrashFinding>& written) {
  Json findings = Json::array();
  for (const WrittenCrashFinding& one : written) {
    findings.push_back({{"id", one.finding.id},
                        {"event", one.finding.event},
                        {"survived", one.finding.survived},
                        {"expected", one.finding.expected},
                        {"found", one.finding.found},
                        {"file", one.file},
                        {"why_no_file", one.why_no_file}});
  }
  return findings;
}

Json CrashStatePartsToJson(const CrashStateReport& report) {
  Json parts = Json::array();
  for (const CrashStateCounts& counts : report.counts) {
    parts.push_back({{"profile", ProfileName(counts.profile)},
                     {"window", CrashWindowName(counts.window)},
                     {"crash_points", counts.points},
                     {"outcomes", counts.images_enumerated},
                     {"crash_states", counts.images_distinct},
                     {"left_out", counts.images_left_out},
                     {"refusals", counts.refusals}});
  }
  return parts;
}

}  // namespace gauntlet
