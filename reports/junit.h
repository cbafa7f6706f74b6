// Verdicts as JUnit XML, in the subset that Jenkins, GitLab and GitHub's
// actions all read: testsuites, testsuite, testcase with failure, error or
// skipped, properties and system-out.
#ifndef GAUNTLET_REPORTS_JUNIT_H_
#define GAUNTLET_REPORTS_JUNIT_H_

#include <string>
#include <string_view>

#include "harness/record/result/result.h"

namespace gauntlet {

// A suite a scenario file, a test a case. Names are unique: a repeated one gets
// a number, since some readers drop all but the first. No wall-clock date:
// equal results give equal bytes.
std::string RenderJunit(const RunResult& result);

// Text as XML 1.0 can hold it, in an attribute or between tags: markup escaped,
// characters and bytes that XML forbids as U+FFFD.
std::string EscapeXml(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_JUNIT_H_
