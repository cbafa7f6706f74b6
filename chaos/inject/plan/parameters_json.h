// JSON of a fault's parameters in the plan file. Internal to plan_json.cc.
#ifndef GAUNTLET_CHAOS_INJECT_PLAN_PARAMETERS_JSON_H_
#define GAUNTLET_CHAOS_INJECT_PLAN_PARAMETERS_JSON_H_

#include <string>
#include <string_view>

#include "chaos/inject/plan/object_reader.h"
#include "chaos/inject/plan/plan.h"
#include "engine/status.h"

namespace gauntlet {

// Returns 4096, or "50%".
ObjectReader::Json OffsetToJson(const FileOffset& offset);
// Leaves `out` unchanged if the key is absent.
Status ReadOffset(ObjectReader& reader, std::string_view key, FileOffset& out);

// Returns the parameters of the kind that differ from their defaults.
ObjectReader::Json ParametersToJson(FaultKind kind,
                                    const FaultParameters& with);
// A parameter that the kind does not take is an unknown key, even with its
// default value.
Status ReadParameters(const ObjectReader::Json& json, const std::string& where,
                      FaultKind kind, FaultParameters& out);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_PLAN_PARAMETERS_JSON_H_
