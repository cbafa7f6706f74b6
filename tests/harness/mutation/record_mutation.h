// Mutations of a record: each makes one thing in the record wrong.
//
// They measure the judge. A mutation takes the record of a run that passed, and
// changes it as a defect of the engine, the launcher or a worker's process
// would. The judge then judges the changed record. If that one passes too, the
// judge has missed the defect.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_RECORD_MUTATION_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_RECORD_MUTATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// Id of the harmless fault that is added to a plan (harmless_fault.h).
inline constexpr std::string_view kHarmlessFaultId = "harmless";

// Chooses among places of a record; equal seeds make equal choices.
class Choice {
 public:
  explicit Choice(uint64_t seed) : random_(seed) {}
  // Returns a number below `count`. REQUIRES: count > 0.
  size_t Below(size_t count) { return random_() % count; }

 private:
  std::mt19937_64 random_;
};

// A changed record.
struct Mutant {
  Record record;
  std::string place;  // "event 17 of worker 1, incarnation 2 (step 8)"
  // Reason why a correct run could have left this record too, so that no judge
  // can fail it; empty if a judge should.
  std::string_view without_effect = {};
};

// Returns nullopt if the record has no place for the mutation.
using ApplyMutation =
    std::function<std::optional<Mutant>(const Record&, Choice&)>;

struct Mutation {
  std::string_view group;  // name of its MutationGroup
  std::string name;        // unique: "drop save_acknowledged"
  ApplyMutation apply;
};

// Mutations that are counted together: a row of the table.
struct MutationGroup {
  std::string_view name;
  std::string_view description;
};

// Returns all groups, in the order of the table.
std::span<const MutationGroup> AllMutationGroups();
// Returns all mutations, in the order of their lists below.
std::vector<Mutation> AllMutations();

// Returns mutations of one event: each operation and field, for each kind of
// event.
std::vector<Mutation> EventMutations();
// Returns mutations of several events that one defect would change together.
std::vector<Mutation> HistoryMutations();
// Returns mutations of losses and notices: a loss without its cause, a loss
// that is detected late, a notice that is ignored.
std::vector<Mutation> CauseMutations();
// Returns mutations of the end of a run: the launcher's reports, the files and
// processes that are left, and the way in which the run ended.
std::vector<Mutation> EndMutations();

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_RECORD_MUTATION_H_
