// The topics of `gauntlet help`, and the names that it explains.
#ifndef GAUNTLET_HARNESS_CLI_HELP_HELP_TOPICS_H_
#define GAUNTLET_HARNESS_CLI_HELP_HELP_TOPICS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// Returns "scenarios", "points", …
std::vector<std::string> HelpTopics();

// Returns the page of a topic; nullopt if there is no such topic.
std::optional<std::string> HelpOnTopic(std::string_view topic);

// Returns the names with an entry of their own: fault kinds, fault points,
// invariants, presets, planted bugs, and the outcomes and keys of scenarios.
std::vector<std::string> DescribedNames();

// Returns the entry of `name`, which is one of DescribedNames or a synonym of a
// fault kind. If keys end in `name` ("checkpoint.keep" in "keep"), returns the
// entries of all of these keys. nullopt if there is no entry.
std::optional<std::string> HelpOnName(std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HELP_HELP_TOPICS_H_
