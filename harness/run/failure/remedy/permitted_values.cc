#include "harness/run/failure/remedy/permitted_values.h"

#include "engine/check.h"
#include "harness/scenario/format/keys.h"

namespace gauntlet {

bool IsPermitted(std::string_view key, uint64_t value) {
  const KeySpec* const spec = FindKey(key);
  CHECK(spec != nullptr && spec->type == KeyType::kCount, "no key of a count");
  return spec->low <= value && value <= spec->high;
}

}  // namespace gauntlet
