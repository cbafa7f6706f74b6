// Failures of a run as annotations: workflow commands by which GitHub Actions
// shows a message at a line of a file.
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

// "::error file=scenarios/torn.yaml,line=12,title=…::…" for each failed case,
// "::warning …" for each inconclusive one; a flaky case is an error if its
// verdict is FAIL, else a warning. GitHub shows ten of a kind in a
// step: where there are more, the tenth says how many are left out.
std::string RenderGithubAnnotations(const RunResult& result,
                                    const AnnotationPlace& place);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CI_GITHUB_ANNOTATIONS_H_
