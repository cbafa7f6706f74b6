#include "tests/harness/mutation/record_mutation.h"

#include <array>
#include <iterator>
#include <utility>

#include "tests/harness/mutation/record_edit.h"

namespace gauntlet {
namespace {

constexpr std::array<MutationGroup, 32> kGroups = {{
    {"unexplained death", "a worker's death without the fault that caused it"},
    {"unexplained loss", "a worker given up without the fault that stopped it"},
    {"loss noticed late", "an hour between a fault and the first sign of it"},
    {"notice unheeded", "a termination notice, after which training goes on"},
    {"exit added", "a worker exits, or is started once more, for no reason"},
    {"tail cut", "a worker's last events are missing, as if it had died"},
    {"stale resume", "resumes from an older checkpoint than the newest"},
    {"cold start", "starts from step 0 although checkpoints exist"},
    {"false rejection", "rejects a good checkpoint and resumes from an older"},
    {"save added", "a save acknowledged that never took place"},
    {"sample twice", "a step uses a sample that the epoch has used before"},
    {"workers exchanged", "two workers' events under each other's number"},
    {"event dropped", "any event"},
    {"event twice", "any event"},
    {"all late", "an hour in which nothing happens, before any event"},
    {"one late", "one worker an hour behind the others, from any event on"},
    {"events swapped", "two workers' events of one kind and step"},
    {"digest", "a bit of an event's state digest"},
    {"loss", "the lowest bit of an event's loss"},
    {"step", "an event's step, one higher"},
    {"epoch", "an event's epoch, one higher"},
    {"position", "an event's position in the epoch, one higher"},
    {"phase", "another phase of an event"},
    {"samples", "a sample left out of a step"},
    {"path", "another path in an event: mostly, another claim's checkpoint"},
    {"generation", "an event's generation, one higher"},
    {"count", "an event's count, one higher: of correct samples, an exit code"},
    {"checkpoint missing", "a checkpoint that should be left in the end"},
    {"directory changed", "other contents of the checkpoint directory"},
    {"launcher's account", "exit code, restarts or result of the launcher"},
    {"process left", "a process of the run that outlives it"},
    {"no end", "the run hangs, or takes longer than its limit"},
}};

}  // namespace

std::span<const MutationGroup> AllMutationGroups() { return kGroups; }

std::vector<Mutation> AllMutations() {
  std::vector<Mutation> all;
  for (auto* list :
       {CauseMutations, HistoryMutations, EventMutations, EndMutations}) {
    std::vector<Mutation> some = list();
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  for (Mutation& mutation : all) {
    mutation.apply = [apply = std::move(mutation.apply)](
                         const Record& record,
                         Choice& choice) -> std::optional<Mutant> {
      std::optional<Mutant> mutant = apply(record, choice);
      if (mutant) Renumber(mutant->record);
      return mutant;
    };
  }
  return all;
}

}  // namespace gauntlet
