#include "reports/ci/github_annotations.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "reports/case_words.h"
#include "reports/events/event_text.h"
#include "reports/failures.h"
#include "reports/html/page/text.h"
#include "reports/terminal.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostOfAKind = 10;
constexpr size_t kLongestMessage = 2000;
constexpr size_t kLongestTitle = 200;

// Escapes the text of a message, in which only these three characters are
// special.
std::string EscapedData(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%') {
      escaped += "%25";
    } else if (c == '\r') {
      escaped += "%0D";
    } else if (c == '\n') {
      escaped += "%0A";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Escapes the value of a property, in which comma and colon are also special.
std::string EscapedProperty(std::string_view text) {
  std::string escaped;
  for (const char c : EscapedData(text)) {
    if (c == ':') {
      escaped += "%3A";
    } else if (c == ',') {
      escaped += "%2C";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Returns the path relative to the workspace if the file is below it, else
// unchanged.
std::string FileInWorkspace(const std::string& file,
                            const AnnotationPlace& place) {
  if (place.workspace.empty()) return file;
  // A trailing slash would count as another part of the path.
  const fs::path workspace =
      (fs::path(place.workspace) / "").lexically_normal().parent_path();
  const fs::path absolute =
      (fs::path(place.directory) / file).lexically_normal();
  const fs::path relative = absolute.lexically_relative(workspace);
  const bool is_below =
      !relative.empty() && *relative.begin() != ".." && relative != ".";
  return is_below ? relative.string() : file;
}

std::string Annotation(std::string_view kind, const CaseResult& one,
                       const AnnotationPlace& place) {
  const std::string title =
      fmt::format("{} ({}): {}", one.name, one.world, CaseWord(one));
  std::string message = PlainText(CutText(FailureCause(one), kLongestMessage));
  if (!one.replay.empty()) {
    message += "\nReplay: " + PlainText(CutText(one.replay, kLongestMessage));
  }
  const std::string position =
      one.file.empty()
          ? ""
          : fmt::format(
                "file={},line={},",
                EscapedProperty(PlainText(FileInWorkspace(one.file, place))),
                one.line);
  return fmt::format("::{} {}title={}::{}\n", kind, position,
                     EscapedProperty(PlainText(CutText(title, kLongestTitle))),
                     EscapedData(message));
}

std::string AnnotationsOf(std::string_view kind,
                          const std::vector<const CaseResult*>& cases,
                          const AnnotationPlace& place) {
  const bool all = cases.size() <= kMostOfAKind;
  const size_t shown = all ? cases.size() : kMostOfAKind - 1;
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    text += Annotation(kind, *cases[i], place);
  }
  if (!all) {
    CaseCounts left;
    for (const CaseResult* one : std::span(cases).subspan(shown)) {
      Count(*one, left);
    }
    text += fmt::format("::{}::{} more ({}); summary.md lists them\n", kind,
                        cases.size() - shown, RenderCounts(left, Colour::kOff));
  }
  return text;
}

}  // namespace

std::string RenderGithubAnnotations(const RunResult& result,
                                    const AnnotationPlace& place) {
  std::vector<const CaseResult*> errors;
  std::vector<const CaseResult*> warnings;
  for (const CaseResult* one : CasesToExplain(result)) {
    const bool failed = one->verdict.kind == VerdictKind::kFail;
    (failed ? errors : warnings).push_back(one);
  }
  return AnnotationsOf("error", errors, place) +
         AnnotationsOf("warning", warnings, place);
}

}  // namespace gauntlet
