#include "engine/train/output_overlap.h"

#include <string_view>

#include <fmt/format.h>

namespace gauntlet {
namespace {

struct RealPlace {
  const OutputPlace* configured;
  std::string path;
  bool is_exclusive;
};

bool IsIn(std::string_view inner, std::string_view outer) {
  if (!inner.starts_with(outer)) return false;
  return inner.size() == outer.size() || outer == "/" ||
         inner[outer.size()] == '/';
}

Status CheckIsOutside(const RealPlace& inner, const RealPlace& outer) {
  if (!IsIn(inner.path, outer.path)) return OkStatus();
  const bool same = inner.path == outer.path;
  return InvalidArgument(fmt::format(
      "{} {} must not be {} {} {} ({} {}); use another directory",
      inner.configured->role, inner.configured->path, same ? "the" : "inside",
      outer.configured->role, outer.configured->path,
      same ? "both resolve to" : "it resolves to", inner.path));
}

}  // namespace

Status CheckOverlap(Storage& storage, const OutputPlaces& places) {
  std::vector<RealPlace> real;
  const auto add = [&](const OutputPlace& place, bool is_exclusive) {
    if (place.path.empty()) return OkStatus();
    ASSIGN_OR_RETURN(std::string path, storage.RealPath(place.path));
    real.push_back({.configured = &place,
                    .path = std::move(path),
                    .is_exclusive = is_exclusive});
    return OkStatus();
  };
  RETURN_IF_ERROR(add(places.store, true));
  RETURN_IF_ERROR(add(places.exported, true));
  for (const OutputPlace& place : places.others) {
    RETURN_IF_ERROR(add(place, false));
  }
  for (size_t i = 0; i < real.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const RealPlace& earlier = real[j];
      const bool same = real[i].path == earlier.path;
      if (earlier.is_exclusive || same) {
        RETURN_IF_ERROR(CheckIsOutside(real[i], earlier));
      }
      if (real[i].is_exclusive) {
        RETURN_IF_ERROR(CheckIsOutside(earlier, real[i]));
      }
    }
  }
  return OkStatus();
}

}  // namespace gauntlet
