// Cost of a checkpoint on the disk of $TMPDIR (/tmp): a shard, the commit, the
// load, and the claim of a new process. Load and claim read into the arrays of
// a state. Each measurement alternates with the raw limits for the same bytes,
// so that a drift in the disk's speed affects both alike. The limits are a copy
// in memory, one write and fsync of a new file, and the same write without the
// page cache (O_DIRECT), if the file system supports it. Compare the ratios;
// reads come from the page cache.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/check.h"
#include "engine/ckpt/checkpoint_store.h"
#include "engine/ckpt/state/shard_plan.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/real/posix/descriptor.h"
#include "engine/real/real_world.h"
#include "tests/bench/bench_arrays.h"
#include "tests/engine/real/scratch_directory.h"
#include <fcntl.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using Stopwatch = std::chrono::steady_clock;

template <typename Work>
double SecondsOf(const Work& work) {
  const Stopwatch::time_point begin = Stopwatch::now();
  work();
  return std::chrono::duration<double>(Stopwatch::now() - begin).count();
}

// A state of random bytes, and the raw limits for as many bytes.
class Limits {
 public:
  explicit Limits(std::span<const std::byte> bytes)
      : bytes_(bytes), copy_(bytes.begin(), bytes.end()) {
    constexpr size_t kPage = 4096;
    CHECK(bytes.size() % kPage == 0, "whole pages, for O_DIRECT");
    aligned_.reset(
        static_cast<std::byte*>(std::aligned_alloc(kPage, bytes.size())));
    std::ranges::copy(bytes, aligned_.get());
  }

  double CopySeconds() {
    return SecondsOf([&] {
      std::memcpy(copy_.data(), bytes_.data(), bytes_.size());
      benchmark::ClobberMemory();
    });
  }
  // Returns nullopt if the file system does not support writes with these
  // flags.
  std::optional<double> WriteSeconds(int flags = 0) {
    const std::string path = folder_ / "raw";
    bool can = true;
    const double seconds = SecondsOf([&] {
      const Descriptor file(
          open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | flags, 0600));
      can = file.valid();
      for (size_t at = 0; can && at < bytes_.size();) {
        const ssize_t wrote =
            write(file.get(), aligned_.get() + at, bytes_.size() - at);
        can = wrote > 0;
        if (can) at += static_cast<size_t>(wrote);
      }
      can = can && fsync(file.get()) == 0;
    });
    CHECK(can || flags != 0, path + " cannot be written");
    unlink(path.c_str());
    return can ? std::optional(seconds) : std::nullopt;
  }
  std::optional<double> DirectWriteSeconds() { return WriteSeconds(O_DIRECT); }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };

  ScratchDirectory folder_;
  std::span<const std::byte> bytes_;
  std::vector<std::byte> copy_;
  std::unique_ptr<std::byte, Free> aligned_;
};

// Accumulated seconds of the measured operation and of its limits, alternating.
class Turns {
 public:
  enum class With { kCopy, kWrites };
  Turns(benchmark::State& state, Limits& limits, With with)
      : state_(state), limits_(limits), with_(with) {}

  void Add(double seconds) {
    state_.SetIterationTime(seconds);
    ours_ += seconds;
    copies_ += limits_.CopySeconds();
    if (with_ == With::kCopy) return;
    writes_ += *limits_.WriteSeconds();
    const std::optional<double> direct = limits_.DirectWriteSeconds();
    has_direct_ = direct.has_value();
    direct_writes_ += direct.value_or(0.0);
  }
  // Reports bytes per second, and the limits' seconds divided by the
  // operation's: 1 means that the operation is as fast as the limit.
  void Count(size_t bytes) {
    state_.SetBytesProcessed(state_.iterations() * static_cast<int64_t>(bytes));
    state_.counters["vs_memcpy"] = copies_ / ours_;
    if (with_ == With::kCopy) return;
    state_.counters["vs_write"] = writes_ / ours_;
    if (has_direct_) state_.counters["vs_direct"] = direct_writes_ / ours_;
  }

 private:
  benchmark::State& state_;
  Limits& limits_;
  const With with_;
  double ours_ = 0.0;
  double copies_ = 0.0;
  double writes_ = 0.0;
  double direct_writes_ = 0.0;
  bool has_direct_ = false;
};

// Saves of the only worker, in a directory of its own.
class Saver {
 public:
  explicit Saver(size_t mebibytes)
      : values_(Values(mebibytes * (size_t{1} << 20) / sizeof(float))),
        tensors_(TensorsOf(values_)),
        store_(Open()),
        generation_(store_.ClaimGeneration(kJob).value().generation) {
    head_ = {.state_digest = StateDigest(tensors_), .job_json = kJob};
  }

