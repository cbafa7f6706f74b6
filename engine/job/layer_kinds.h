// Table of every kind of layer and its fields. A job's JSON and checks, and the
// layers of scenarios with their schema, are derived from it.
#ifndef GAUNTLET_ENGINE_JOB_LAYER_KINDS_H_
#define GAUNTLET_ENGINE_JOB_LAYER_KINDS_H_

#include <span>
#include <string_view>

#include "engine/job/job.h"

namespace gauntlet {

// A field of LayerSpec that a kind of layer uses: a count or a share.
struct LayerField {
  std::string_view name;              // "units"
  std::string_view doc;               // one line, without the kind
  int LayerSpec::*count = nullptr;    // a count from 1 to `high`; or null
  int high = 0;                       // largest value of `count`
  float LayerSpec::*share = nullptr;  // a share in [0, 1); or null
};

struct LayerKindInfo {
  LayerKind kind;
  std::string_view name;  // "dense"
  std::span<const LayerField> fields;
};

// Returns all kinds, in the order of LayerKind.
std::span<const LayerKindInfo> AllLayerKinds();
const LayerKindInfo& InfoOf(LayerKind kind);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_JOB_LAYER_KINDS_H_
