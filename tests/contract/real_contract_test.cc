#include <vector>

#include "engine/cluster/link/control_messages.h"
#include "engine/real/host/real_host.h"
#include "engine/real/network/grpc_network.h"
#include "engine/real/network/tcp_socket.h"
#include "engine/real/posix/system_clock.h"
#include "engine/real/posix/system_entropy.h"
#include "engine/real/posix/thread_tasks.h"
#include "engine/real/storage/event_file.h"
#include "engine/real/storage/posix_storage.h"
#include "tests/contract/faulty_world.h"
#include "tests/contract/world_fixture.h"
#include "tests/engine/real/network/lanes_of_process.h"
#include "tests/engine/real/scratch_directory.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

class RealWorld final : public WorldUnderTest {
 public:
  RealWorld() { EXPECT_TRUE(storage_.MakeDirectory(Directory()).ok()); }

  void Run(const std::function<void(World&)>& body) override {
    auto events = EventFile::Open(scratch_ / "events", {}, clock_, {});
    ASSERT_TRUE(events.ok()) << events.status().ToString();
    World world = {.clock = clock_,
                   .storage = storage_,
                   .network = network_,
                   .tasks = tasks_,
                   .host = host_,
                   .faults = faults_,
                   .events = **events,
                   .entropy = entropy_};
    tasks_.Spawn("test", [&] { body(world); })->Join();
  }

  std::string Directory() override { return scratch_ / "test"; }

  std::string FreeAddress() override {
    ports_.push_back(*ReservePort("127.0.0.1"));
    return fmt::format("127.0.0.1:{}", ports_.back().port);
  }

 private:
  const ScratchDirectory scratch_;
  std::vector<ReservedPort> ports_;
  SystemClock clock_;
  PosixStorage storage_;
  GrpcNetwork network_;
  ThreadTasks tasks_;
  RealHost host_;
  NoFaults faults_;
  SystemEntropy entropy_;
};

WorldKind Kind() {
  return {.name = "posix_grpc_threads",
          .make = [] { return std::make_unique<RealWorld>(); }};
}

// Returns a real world whose clients send their frames through a shared lane.
WorldKind LaneKind() {
  WorldKind kind = Kind();
  kind.name += "_lane";
  kind.first_frame = EncodeControl(Hello{.role = ChannelRole::kRing});
  kind.await_connection = [] { AwaitLanes(getpid(), 2); };
  return kind;
}

INSTANTIATE_TEST_SUITE_P(Lane, NetworkContract,
                         testing::Values(LaneKind(), Faulty(LaneKind())));
INSTANTIATE_WORLD_CONTRACTS(Real, Kind());
INSTANTIATE_WORLD_CONTRACTS(FaultyReal, Faulty(Kind()));

}  // namespace
}  // namespace gauntlet
