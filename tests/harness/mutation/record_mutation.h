// Mutations of a record: each makes one thing in it wrong.
//
// They measure the judge. The record of a run that passed is changed as a
// defect of the engine, of the launcher or of a worker's process would have
// changed it, and judged again. If the changed record passes too, the judge has
// missed the defect.
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

// Id of a fault that was added to a plan because it must change nothing.
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
  // can fail it; empty: a judge should.
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

// All groups, in the order of the table.
std::span<const MutationGroup> AllMutationGroups();
// All mutations, in the order of their lists below.
std::vector<Mutation> AllMutations();

// One operation on one event: for each kind of event, each operation and field.
std::vector<Mutation> EventMutations();
// Several events changed together, as a whole defect would leave them.
std::vector<Mutation> HistoryMutations();
// Causes of losses and notices taken out, held back or left unheeded.
std::vector<Mutation> CauseMutations();
// Changes in the reports of the launcher and in the findings after the end.
std::vector<Mutation> EndMutations();

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_RECORD_MUTATION_H_
