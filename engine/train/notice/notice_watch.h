// Looks out for the termination notices that no signal brings (NoticeSources).
//
// It stands between the engine and its host and adds what it sees to the
// notices there, so that whoever asks the host at a step boundary need not know
// where one came from. It looks from a task of its own, so that neither a slow
// disk nor a service that hangs slows training.
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
  // The objects that `world` refers to outlive it. `say` is called from the
  // watch's own task; without it nothing is reported.
  NoticeWatch(const World& world, const PreemptionOptions& options,
              NoticeSources::Say say = nullptr);

  // The world that was given, with this in place of its host.
  World& world() { return watched_; }

  // Starts to watch the sources, if there are any.
  void Start();
  // Stops the watch. Waits for the check under way: a second, if a service
  // hangs. REQUIRES: called before the end, unless the process is going away.
  void Stop();

  std::string Name() const override { return base_.host.Name(); }
  int TerminationNotices() const override;
  std::optional<Time> FirstNotice() const override;
  int Interrupts() const override { return base_.host.Interrupts(); }
  Result<HttpAnswer> Ask(const HttpQuestion& question, Time deadline) override {
    return base_.host.Ask(question, deadline);
  }
  [[noreturn]] void Exit(int code) override;

 private:
  void LookUntilSeen();

  World base_;
  World watched_;
  const Duration poll_every_;
  NoticeSources sources_;
  std::unique_ptr<Event> stop_;
  std::unique_ptr<Task> task_;
  // When one may have come at the earliest, in ns: the look before saw none.
  static constexpr int64_t kNone = -1;
  std::atomic<int64_t> came_ns_{kNone};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_WATCH_H_
