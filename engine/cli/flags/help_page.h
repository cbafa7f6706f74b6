// The help page of one command: usage, options in groups, examples.
//
// If a command has many options, its rarely used groups have pages of their
// own, and the first page lists only the names of these options.
#ifndef GAUNTLET_ENGINE_CLI_FLAGS_HELP_PAGE_H_
#define GAUNTLET_ENGINE_CLI_FLAGS_HELP_PAGE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// Width of a help page, in columns.
inline constexpr size_t kHelpWidth = 80;

struct HelpEntry {
  std::string name;  // "-j, --jobs N"
  std::string text;  // will be wrapped to the page
};

enum class GroupPage : uint8_t { kFirst, kOwn };

struct HelpGroup {
  std::string title;  // "Checkpoints"
  GroupPage page = GroupPage::kFirst;
  std::vector<HelpEntry> entries;
};

struct HelpPage {
  std::string command;  // "train"
  std::string summary;
  std::string usage;  // arguments after the command: "[OPTIONS] FILE"
  std::vector<HelpGroup> groups;
  std::string examples;
};

// Returns the page that `gauntlet COMMAND --help` prints.
std::string RenderHelpPage(const HelpPage& page);

// Returns the groups of that name ("checkpoints"), or all of them ("all").
// kInvalidArgument lists the existing groups.
Result<std::string> RenderHelpGroup(const HelpPage& page,
                                    std::string_view name);

// Returns the entries one below the other: names on the left, texts wrapped at
// kHelpWidth.
std::string RenderHelpEntries(const std::vector<HelpEntry>& entries);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_FLAGS_HELP_PAGE_H_
