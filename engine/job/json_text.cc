#include "engine/job/json_text.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace gauntlet {

JsonText& JsonText::String(std::string_view text) {
  const auto is_ascii = [](char c) { return c >= ' ' && c <= '~'; };
  const auto is_plain = [&](char c) {
    return is_ascii(c) && c != '"' && c != '\\';
  };
  text_ += '"';
  if (std::ranges::all_of(text, is_plain)) {
    text_ += text;
  } else if (std::ranges::all_of(text, is_ascii)) {
    for (const char c : text) {
      if (!is_plain(c)) text_ += '\\';
      text_ += c;
    }
  } else {
    const std::string quoted = nlohmann::json(text).dump();
    text_.append(quoted, 1, quoted.size() - 2);
  }
  text_ += '"';
  return *this;
}

}  // namespace gauntlet
