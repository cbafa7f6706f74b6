#include "harness/record/result/merged_result.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "harness/record/json_fields.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kShardFlag = " --shard ";

// Returns the result without its paths: a downloaded copy of a result has other
// paths.
RunResult WithoutPlaces(RunResult result) {
  for (CaseResult& one : result.cases) {
    one.directory.clear();
    one.timeline.clear();
    one.replay.clear();
    for (CaseTry& each : one.tries) each.directory.clear();
  }
  return result;
}

// Returns the parts, without those that are copies of earlier parts.
std::vector<const ResultPart*> DistinctParts(
    const std::vector<ResultPart>& parts) {
  std::vector<const ResultPart*> distinct;
  std::multimap<std::string, RunResult> seen;  // by run
  for (const ResultPart& part : parts) {
    RunResult result = WithoutPlaces(part.result);
    const auto [begin, end] = seen.equal_range(result.run);
    const bool is_copy = std::any_of(
        begin, end, [&](const auto& other) { return other.second == result; });
    if (is_copy) continue;
    seen.emplace(result.run, std::move(result));
    distinct.push_back(&part);
  }
  return distinct;
}

std::string SeedText(const std::optional<uint64_t>& seed) {
  return seed ? fmt::format("seed {}", *seed) : "no --seed";
}

// Returns why the second part cannot be joined with the first; "" if it can.
std::string Disagreement(const ResultPart& first, const ResultPart& second) {
  if (first.result.build != second.result.build) {
    return fmt::format(
        "{}: build {}, but build {} in {}: results of different builds cannot "
        "be merged",
        second.name, second.result.build, first.result.build, first.name);
  }
  if (first.result.seed != second.result.seed) {
    return fmt::format(
        "{}: {}, but {} in {}: results of different seeds cannot be merged",
        second.name, SeedText(second.result.seed), SeedText(first.result.seed),
        first.name);
  }
  return "";
}

std::string WithoutShard(std::string command) {
  const size_t at = command.find(kShardFlag);
  if (at == std::string::npos) return command;
  const size_t end = command.find(' ', at + kShardFlag.size());
  return command.erase(at, end == std::string::npos ? end : end - at);
}

// Returns the command that repeats all parts; "" if their commands differ in
// more than --shard.
std::string CommandOf(const std::vector<const ResultPart*>& parts) {
  const std::string command = WithoutShard(parts.front()->result.command);
  const bool is_common = std::ranges::all_of(parts, [&](const auto* part) {
    return WithoutShard(part->result.command) == command;
  });
  return is_common ? command : "";
}

class Merger {
 public:
  // Adds the part and returns "", or returns the reason why it cannot be added.
  std::string Add(const ResultPart& part) {
    for (const CaseResult& one : part.result.cases) {
      const auto [earlier, is_new] =
          owners_.emplace(std::pair(one.name, one.world), &part);
      if (!is_new) {
        return fmt::format(
            "{}: case {} ({}) is in {} too: expected each case in one result",
            part.name, one.name, one.world, earlier->second->name);
      }
      scenarios_.emplace(one.file, one.scenario);
      merged_.cases.push_back(one);
    }
    // Readers refuse greater values.
    merged_.seconds =
        std::min(merged_.seconds + part.result.seconds, kMaxSeconds);
    return "";
  }

  RunResult Take() && {
    merged_.scenarios = scenarios_.size();
    return std::move(merged_);
  }

 private:
  std::map<std::pair<std::string, std::string>, const ResultPart*> owners_;
  std::set<std::pair<std::string, std::string>> scenarios_;
  RunResult merged_;
};

}  // namespace

std::vector<std::string> CopiesAmong(const std::vector<ResultPart>& parts) {
  const std::vector<const ResultPart*> distinct = DistinctParts(parts);
  std::vector<std::string> copies;
  for (const ResultPart& part : parts) {
    if (std::ranges::find(distinct, &part) != distinct.end()) continue;
    copies.push_back(part.name);
  }
  return copies;
}

Parsed<RunResult> MergeResults(const std::vector<ResultPart>& parts,
                               const std::string& run) {
  const std::vector<const ResultPart*> distinct = DistinctParts(parts);
  Merger merger;
  for (const ResultPart* part : distinct) {
    std::string error = Disagreement(*distinct.front(), *part);
    if (error.empty()) error = merger.Add(*part);
    if (!error.empty()) return {.value = std::nullopt, .error = error};
  }
  RunResult merged = std::move(merger).Take();
  merged.run = run;
  merged.seed = distinct.front()->result.seed;
  merged.build = distinct.front()->result.build;
  merged.command = CommandOf(distinct);
  return {.value = std::move(merged), .error = ""};
}

}  // namespace gauntlet
