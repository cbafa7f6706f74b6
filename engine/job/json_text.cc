#include "engine/job/json_text.h"

#include "engine/job/plain_text.h"
#include <nlohmann/json.hpp>

namespace gauntlet {

JsonText& JsonText::String(std::string_view text) {
  const size_t begin = text_.size();
  text_ += '"';
  std::string_view rest = text;
  while (true) {
    const size_t plain = PlainLength(rest);
    text_.append(rest.data(), plain);
    if (plain == rest.size()) break;
    const char c = rest[plain];
    if (!IsPrintable(c)) {
      text_.resize(begin);
      text_ += nlohmann::json(text).dump();
      return *this;
    }
    text_ += '\\';
    text_ += c;
    rest.remove_prefix(plain + 1);
  }
  text_ += '"';
  return *this;
}

}  // namespace gauntlet
