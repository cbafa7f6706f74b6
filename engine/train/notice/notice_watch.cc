#include "engine/train/notice/notice_watch.h"

#include <algorithm>
#include <utility>

namespace gauntlet {

NoticeWatch::NoticeWatch(const World& world, const PreemptionOptions& options,
                         NoticeSources::ReportLine report)
    : base_(world),
      watched_{.clock = world.clock,
               .storage = world.storage,
               .network = world.network,
               .tasks = world.tasks,
               .host = *this,
               .faults = world.faults,
               .events = world.events,
               .entropy = world.entropy},
      poll_every_(options.poll_every),
      sources_(world, options, std::move(report)) {}

void NoticeWatch::Start() {
  if (sources_.empty()) return;
  stop_ = base_.tasks.NewEvent();
  task_ = base_.tasks.Spawn("notice watch", [this] { PollUntilNotice(); });
}

void NoticeWatch::Stop() {
  if (task_ == nullptr) return;
  stop_->Set();
  task_->Join();
  task_.reset();
}

int NoticeWatch::TerminationNotices() const {
  return base_.host.TerminationNotices() + (notice_ns_.load() == kNone ? 0 : 1);
}

std::optional<Time> NoticeWatch::FirstNotice() const {
  const int64_t came = notice_ns_.load();
  if (came == kNone) return base_.host.FirstNotice();
  return std::min(base_.host.FirstNotice().value_or(kNever),
                  Time(Duration(came)));
}

void NoticeWatch::Exit(int code) {
  base_.host.Exit(code);
  // g++ does not see that a virtual call never returns.
  CheckFailed(__FILE__, __LINE__, "Exit", "returned");
}

void NoticeWatch::PollUntilNotice() {
  Time none_until = base_.clock.Now();
  do {
    const Time now = base_.clock.Now();
    if (sources_.AnyHasNotice(kNever)) {
      notice_ns_.store(none_until.time_since_epoch().count());
      return;
    }
    none_until = now;
  } while (!stop_->WaitUntil(base_.clock.Now() + poll_every_));
}

}  // namespace gauntlet
