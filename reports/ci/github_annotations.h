// Failures of a run as annotations for GitHub Actions: workflow commands that
// show a message at a line of a file.
#ifndef GAUNTLET_REPORTS_CI_GITHUB_ANNOTATIONS_H_
#define GAUNTLET_REPORTS_CI_GITHUB_ANNOTATIONS_H_

#include <string>

#include "harness/record/result/result.h"

namespace gauntlet {

// Absolute folders that map the path of a scenario file to a path in the
// repository.
struct AnnotationPlace {
  std::string workspace;  // the checked-out repository; "": not known
  std::string directory;  // base of the relative paths in the result
};

// Returns "::error file=scenarios/torn.yaml,line=12,title=…::…" for each failed
// case and "::warning …" for each inconclusive one. A flaky case is an error if
// its verdict is FAIL, else a warning. GitHub shows ten annotations of each
// kind in a step: if there are more, the tenth states how many are left out.
std::string RenderGithubAnnotations(const RunResult& result,
                                    const AnnotationPlace& place);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CI_GITHUB_ANNOTATIONS_H_
