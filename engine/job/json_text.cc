#include "engine/job/json_text.h"

#include <nlohmann/json.hpp>

namespace gauntlet {

JsonText& JsonText::String(std::string_view text) {
  return Raw(nlohmann::json(text).dump());
}

}  // namespace gauntlet
