#include "harness/record/result/case_tries.h"

#include <algorithm>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns "failed 1 of 2 tries".
std::string CountsOf(const std::vector<CaseResult>& tries) {
  const auto count = [&tries](VerdictKind kind) {
    return std::ranges::count_if(tries, [kind](const CaseResult& one) {
      return one.verdict.kind == kind;
    });
  };
  const auto failed = count(VerdictKind::kFail);
  const auto inconclusive = count(VerdictKind::kError);
  if (inconclusive == 0) {
    return fmt::format("failed {} of {} tries", failed, tries.size());
  }
  if (failed == 0) {
    return fmt::format("inconclusive in {} of {} tries", inconclusive,
                       tries.size());
  }
  return fmt::format("failed {} and inconclusive in {} of {} tries", failed,
                     inconclusive, tries.size());
}

// Returns the first failed try; if none failed, the first try. A violation
// tells more than an inconclusive try.
const CaseResult& FirstFailure(const std::vector<CaseResult>& tries) {
  const auto failed = std::ranges::find_if(tries, [](const CaseResult& one) {
    return one.verdict.kind == VerdictKind::kFail;
  });
  return failed == tries.end() ? tries.front() : *failed;
}

}  // namespace

std::string NameOfTry(std::string_view case_name, int number) {
  if (number == 1) return std::string(case_name);
  return fmt::format("{}~try-{}", case_name, number);
}

std::string FolderOfTry(std::string_view case_name, std::string_view world,
                        int number) {
  return fmt::format("{}.{}", NameOfTry(case_name, number), world);
}

CaseResult JoinTries(const std::vector<CaseResult>& tries, FlakyVerdict flaky) {
  if (tries.size() == 1) return tries.front();
  const CaseResult& failure = FirstFailure(tries);
  const bool is_flaky = tries.back().verdict.kind == VerdictKind::kPass;
  const bool passes = is_flaky && flaky == FlakyVerdict::kPasses;
  CaseResult joined = passes ? tries.back() : failure;
  joined.flaky = is_flaky;
  if (is_flaky && !passes) joined.verdict.kind = VerdictKind::kFail;
  joined.verdict.reason = CountsOf(tries);
  if (!failure.verdict.reason.empty()) {
    joined.verdict.reason += ": " + failure.verdict.reason;
  }
  joined.seconds = 0;
  joined.reference_seconds = 0;
  for (const CaseResult& one : tries) {
    joined.seconds += one.seconds;
    joined.reference_seconds += one.reference_seconds;
    joined.tries.push_back({.verdict = one.verdict,
                            .seconds = one.seconds,
                            .directory = one.directory,
                            .cause = one.cause});
  }
  return joined;
}

}  // namespace gauntlet
