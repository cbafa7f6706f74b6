// A world for tests of the store: memory or a real directory, a clock that only
// advances by sleeping, and recorded events and fault points.
#ifndef GAUNTLET_TESTS_ENGINE_CKPT_TEST_WORLD_H_
#define GAUNTLET_TESTS_ENGINE_CKPT_TEST_WORLD_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/world/world.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {

class TestClock final : public Clock {
 public:
  Time Now() const override { return now; }
  int64_t UnixSeconds() const override { return unix_seconds; }
  void SleepUntil(Time deadline) override { now = deadline; }
  Time now;
  int64_t unix_seconds = 1'700'000'000;
};

class TestHost final : public Host {
 public:
  std::string Name() const override { return "machine-a"; }
  int TerminationNotices() const override { return 0; }
  std::optional<Time> FirstNotice() const override { return std::nullopt; }
  int Interrupts() const override { return 0; }
  Result<HttpResponse> SendRequest(const HttpRequest&, Time) override {
    return Unavailable("nobody answers");
  }
  [[noreturn]] void Exit(int code) override;
};

class TestEvents final : public EventLog {
 public:
  void Emit(LogEvent event) override { all.push_back(event); }
  std::vector<LogEvent> Of(EventKind kind) const;
  std::vector<LogEvent> all;
};

class TestFaults final : public FaultPoints {
 public:
  Status Hit(Point point, const PointContext& context) override;
  bool Planted(PlantedBug bug) const override { return planted.contains(bug); }
  // Returns the status of the fault point that is reached, given the number of
  // fault points that were reached before. If empty, no point fails.
  std::function<Status(Point, size_t)> script;
  std::vector<Point> hits;
  std::set<PlantedBug> planted;
};

class NoNetwork final : public Network {
 public:
  Result<std::unique_ptr<Listener>> Listen(const std::string& a,
                                           ConnectionFilter filter) override;
  Result<std::unique_ptr<Channel>> Connect(const std::string& a,
                                           Time deadline) override;
};

class NoTasks final : public Tasks {
 public:
  std::unique_ptr<Task> Spawn(std::string name,
                              std::function<void()> body) override;
  std::unique_ptr<Event> NewEvent() override;
};

// Fills with increasing bytes, so that each result differs.
class TestEntropy final : public Entropy {
 public:
  void Fill(std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) byte = std::byte{next_++};
  }

 private:
  uint8_t next_ = 0;
};

// Owns the parts of a world. `storage` may be any storage.
struct TestWorld {
  explicit TestWorld(Storage& storage)
      : world{clock, storage, network, tasks, host, faults, events, entropy} {}
  TestClock clock;
  NoNetwork network;
  NoTasks tasks;
  TestHost host;
  TestFaults faults;
  TestEvents events;
  TestEntropy entropy;
  World world;
};

inline constexpr std::string_view kJob = R"({"seed":1})";
inline constexpr std::string_view kStore = "/store";

// Returns views of the tensors, by name. The keys must outlive the views.
std::vector<TensorView> ViewsOf(const std::map<std::string, Tensor>& tensors);

// A small state that depends on the step. Views are into the object.
struct TestState {
  explicit TestState(uint64_t step);
  std::vector<TensorView> Views() const;
  std::map<std::string, Tensor> tensors;
};

CheckpointHead HeadOf(uint64_t step);

// Opens the store at `directory`, keeping `keep` checkpoints.
CheckpointStore OpenStore(World& world, int keep = 5,
                          const std::string& directory = std::string(kStore));

// Makes a complete save of two shards, and retires old checkpoints.
// `not_finite_since`: the first step whose state was not finite; nullopt: the
// state is finite.
Result<CheckpointRef> Save(CheckpointStore& store, uint64_t generation,
                           uint64_t step,
                           std::optional<uint64_t> not_finite_since = {});

// Result of ClaimGeneration in a new process, and the step of its parent.
struct Recovered {
  Status status;
  std::optional<uint64_t> step;
  std::optional<Claim> claim;
};
Recovered Recover(World& world);

// Returns the names of the committed checkpoints.
std::vector<std::string> Checkpoints(Storage& storage,
                                     const std::string& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_CKPT_TEST_WORLD_H_
