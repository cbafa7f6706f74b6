#include "harness/explore/crash/crash_recovery.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/ckpt/state/state_digest.h"

namespace gauntlet {
namespace {

// A clock that stands still. Recovery waits only before it retries, and here it
// need not wait.
class StillClock final : public Clock {
 public:
  Time Now() const override { return Time{}; }
  int64_t UnixSeconds() const override { return 1'700'000'000; }
  void SleepUntil(Time) override {}
};

class NoNetwork final : public Network {
 public:
  using Network::Listen;
  Result<std::unique_ptr<Listener>> Listen(const std::string&,
                                           ConnectionFilter) override {
    return Unavailable("no network");
  }
  Result<std::unique_ptr<Channel>> Connect(const std::string&, Time) override {
    return Unavailable("no network");
  }
};

class NoTasks final : public Tasks {
 public:
  std::unique_ptr<Task> Spawn(std::string, std::function<void()>) override {
    CheckFailed(__FILE__, __LINE__, "Spawn", "a recovery has no tasks");
  }
  std::unique_ptr<Event> NewEvent() override {
    CheckFailed(__FILE__, __LINE__, "NewEvent", "a recovery has no tasks");
  }
};

class LoneHost final : public Host {
 public:
  std::string Name() const override { return "h"; }
  int TerminationNotices() const override { return 0; }
  std::optional<Time> FirstNotice() const override { return std::nullopt; }
  int Interrupts() const override { return 0; }
  Result<HttpResponse> SendRequest(const HttpRequest&, Time) override {
    return Unavailable("nobody answers");
  }
  [[noreturn]] void Exit(int) override {
    CheckFailed(__FILE__, __LINE__, "Exit", "a recovery does not end itself");
  }
};

class OnlyDefects final : public FaultPoints {
 public:
  explicit OnlyDefects(std::span<const PlantedBug> bugs)
      : bugs_(bugs.begin(), bugs.end()) {}
  Status Hit(Point, const PointContext&) override { return OkStatus(); }
  bool Planted(PlantedBug bug) const override {
    return std::ranges::find(bugs_, bug) != bugs_.end();
  }

 private:
  std::vector<PlantedBug> bugs_;
};

// A recovery draws no random numbers.
class NoEntropy final : public Entropy {
 public:
  void Fill(std::span<std::byte>) override {
    CheckFailed(__FILE__, __LINE__, "Fill", "a recovery draws nothing");
  }
};

class Unheard final : public EventLog {
 public:
  void Emit(LogEvent) override {}
};

Recovered Failure(const Status& status, RecoveryEnd end) {
  return {.end = end, .detail = status.message()};
}

Recovered Recover(World& world, const StoreOptions& options,
                  const std::string& job_json) {
  auto store = CheckpointStore::Open(world, options);
  if (!store.ok()) return Failure(store.status(), RecoveryEnd::kFailed);
  const Result<Claim> claim = store->ClaimGeneration(job_json);
  if (!claim.ok()) {
    return Failure(claim.status(),
                   claim.status().code() == Code::kFailedPrecondition
                       ? RecoveryEnd::kRefused
                       : RecoveryEnd::kFailed);
  }
  if (!claim->parent) return {.end = RecoveryEnd::kColdStart};
  const Result<LoadedCheckpoint> loaded = store->Load(*claim->parent);
  if (!loaded.ok()) return Failure(loaded.status(), RecoveryEnd::kFailed);
  Recovered recovered = {.end = RecoveryEnd::kState,
                         .step = loaded->head.step,
                         .state_digest = StateDigest(loaded->tensors),
                         .detail = claim->parent->name};
  for (const CommittedCheckpoint& checkpoint : store->lineage()) {
    if (checkpoint.not_finite_since) continue;
    recovered.finite_step = checkpoint.ref.step;
    recovered.finite_digest = checkpoint.state_digest;
  }
  return recovered;
}

}  // namespace

struct CrashRecovery::Outside {
  StillClock clock;
  NoNetwork network;
  NoTasks tasks;
  LoneHost host;
  OnlyDefects faults;
  Unheard events;
  NoEntropy entropy;
};

CrashRecovery::CrashRecovery(StoreOptions store, std::string job_json,
                             std::span<const PlantedBug> bugs)
    : store_(std::move(store)),
      job_json_(std::move(job_json)),
      outside_(new Outside{.faults = OnlyDefects(bugs)}) {}

CrashRecovery::~CrashRecovery() = default;

Recovered CrashRecovery::Run(ImageDirectory& image) {
  ImageStorage storage(image);
  World world = {.clock = outside_->clock,
                 .storage = storage,
                 .network = outside_->network,
                 .tasks = outside_->tasks,
                 .host = outside_->host,
                 .faults = outside_->faults,
                 .events = outside_->events,
                 .entropy = outside_->entropy};
  return Recover(world, store_, job_json_);
}

}  // namespace gauntlet
