#include "reports/case_words.h"

namespace gauntlet {

std::string_view VerdictWord(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kPass:
      return "passed";
    case VerdictKind::kFail:
      return "failed";
    case VerdictKind::kError:
      return "inconclusive";
    case VerdictKind::kSkip:
      return "skipped";
    case VerdictKind::kNotRun:
      return "not run";
  }
  return "";
}

std::string_view CaseWord(const CaseResult& one) {
  return one.flaky ? "flaky" : VerdictWord(one.verdict.kind);
}

std::string_view CaseHeading(const CaseResult& one) {
  return one.flaky ? "FLAKY" : VerdictKindName(one.verdict.kind);
}

}  // namespace gauntlet
