// Entries that `gauntlet list` and `gauntlet help` print.
#ifndef GAUNTLET_HARNESS_CLI_HELP_CATALOG_H_
#define GAUNTLET_HARNESS_CLI_HELP_CATALOG_H_

#include <string>
#include <vector>

#include "harness/cli/flags/commands.h"

namespace gauntlet {

struct CatalogEntry {
  std::string name;
  std::string description;  // one line
};

// Returns the built-in entries of a catalog. REQUIRES: the catalog is not
// kScenarios, which are files.
std::vector<CatalogEntry> EntriesOf(Catalog catalog);

// Returns a line for each entry, with the descriptions aligned.
std::string RenderEntries(const std::vector<CatalogEntry>& entries);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HELP_CATALOG_H_
