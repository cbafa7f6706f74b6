#include "tests/engine/ckpt/test_world.h"

#include <cstdlib>
#include <cstring>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/state/shard_plan.h"
#include "engine/ckpt/state/state_digest.h"

namespace gauntlet {

void TestHost::Exit(int code) { std::exit(code); }

std::vector<LogEvent> TestEvents::Of(EventKind kind) const {
  std::vector<LogEvent> found;
  for (const LogEvent& event : all) {
    if (event.kind == kind) found.push_back(event);
  }
  return found;
}

Status TestFaults::Hit(Point point, const PointContext&) {
  hits.push_back(point);
  return script ? script(point, hits.size() - 1) : OkStatus();
}

Result<std::unique_ptr<Listener>> NoNetwork::Listen(const std::string& a,
                                                    ConnectionFilter) {
  return Unavailable(a);
}
Result<std::unique_ptr<Channel>> NoNetwork::Connect(const std::string& a,
                                                    Time) {
  return Unavailable(a);
}

std::unique_ptr<Task> NoTasks::Spawn(std::string, std::function<void()>) {
  return nullptr;
}
std::unique_ptr<Event> NoTasks::NewEvent() { return nullptr; }

namespace {

template <typename T>
Tensor MakeTensor(std::string name, DType dtype, const std::vector<T>& values) {
  Tensor tensor{.name = std::move(name),
                .dtype = dtype,
                .shape = {values.size()},
                .bytes = std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

}  // namespace

TestState::TestState(uint64_t step) {
  const auto value = static_cast<float>(step);
  for (Tensor tensor :
       {MakeTensor<float>("dense0/kernel", DType::kF32,
                          {value, 1.5f, -0.25f, value * 3}),
        MakeTensor<float>("dense0/bias", DType::kF32, {value / 7}),
        MakeTensor<uint64_t>("position/step", DType::kU64, {step}),
        MakeTensor<uint32_t>("rng/key", DType::kU32, {1, 2, 3})}) {
    tensors[tensor.name] = std::move(tensor);
  }
}

std::vector<TensorView> ViewsOf(const std::map<std::string, Tensor>& tensors) {
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    views.push_back(ViewOf(tensor));
    views.back().name = name;
  }
  return views;
}

std::vector<TensorView> TestState::Views() const { return ViewsOf(tensors); }

CheckpointHead HeadOf(uint64_t step) {
  return {.step = step,
          .epoch = step / 5,
          .position = step * 32,
          .state_digest = StateDigest(TestState(step).Views()),
          .job_json = std::string(kJob)};
}

CheckpointStore OpenStore(World& world, int keep,
                          const std::string& directory) {
  Result<CheckpointStore> store =
      CheckpointStore::Open(world, {.directory = directory, .keep = keep});
  CHECK(store.ok(), store.status().ToString());
  return std::move(store).value();
}

Result<CheckpointRef> Save(CheckpointStore& store, uint64_t generation,
                           uint64_t step,
                           std::optional<uint64_t> not_finite_since) {
  CheckpointHead head = HeadOf(step);
  head.not_finite_since = not_finite_since;
  const TestState state(step);
  const std::vector<TensorView> views = state.Views();
  ASSIGN_OR_RETURN(const std::optional<std::string> begun,
                   store.BeginSave(head, generation));
  if (!begun) return AlreadyExists("saved already");
  const std::string& save = *begun;
  std::vector<ShardFile> shards;
  const auto plan = PartitionTensors(views, 2);
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<TensorView> own;
    for (size_t i = 0; i < views.size(); ++i) {
      if (plan[i] == static_cast<size_t>(rank)) own.push_back(views[i]);
    }
    const auto shard = store.WriteShard(save, rank, 2, own);
    if (!shard.ok()) {
      if (shard.status().code() != Code::kCancelled) {
        RETURN_IF_ERROR(store.AbortSave(save));
      }
      return shard.status();
    }
    shards.push_back(*shard);
  }
  ASSIGN_OR_RETURN(const CheckpointRef ref,
                   store.Commit(save, head, generation, shards));
  RETURN_IF_ERROR(store.RetireOldCheckpoints(head));
  return ref;
}

Recovered Recover(World& world) {
  auto store = CheckpointStore::Open(
      world, {.directory = std::string(kStore), .keep = 5});
  if (!store.ok()) {
    return {.status = store.status(), .step = {}, .claim = {}};
  }
  const auto claim = store->ClaimGeneration(std::string(kJob));
  if (!claim.ok()) {
    return {.status = claim.status(), .step = {}, .claim = {}};
  }
  if (!claim->parent) return {.status = {}, .step = {}, .claim = *claim};
  const auto loaded = store->Load(*claim->parent);
  if (!loaded.ok()) {
    return {.status = loaded.status(), .step = {}, .claim = *claim};
  }
  return {.status = {}, .step = loaded->head.step, .claim = *claim};
}

std::vector<std::string> Checkpoints(Storage& storage,
                                     const std::string& directory) {
  std::vector<std::string> names;
  const auto entries = storage.List(directory);
  CHECK(entries.ok(), entries.status().ToString());
  for (const DirectoryEntry& entry : *entries) {
    if (CheckpointName::Parse(entry.name)) names.push_back(entry.name);
  }
  return names;
}

}  // namespace gauntlet
