// Names in a list that are to be unlike each other.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_REPEATED_NAME_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_REPEATED_NAME_H_

#include <optional>
#include <span>
#include <string_view>

namespace gauntlet {

// The first, in their order, that stands there twice.
std::optional<std::string_view> FindRepeated(
    std::span<const std::string_view> names);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_REPEATED_NAME_H_
