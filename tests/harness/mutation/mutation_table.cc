#include "tests/harness/mutation/mutation_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/oracle/judge.h"
#include "tests/harness/mutation/harmless_fault.h"
#include "tests/harness/mutation/passing_records.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the FNV-1a hash, which is equal on every machine.
uint64_t SeedOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3;
  }
  return hash;
}

size_t IndexOf(std::string_view group) {
  const auto groups = AllMutationGroups();
  return static_cast<size_t>(
      std::ranges::find(groups, group, &MutationGroup::name) - groups.begin());
}

class Measurement {
 public:
  Measurement(References& references, const MutationOptions& options)
      : references_(references),
        options_(options),
        judge_(options.judge ? options.judge : Judge) {}

  Status AddCase(const Case& one);
  MutationTable Take() && { return std::move(table_); }

 private:
  void AddRecord(const Record& record, size_t column);
  void AddMutant(const Mutation& mutation, const Mutant& mutant, size_t column);
  References& references_;
  const MutationOptions& options_;
  const JudgeFunction judge_;
  const std::vector<Mutation> mutations_ = AllMutations();
  FiberPool pool_;
  MutationTable table_;
};

Status Measurement::AddCase(const Case& one) {
  switch (FitnessOf(one)) {
    case Fitness::kPlantedBug:
      ++table_.planted_bugs;
      return OkStatus();
    case Fitness::kNotHere:
      ++table_.not_here;
      return OkStatus();
    case Fitness::kFits:
      break;
  }
  CaseRecorder recorder(references_, pool_);
  ASSIGN_OR_RETURN(const Record undisturbed, recorder.Run(one));
  const auto faults = AllHarmlessFaults();
  for (size_t column = 0; column < faults.size(); ++column) {
    const std::optional<Case> variant =
        WithHarmlessFault(one, faults[column], undisturbed);
    if (!variant) {
      ++table_.records[column].no_place;
      continue;
    }
    if (!faults[column].kind) {
      AddRecord(undisturbed, column);
      continue;
    }
    ASSIGN_OR_RETURN(const Record record, recorder.Run(*variant));
    AddRecord(record, column);
  }
  return OkStatus();
}

void Measurement::AddRecord(const Record& record, size_t column) {
  RecordCounts& counts = table_.records[column];
  const Verdict verdict = judge_(record);
  if (verdict.kind != VerdictKind::kPass) {
    ++counts.not_passed;
    table_.not_passed[fmt::format("{} with {}", record.case_name,
                                  AllHarmlessFaults()[column].name)] =
        verdict.reason;
    return;
  }
  ++counts.mutated;
  for (const Mutation& mutation : mutations_) {
    for (uint64_t place = 0; place < options_.places; ++place) {
      Choice choice(SeedOf(
          fmt::format("{} {} {}", record.case_name, mutation.name, place)));
      const std::optional<Mutant> mutant = mutation.apply(record, choice);
      if (mutant) AddMutant(mutation, *mutant, column);
    }
  }
}

void Measurement::AddMutant(const Mutation& mutation, const Mutant& mutant,
                            size_t column) {
  MutationCell& cell = table_.cells.at(IndexOf(mutation.group)).at(column);
  if (!mutant.without_effect.empty()) {
    ++cell.without_effect;
    ++table_
          .without_effect[{mutation.name, std::string(mutant.without_effect)}];
    return;
  }
  ++cell.tried;
  const VerdictKind verdict = judge_(mutant.record).kind;
  if (verdict != VerdictKind::kPass) {
    ++cell.caught;
    if (verdict != VerdictKind::kFail) ++cell.no_verdict;
    return;
  }
  table_.survivors.push_back(
      {.scenario = mutant.record.case_name,
       .column = std::string(AllHarmlessFaults()[column].name),
       .group = std::string(mutation.group),
       .mutation = mutation.name,
       .place = mutant.place});
}

}  // namespace

MutationTable::MutationTable()
    : cells(AllMutationGroups().size(),
            std::vector<MutationCell>(AllHarmlessFaults().size())),
      records(AllHarmlessFaults().size()) {}

Result<MutationTable> MeasureJudge(const std::vector<Case>& cases,
                                   References& references,
                                   const MutationOptions& options) {
  Measurement measurement(references, options);
  for (const Case& one : cases) {
    if (options.progress) options.progress(one.name);
    RETURN_IF_ERROR(Annotate(measurement.AddCase(one), std::string(one.name)));
  }
  return std::move(measurement).Take();
}

}  // namespace gauntlet
