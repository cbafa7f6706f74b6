#include "harness/trainer/verdict/crash_test_json.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

Json TrialOf(const CrashTrial& trial, const CrashVerdict& verdict) {
  Json json = {{"id", trial.id},
               {"fault", CrashFaultName(trial.fault)},
               {"operation", trial.operation},
               {"point", trial.point},
               {"file", trial.file_pattern},
               {"verdict", RecoveryVerdictName(verdict.verdict)},
               {"reason", verdict.reason},
               {"exit_code", trial.end.exit_code},
               {"signal", trial.end.signal},
               {"seconds", trial.end.seconds}};
  if (trial.rank != kUnknownRank) json["rank"] = trial.rank;
  if (trial.is_for_judging) json["for_judging"] = true;
  if (!trial.lost.empty()) json["lost"] = trial.lost;
  for (size_t i = 0; i < trial.equal_crashes.size(); ++i) {
    const EqualCrash& crash = trial.equal_crashes[i];
    json["equal_crashes"].push_back(
        {{"id", crash.id},
         {"fault", CrashFaultName(crash.fault)},
         {"operation", crash.operation},
         {"verdict", RecoveryVerdictName(verdict.equal_crashes[i])}});
  }
  if (!trial.differences.empty()) json["differences"] = trial.differences;
  if (!trial.last_line.empty()) json["last_line"] = trial.last_line;
  if (trial.resumed_step) json["resumed_step"] = *trial.resumed_step;
  if (trial.resumed_from) json["resumed_from"] = trial.resumed_from->files;
  return json;
}

Json FindingOf(const TrainerFinding& finding,
               const std::vector<CrashTrial>& trials) {
  Json ids = Json::array();
  for (const size_t i : finding.trials) ids.push_back(trials[i].id);
  return {{"verdict", RecoveryVerdictName(finding.verdict)},
          {"title", finding.title},
          {"reason", finding.reason},
          {"crashes", std::move(ids)}};
}

}  // namespace

std::string CrashTestResultToJson(const CrashTestResult& result) {
  Json controls = Json::array();
  for (const CrashControl& control : result.controls) {
    controls.push_back({{"name", control.name},
                        {"holds", control.holds},
                        {"text", control.text}});
  }
  Json trials = Json::array();
  for (size_t i = 0; i < result.trials.size(); ++i)
    trials.push_back(TrialOf(result.trials[i], result.verdicts[i]));
  Json findings = Json::array();
  for (const TrainerFinding& finding : result.findings)
    findings.push_back(FindingOf(finding, result.trials));
  const Json json = {
      {"format", "gauntlet-crash-test"},
      {"version", result.version},
      {"command", result.command},
      {"resume_command", result.resume_command},
      {"seed", result.seed},
      {"recording",
       {{"operations", result.operations},
        {"crash_points", result.crash_points},
        {"bytes", result.bytes},
        {"seconds", result.seconds}}},
      {"controls", std::move(controls)},
      {"compared", result.compared},
      {"not_compared", result.left_out},
      {"no_verdict", result.no_verdict},
      {"interrupted", result.trials_end == TrialsEnd::kInterrupted},
      {"equal_states", result.equal_states},
      {"states_beyond_bounds", result.bounded_states},
      {"complete", result.trials_end == TrialsEnd::kAllTried},
      {"trial_seconds", result.trial_seconds},
      {"findings", std::move(findings)},
      {"trials", std::move(trials)},
      {"notes", result.notes},
  };
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gauntlet
