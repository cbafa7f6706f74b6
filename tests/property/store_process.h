// A checkpoint store on a simulated disk, and the processes that use it. Each
// action on the store is checked against the ledger.
#ifndef GAUNTLET_TESTS_PROPERTY_STORE_PROCESS_H_
#define GAUNTLET_TESTS_PROPERTY_STORE_PROCESS_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/sim/simulation.h"
#include "engine/ckpt/checkpoint_store.h"
#include "engine/status.h"
#include "tests/engine/ckpt/test_world.h"
#include "tests/engine/world/gated_storage.h"
#include "tests/property/store_ledger.h"
#include "tests/property/store_script.h"

namespace gauntlet {

class StoreProcess {
 public:
  // `bugs` are planted in each process.
  explicit StoreProcess(DurabilityProfile profile,
                        std::set<PlantedBug> bugs = {});

  // Performs the action. Returns the error of the store in it; "" if there is
  // none.
  std::string Do(const StoreAction& action);

 private:
  // A process with its own view of the world, and its store once it has
  // claimed.
  struct Process {
    explicit Process(const StoreProcess& incarnation)
        : storage(incarnation.disk_), test(storage) {
      test.faults.planted = incarnation.bugs_;
    }
    GatedStorage storage;
    TestWorld test;
    std::optional<CheckpointStore> store;
    uint64_t generation = 0;
    uint64_t step = 0;  // step of its newest checkpoint
    size_t keep = 1;
    size_t events_seen = 0;
  };
  struct OnDisk {
    std::string name;
    SavedKey key;
  };

  std::string Live(const StoreAction& action, Process& process);
  std::string Claim(Process& process, uint64_t keep);
  std::string CheckRefusal(const Process& process, const Status& status) const;
  std::string CheckParent(Process& process, const CheckpointRef& parent);
  std::string CheckChoice(const OnDisk& parent) const;
  std::string SaveOnce(Process& process, Status& saved);
  std::string TakeAcknowledgements(Process& process);
  std::string Late();
  std::string Race(const StoreAction& action);
  std::string Damage(const StoreAction& action);
  std::string Edit(const StoreAction& action);
  std::string Misedit();
  void WriteStateFile(const std::string& text);
  void RemoveStateFile();

  // Returns the checkpoints on the disk, read without the store's own code.
  std::vector<OnDisk> Committed() const;
  std::vector<SavedKey> KeysOnDisk() const;
  void ObserveClaims();
  uint64_t HighestClaimOnDisk() const;

  const std::set<PlantedBug> bugs_;
  FiberPool pool_;
  Simulation simulation_;
  Storage& disk_;
  StoreLedger ledger_;
  size_t least_kept_ = SIZE_MAX;  // smallest `keep` so far
  // Generations whose claims were only found on the disk.
  std::set<uint64_t> unsure_claims_;
  std::set<std::string> damaged_names_;
  // Identifies damage by key too: a power loss may undo the rename of a
  // checkpoint, and so change its name.
  std::set<SavedKey> damaged_keys_;
  std::vector<std::unique_ptr<Process>> stale_;  // oldest first
  std::optional<uint64_t> wanted_;               // step that kEdit selected
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_PROPERTY_STORE_PROCESS_H_
