// Watches for preemption notices other than signals (NoticeSources).
//
// The watch wraps the host of a world and adds its notices to the host's, so
// that code which asks the host for notices also gets those of the watch. A
// separate task does the checks, so that a slow disk or a hanging service does
// not slow training.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_WATCH_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_WATCH_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "engine/status.h"
#include "engine/train/notice/notice_sources.h"
#include "engine/train/options.h"
#include "engine/world/world.h"

namespace gauntlet {

class NoticeWatch final : public Host {
 public:
  // The objects that `world` refers to outlive this object. `report` is called
  // from the watch's own task; if it is null, nothing is reported.
  NoticeWatch(const World& world, const PreemptionOptions& options,
              NoticeSources::ReportLine report = nullptr);

  // The world passed to the constructor, with this object as its host.
  World& world() { return watched_; }

  // Starts to watch the sources, if there are any.
  void Start();
  // Stops the watch. Waits for the check in progress, which takes up to a
  // second if a service hangs. REQUIRES: called before the destructor, unless
  // the process is about to exit.
  void Stop();

  std::string Name() const override { return base_.host.Name(); }
  int TerminationNotices() const override;
  std::optional<Time> FirstNotice() const override;
  int Interrupts() const override { return base_.host.Interrupts(); }
  Result<HttpResponse> SendRequest(const HttpRequest& request,
                                   Time deadline) override {
    return base_.host.SendRequest(request, deadline);
  }
  [[noreturn]] void Exit(int code) override;

 private:
  void PollUntilNotice();

  World base_;
  World watched_;
  const Duration poll_every_;
  NoticeSources sources_;
  std::unique_ptr<Event> stop_;
  std::unique_ptr<Task> task_;
  // Earliest time at which the notice may have come, in ns: the last check
  // without a notice, or the start of the watch. kNone: there is no notice.
  static constexpr int64_t kNone = -1;
  std::atomic<int64_t> notice_ns_{kNone};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_WATCH_H_
