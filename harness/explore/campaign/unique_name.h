// Unique names for findings, in a folder that may hold those of other
// explorations.
#ifndef GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_UNIQUE_NAME_H_
#define GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_UNIQUE_NAME_H_

#include <string>

#include "engine/status.h"
#include <fmt/format.h>

namespace gauntlet {

// Calls `write` with NAME, NAME.2, NAME.3 … until its Result is not
// kAlreadyExists, and returns that Result.
template <typename Write>
auto WriteUnderUniqueName(const std::string& name, const Write& write) {
  auto written = write(name);
  for (int copy = 2; written.status().code() == Code::kAlreadyExists; ++copy) {
    written = write(fmt::format("{}.{}", name, copy));
  }
  return written;
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_UNIQUE_NAME_H_