  std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(values_));
  }
  const Digest& digest() const { return head_.state_digest; }

  void Begin() {
    ++head_.step;
    save_ = store_.BeginSave(head_, generation_).value().value();
  }
  void WriteShard() {
    shard_ = store_.WriteShard(save_, 0, 1, tensors_).value();
  }
  // Checks that the shard's file has the size and digest that the store
  // reported.
  void CheckShard() const {
    const std::string file =
        TextOf(folder_ / ("ckpt/" + save_ + "/" + shard_.name));
    CHECK(file.size() == shard_.bytes && DigestOf(file) == shard_.digest &&
              file.size() > bytes().size(),
          "a shard is not what was written");
  }
  void Abort() {
    const Status status = store_.AbortSave(save_);
    CHECK(status.ok(), status.ToString());
  }
  CheckpointRef Commit() {
    const CheckpointRef ref =
        store_.Commit(save_, head_, generation_, {&shard_, 1}).value();
    const Status retired = store_.RetireOldCheckpoints(head_);
    CHECK(retired.ok(), retired.ToString());
    return ref;
  }
  CheckpointRef Save() {
    Begin();
    WriteShard();
    return Commit();
  }
  Digest Load(const CheckpointRef& ref) {
    loaded_ = store_.Load(ref, places_).value();
    return loaded_.head.state_digest;
  }
  void CheckLoaded() const {
    CHECK(StateDigest(loaded_.tensors) == digest(),
          "what was loaded is not what was saved");
  }
  // Claims the next generation, as a new process would.
  Claim ClaimAnew() {
    return Open().ClaimGeneration(kJob, StateInMemory::kNone, places_).value();
  }

 private:
  static constexpr const char* kJob = R"({"seed":1})";

  // Returns the tensor's part of read_, which is laid out as values_.
  std::span<std::byte> PlaceOf(const TensorView& tensor) {
    const std::span<const std::byte> own =
        FindTensor(tensors_, tensor.name)->bytes;
    return std::as_writable_bytes(std::span(read_))
        .subspan(static_cast<size_t>(own.data() - bytes().data()), own.size());
  }

  CheckpointStore Open() {
    return CheckpointStore::Open(world_,
                                 {.directory = folder_ / "ckpt", .keep = 2})
        .value();
  }

  const std::vector<float> values_;
  const std::vector<TensorView> tensors_;
  ScratchDirectory folder_;
  RealWorld parts_;
  World world_ = parts_.world();
  CheckpointStore store_;
  const uint64_t generation_;
  CheckpointHead head_;
  std::string save_;
  ShardFile shard_;
  // Arrays into which Load and ClaimAnew read a checkpoint's state.
  std::vector<float> read_ = std::vector<float>(values_.size());
  const TensorPlaces places_ = [this](const TensorView& tensor) {
    return PlaceOf(tensor);
  };
  LoadedCheckpoint loaded_;
};

void BM_WriteShard(benchmark::State& state) {
  Saver saver(static_cast<size_t>(state.range(0)));
  Limits limits(saver.bytes());
  Turns turns(state, limits, Turns::With::kWrites);
  for (auto _ : state) {
    saver.Begin();
    turns.Add(SecondsOf([&] { saver.WriteShard(); }));
    saver.CheckShard();
    saver.Abort();
  }
  turns.Count(saver.bytes().size());
}

// Times index, manifest, renames, state file and the removal of the third
// newest checkpoint, without bytes of the state. The limit is a write and fsync
// of one page.
void BM_Commit(benchmark::State& state) {
  Saver saver(static_cast<size_t>(state.range(0)));
  Limits page(saver.bytes().first(4096));
  double commits = 0.0;
  double pages = 0.0;
  CheckpointRef ref;
  for (auto _ : state) {
    saver.Begin();
    saver.WriteShard();
    const double seconds = SecondsOf([&] { ref = saver.Commit(); });
    state.SetIterationTime(seconds);
    commits += seconds;
    pages += *page.WriteSeconds();
  }
  saver.Load(ref);
  saver.CheckLoaded();
  state.counters["vs_page_write"] = pages / commits;
}

void BM_Load(benchmark::State& state) {
  Saver saver(static_cast<size_t>(state.range(0)));
  Limits limits(saver.bytes());
  Turns turns(state, limits, Turns::With::kCopy);
  const CheckpointRef ref = saver.Save();
  for (auto _ : state) turns.Add(SecondsOf([&] { saver.Load(ref); }));
  saver.CheckLoaded();
  turns.Count(saver.bytes().size());
}

// Times a claim, which reads the newest checkpoint to verify it.
void BM_Claim(benchmark::State& state) {
  Saver saver(static_cast<size_t>(state.range(0)));
  Limits limits(saver.bytes());
  Turns turns(state, limits, Turns::With::kCopy);
  saver.Save();
  for (auto _ : state) {
    Claim claim;
    turns.Add(SecondsOf([&] { claim = saver.ClaimAnew(); }));
    CHECK(claim.parent && claim.parent_digest == saver.digest(),
          "a claim without the checkpoint");
  }
  turns.Count(saver.bytes().size());
}

constexpr struct {
  const char* name;
  void (*function)(benchmark::State&);
} kParts[] = {{"store/write_shard", BM_WriteShard},
              {"store/commit", BM_Commit},
              {"store/load", BM_Load},
              {"store/claim", BM_Claim}};

// Fixed numbers of rounds instead of --benchmark_min_time: most of a round is
// not timed.
constexpr struct {
  int64_t mebibytes;
  benchmark::IterationCount rounds;
} kSizes[] = {{1, 40}, {10, 20}, {100, 5}};

int RegisterAll() {
  for (const auto& [name, function] : kParts) {
    for (const auto& [mebibytes, rounds] : kSizes) {
      benchmark::RegisterBenchmark(name, function)
          ->ArgName("MiB")
          ->Arg(mebibytes)
          ->Iterations(rounds)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return 0;
}
[[maybe_unused]] const int registered = RegisterAll();

}  // namespace
}  // namespace gauntlet
