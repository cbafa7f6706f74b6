// Finds duplicates in a list of names.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_REPEATED_NAME_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_REPEATED_NAME_H_

#include <optional>
#include <span>
#include <string_view>

namespace gauntlet {

// Returns the duplicate name that is first in byte order; nullopt if all names
// are unique.
std::optional<std::string_view> FindRepeated(
    std::span<const std::string_view> names);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_REPEATED_NAME_H_
