#include "engine/train/notice/notice_sources.h"

#include <algorithm>
#include <utility>

#include "engine/train/notice/metadata_notice.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Timeout of a check. A service on the same machine is always faster.
constexpr Duration kPatience = std::chrono::seconds(1);

struct PathParts {
  std::string directory;
  std::string name;
};

PathParts SplitPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return {.directory = ".", .name = path};
  return {.directory = slash == 0 ? "/" : path.substr(0, slash),
          .name = path.substr(slash + 1)};
}

}  // namespace

NoticeSources::NoticeSources(const World& world, PreemptionOptions options,
                             ReportLine report)
    : world_(world), options_(std::move(options)), report_(std::move(report)) {
  if (!options_.file.empty()) {
    sources_.push_back(
        {.name = options_.file, .poll = &NoticeSources::FileExists});
  }
  if (!options_.url.empty()) {
    sources_.push_back(
        {.name = options_.url, .poll = &NoticeSources::ServiceHasNotice});
  }
}

void NoticeSources::Report(std::string line) const {
  if (report_) report_(std::move(line));
}

bool NoticeSources::AnyHasNotice(Time deadline) {
  for (Source& source : sources_) {
    if (!HasNotice(source, deadline)) continue;
    Report(fmt::format("preemption notice: {}", source.name));
    return true;
  }
  return false;
}

bool NoticeSources::HasNotice(Source& source, Time deadline) {
  const Time patience = world_.clock.Now() + kPatience;
  const Result<bool> seen = (this->*source.poll)(std::min(deadline, patience));
  if (seen.ok()) return *seen;
  // If the deadline came before the source's own timeout, the source has not
  // failed.
  const bool hurried =
      deadline < patience && seen.status().code() == Code::kDeadlineExceeded;
  if (!hurried && !std::exchange(source.is_reported, true)) {
    Report(fmt::format("cannot check for preemption notices: {} (still trying)",
                       seen.status().message()));
  }
  return false;
}

// Reads the directory and never opens the file: opening a pipe would block
// until its other end is opened.
Result<bool> NoticeSources::FileExists(Time) {
  const PathParts parts = SplitPath(options_.file);
  const Result<std::vector<DirectoryEntry>> entries =
      world_.storage.List(parts.directory);
  if (!entries.ok()) return entries.status();
  return std::ranges::find(*entries, parts.name, &DirectoryEntry::name) !=
         entries->end();
}

Result<bool> NoticeSources::ServiceHasNotice(Time deadline) {
  ASSIGN_OR_RETURN(const HttpUrl url, ParseHttpUrl(options_.url));
  ASSIGN_OR_RETURN(const HttpResponse answer, QueryService(url, deadline));
  const Result<bool> notice = IsPreemptionNotice(answer);
  if (!notice.ok()) return Annotate(notice.status(), options_.url);
  return notice;
}

// Requests the URL. If the service responds that the token is missing or has
// expired, requests a token and tries again; a service that requires no token
// is never asked for one.
Result<HttpResponse> NoticeSources::QueryService(const HttpUrl& url,
                                                 Time deadline) {
  Result<HttpResponse> answer =
      world_.host.SendRequest(RequestWithToken(url, token_), deadline);
  if (!answer.ok() || answer->status != kTokenRequired) return answer;
  token_.clear();
  const HttpRequest request = TokenRequest(url);
  ASSIGN_OR_RETURN(const HttpResponse given,
                   world_.host.SendRequest(request, deadline));
  Result<std::string> token = ParseToken(given);
  if (!token.ok()) return Annotate(token.status(), HttpUrlText(request.url));
  token_ = *std::move(token);
  return world_.host.SendRequest(RequestWithToken(url, token_), deadline);
}

}  // namespace gauntlet
