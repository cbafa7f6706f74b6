// A world for one incarnation of a process, which records the effects of faults
// in order.
#ifndef GAUNTLET_TESTS_CHAOS_INJECT_RECORDING_WORLD_H_
#define GAUNTLET_TESTS_CHAOS_INJECT_RECORDING_WORLD_H_

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/inject/injector.h"
#include <fmt/format.h>

namespace gauntlet {

// Thrown where a real process would die.
struct ProcessGone {};

using Diary = std::vector<std::string>;

class RecordingEffects final : public InjectorEffects {
 public:
  explicit RecordingEffects(Diary& diary) : diary_(diary) {}
  [[noreturn]] void CrashNow(int exit_code) override {
    diary_.push_back(fmt::format("crash {}", exit_code));
    throw ProcessGone();
  }
  [[noreturn]] void AbortNow(std::string_view why) override {
    diary_.push_back(fmt::format("abort {}", why));
    throw ProcessGone();
  }
  [[noreturn]] void KillNow() override {
    diary_.push_back("kill now");
    throw ProcessGone();
  }
  void KillSoon(Duration latency) override { Note("kill", latency); }
  void KillLauncher() override { diary_.push_back("kill launcher"); }
  void TerminateLauncher() override { diary_.push_back("terminate launcher"); }
  void HangForever() override { diary_.push_back("hang"); }
  void Sleep(Duration duration) override { Note("sleep", duration); }
  void StopSelf(Duration duration) override { Note("stop", duration); }
  void DeliverNotice(Duration grace, NoticeBy by) override {
    Note(fmt::format("notice by {}", NoticeByName(by)), grace);
  }
  [[noreturn]] void PowerLossNow() override {
    diary_.push_back("power loss");
    throw ProcessGone();
  }
  void ApplyNetworkFault(const Fault& fault) override {
    Note(FaultKindName(fault.kind), fault.with.duration);
  }
  void JumpCalendar(Duration by) override { Note("calendar", by); }

 private:
  void Note(std::string_view what, Duration duration) {
    diary_.push_back(fmt::format("{} {}", what, duration.count()));
  }
  Diary& diary_;
};

// Fired faults, shared by the incarnations of one run.
class FiredInMemory final : public FiredFaults {
 public:
  bool MarkFired(const std::string& key) override {
    return fired_.insert(key).second;
  }
  bool HasFired(const std::string& key) override {
    return fired_.contains(key);
  }

 private:
  std::set<std::string> fired_;
};

class RecordingEvents final : public EventLog {
 public:
  explicit RecordingEvents(Diary& diary) : diary_(diary) {}
  void Emit(LogEvent event) override {
    const std::lock_guard lock(mutex_);
    diary_.push_back(fmt::format("{} {} at {}, step {}, epoch {}",
                                 EventKindName(event.kind), event.detail,
                                 event.path, event.step, event.epoch));
  }

 private:
  std::mutex mutex_;
  Diary& diary_;
};

// Everything that an Injector needs, created for each incarnation.
struct RecordedIncarnation {
  RecordedIncarnation(const FaultPlan& plan, const ProcessIdentity& self,
                      FiredFaults& fired)
      : injector(plan, self, effects, fired, events) {}
  RecordedIncarnation(const RecordedIncarnation&) = delete;
  RecordedIncarnation& operator=(const RecordedIncarnation&) = delete;

  Diary diary;
  RecordingEffects effects{diary};
  RecordingEvents events{diary};
  Injector injector;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_INJECT_RECORDING_WORLD_H_
