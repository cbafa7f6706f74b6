#include "engine/train/notice_watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/train/metadata_notice.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Longer than a service on the same machine ever takes.
constexpr Duration kPatience = std::chrono::seconds(1);

struct PathParts {
  std::string directory;
  std::string name;
};

PathParts PartsOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return {.directory = ".", .name = path};
  return {.directory = slash == 0 ? "/" : path.substr(0, slash),
          .name = path.substr(slash + 1)};
}

}  // namespace

NoticeWatch::NoticeWatch(const World& world, PreemptionOptions options, Say say)
    : base_(world),
      watched_{.clock = world.clock,
               .storage = world.storage,
               .network = world.network,
               .tasks = world.tasks,
               .host = *this,
               .faults = world.faults,
               .events = world.events},
      options_(std::move(options)),
      say_(std::move(say)) {}

void NoticeWatch::Start() {
  if (options_.file.empty() && options_.url.empty()) return;
  stop_ = base_.tasks.NewEvent();
  task_ = base_.tasks.Spawn("notice watch", [this] { LookUntilSeen(); });
}

void NoticeWatch::Stop() {
  if (task_ == nullptr) return;
  stop_->Set();
  task_->Join();
  task_.reset();
}

int NoticeWatch::TerminationNotices() const {
  return base_.host.TerminationNotices() + (came_ns_.load() == kNone ? 0 : 1);
}

std::optional<Time> NoticeWatch::FirstNotice() const {
  const std::optional<Time> told = base_.host.FirstNotice();
  const int64_t came = came_ns_.load();
  if (came == kNone) return told;
  return std::min(told.value_or(kNever), Time(Duration(came)));
}

void NoticeWatch::Exit(int code) {
  base_.host.Exit(code);
  // g++ does not see that a virtual call never returns.
  CheckFailed(__FILE__, __LINE__, "Exit", "returned");
}

void NoticeWatch::LookUntilSeen() {
  std::vector<Source> sources;
  if (!options_.file.empty()) {
    sources.push_back(
        {.name = options_.file, .look = &NoticeWatch::FileIsThere});
  }
  if (!options_.url.empty()) {
    sources.push_back(
        {.name = options_.url, .look = &NoticeWatch::ServiceSaysSo});
  }
  Time none_until = base_.clock.Now();
  do {
    const Time now = base_.clock.Now();
    for (Source& source : sources) {
      if (!SeesOne(source)) continue;
      came_ns_.store(none_until.time_since_epoch().count());
      Tell(fmt::format("told to go by {}", source.name));
      return;
    }
    none_until = now;
  } while (!stop_->WaitUntil(base_.clock.Now() + options_.poll_every));
}

void NoticeWatch::Tell(std::string line) const {
  if (say_) say_(std::move(line));
}

bool NoticeWatch::SeesOne(Source& source) {
  const Result<bool> seen = (this->*source.look)();
  if (seen.ok()) return *seen;
  if (!std::exchange(source.told, true)) {
    Tell(fmt::format("no notices can be had: {} (asking goes on)",
                     seen.status().message()));
  }
  return false;
}

// From the directory, so that whatever has the name is never opened: a pipe
// would wait for its other end.
Result<bool> NoticeWatch::FileIsThere() {
  const PathParts parts = PartsOf(options_.file);
  const Result<std::vector<DirectoryEntry>> entries =
      base_.storage.List(parts.directory);
  if (!entries.ok()) return entries.status();
  return std::ranges::find(*entries, parts.name, &DirectoryEntry::name) !=
         entries->end();
}

Result<bool> NoticeWatch::ServiceSaysSo() {
  ASSIGN_OR_RETURN(const HttpUrl url, ParseHttpUrl(options_.url));
  ASSIGN_OR_RETURN(const HttpAnswer answer,
                   base_.host.Get(url, base_.clock.Now() + kPatience));
  const Result<bool> notice = NoticeIn(answer);
  if (!notice.ok()) return Annotate(notice.status(), options_.url);
  return notice;
}

}  // namespace gauntlet
