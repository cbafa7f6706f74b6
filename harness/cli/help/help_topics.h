// The topics of `gauntlet help`, and the names that it describes.
#ifndef GAUNTLET_HARNESS_CLI_HELP_HELP_TOPICS_H_
#define GAUNTLET_HARNESS_CLI_HELP_HELP_TOPICS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// "scenarios", "points", …
std::vector<std::string> HelpTopics();

// The page of a topic; nullopt: there is none of that name.
std::optional<std::string> HelpOnTopic(std::string_view topic);

// Names that have an entry of their own: fault kinds, fault points, invariants,
// presets, planted bugs, and the outcomes and keys of scenarios.
std::vector<std::string> DescribedNames();

// The entry of such a name, of a synonym of a fault kind, or of all keys that
// end in the name ("keep" for "checkpoint.keep"); nullopt: none.
std::optional<std::string> HelpOnName(std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HELP_HELP_TOPICS_H_
