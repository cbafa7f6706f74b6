#include "harness/oracle/history/check.h"

#include <utility>

namespace gauntlet {
namespace {

constexpr size_t kFindingsInWords = 20;

}  // namespace

void Check::Fail(std::string_view name, std::string message) {
  ++report_.violations;
  if (report_.findings.size() >= kFindingsInWords) return;
  report_.findings.push_back({.invariant = report_.invariant,
                              .name = std::string(name),
                              .message = std::move(message)});
}

std::vector<InvariantReport> Checks::Reports() const {
  std::vector<InvariantReport> reports;
  for (const Check* check : all_) reports.push_back(check->report());
  return reports;
}

}  // namespace gauntlet
