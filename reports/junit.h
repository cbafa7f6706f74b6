// Verdicts as JUnit XML, in the subset that Jenkins, GitLab and GitHub's
// actions all read: testsuites, testsuite, testcase with failure, error or
// skipped, properties and system-out.
#ifndef GAUNTLET_REPORTS_JUNIT_H_
#define GAUNTLET_REPORTS_JUNIT_H_

#include <string>
#include <string_view>

#include "harness/record/result/result.h"

namespace gauntlet {

// Returns a suite for each scenario file and a test for each case. Names are
// unique: a repeated one gets a number, since some readers drop all but the
// first. Contains no wall-clock date, so equal results give equal bytes.
std::string RenderJunit(const RunResult& result);

// Returns text for an attribute or between tags of XML 1.0: markup is escaped;
// characters and bytes that XML forbids become U+FFFD.
std::string EscapeXml(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_JUNIT_H_
