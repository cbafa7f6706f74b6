// Common synonyms of fault kinds, such as `oom` for `out_of_memory`.
//
// The scenario loader, the help and its suggestions use the same table.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_FAULT_SYNONYMS_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_FAULT_SYNONYMS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/format/yaml_tree.h"

namespace gauntlet {

struct FaultSynonym {
  std::string_view name;  // "oom"
  FaultKind kind = FaultKind::kCrash;
  // Parameter that the synonym implies, such as "error" with "ENOSPC"; "":
  // none.
  std::string_view parameter = "";
  std::string_view value = "";
};

// A name with several meanings, and advice on which fault kind to use.
struct AmbiguousFaultName {
  std::string_view name;    // "latency"
  std::string_view advice;  // "use slow (…) or delay (…)"
};

std::span<const FaultSynonym> AllFaultSynonyms();
std::span<const AmbiguousFaultName> AllAmbiguousFaultNames();

// Returns the synonym with that name; '-' and '_' are equal, and so are small
// and capital letters. Other spellings of a fault kind are synonyms too
// ("bit-flip"), and so are names of errors ("eio": `errno` with error EIO). The
// exact name of a kind is not a synonym.
std::optional<FaultSynonym> FindFaultSynonym(std::string_view name);

// Returns the advice for an ambiguous name; "" if the name is not ambiguous.
std::string_view AdviceOnFaultName(std::string_view name);

// Returns the names of the synonyms of a kind, in the order of the table.
std::vector<std::string> SynonymsOf(FaultKind kind);

// Replaces the synonyms in the `faults` of a document by the fault kinds, with
// a warning for each.
void ReplaceFaultSynonyms(YamlNode& document, Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_FAULT_SYNONYMS_H_
