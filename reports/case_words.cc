#include "reports/case_words.h"

#include "engine/text/counted.h"
#include "harness/record/text/facts_text.h"
#include <fmt/format.h>

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

std::string FactsText(const RunFacts& facts) {
  std::string text = Counted(facts.faults_fired, "fault");
  if (facts.restarts > 0) text += ", " + RestartsText(facts);
  if (const std::string resumed = ResumedText(facts); !resumed.empty()) {
    text += ", " + resumed;
  }
  if (facts.failed_saves > 0) {
    text += ", " + Counted(facts.failed_saves, "failed save");
  }
  if (facts.refused) text += ", refused to train";
  return text;
}

}  // namespace gauntlet
