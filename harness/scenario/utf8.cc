#include "harness/scenario/utf8.h"

#include <cstddef>

namespace gauntlet {

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    if (first < 0x80) continue;
    if (first < 0xc2 || first > 0xf4) return false;
    const int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    for (int k = 0; k < more; ++k, ++i) {
      if (i == text.size() ||
          (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace gauntlet
