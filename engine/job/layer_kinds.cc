#include "engine/job/layer_kinds.h"

#include <iterator>

#include "engine/check.h"
#include "engine/enum_order.h"

namespace gauntlet {
namespace {

constexpr LayerField kDense[] = {{.name = "units",
                                  .doc = "number of outputs",
                                  .count = &LayerSpec::units,
                                  .high = 65536}};
constexpr LayerField kDropout[] = {
    {.name = "rate",
     .doc = "fraction of the inputs that is set to zero",
     .share = &LayerSpec::rate}};
constexpr LayerField kConv2D[] = {
    {.name = "filters",
     .doc = "number of output channels",
     .count = &LayerSpec::filters,
     .high = 4096},
    {.name = "kernel",
     .doc = "width and height of the kernel in pixels",
     .count = &LayerSpec::kernel,
     .high = 64}};
constexpr LayerField kCenter[] = {
    {.name = "momentum",
     .doc = "fraction of a replica's moving mean that is kept in each step",
     .share = &LayerSpec::momentum}};

constexpr LayerKindInfo kKinds[] = {
    {LayerKind::kFlatten, "flatten", {}},
    {LayerKind::kDense, "dense", kDense},
    {LayerKind::kRelu, "relu", {}},
    {LayerKind::kGelu, "gelu", {}},
    {LayerKind::kDropout, "dropout", kDropout},
    {LayerKind::kConv2D, "conv2d", kConv2D},
    {LayerKind::kCenter, "center", kCenter},
};

static_assert(IsInEnumOrder(kKinds, &LayerKindInfo::kind));

}  // namespace

std::span<const LayerKindInfo> AllLayerKinds() { return kKinds; }

const LayerKindInfo& InfoOf(LayerKind kind) {
  const auto index = static_cast<size_t>(kind);
  CHECK(index < std::size(kKinds), "a kind of layer");
  return kKinds[index];
}

}  // namespace gauntlet
