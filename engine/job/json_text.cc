#include "engine/job/json_text.h"

#include "engine/job/plain_text.h"
#include <nlohmann/json.hpp>

namespace gauntlet {

JsonText& JsonText::String(std::string_view text) {
  const size_t begin = text_.size();
  text_ += '"';
  size_t written = 0;
  for (size_t at = 0;; ++at) {
    at += PlainLength(text.substr(at));
    if (at == text.size()) break;
    if (!IsPrintable(text[at])) {
      text_.resize(begin);
      text_ += nlohmann::json(text).dump();
      return *this;
    }
    text_.append(text, written, at - written) += '\\';
    written = at;
  }
  text_.append(text, written);
  text_ += '"';
  return *this;
}

}  // namespace gauntlet
