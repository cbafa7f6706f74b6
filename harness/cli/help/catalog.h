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

// Everything in a catalog that the program itself holds. REQUIRES: the catalog
// is not kScenarios, which are files.
std::vector<CatalogEntry> EntriesOf(Catalog catalog);

// A line an entry, the descriptions below each other.
std::string RenderEntries(const std::vector<CatalogEntry>& entries);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HELP_CATALOG_H_
