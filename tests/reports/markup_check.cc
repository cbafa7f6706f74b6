#include "tests/reports/markup_check.h"

#include <algorithm>
#include <array>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 4> kVoidElements = {"meta", "input",
                                                           "br", "!DOCTYPE"};

std::string WithoutElement(std::string_view html, const std::string& name) {
  std::string out;
  while (true) {
    const size_t begin = html.find("<" + name);
    if (begin == std::string_view::npos) return out + std::string(html);
    const std::string end_tag = "</" + name + ">";
    const size_t end = html.find(end_tag, begin);
    out += html.substr(0, begin);
    if (end == std::string_view::npos) return out;
    html.remove_prefix(end + end_tag.size());
  }
}

}  // namespace

std::string WithoutCode(std::string_view html) {
  return WithoutElement(WithoutElement(html, "script"), "style");
}

std::string FirstUnbalancedTag(std::string_view html) {
  const std::string text = WithoutCode(html);
  std::vector<std::string> open;
  for (size_t at = text.find('<'); at != std::string::npos;
       at = text.find('<', at + 1)) {
    const size_t close = text.find('>', at);
    if (close == std::string::npos) return text.substr(at, 40);
    const std::string tag = text.substr(at + 1, close - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /\n", 1));
    if (tag.back() == '/' ||
        std::ranges::find(kVoidElements, name) != kVoidElements.end()) {
      continue;
    }
    if (tag[0] != '/') {
      open.push_back(name);
      continue;
    }
    if (open.empty() || "/" + open.back() != tag) return tag;
    open.pop_back();
  }
  return open.empty() ? "" : open.back();
}

size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

std::vector<std::string> ValuesOf(std::string_view html,
                                  std::string_view attribute) {
  const std::string begin = " " + std::string(attribute) + "=\"";
  std::vector<std::string> values;
  for (size_t at = html.find(begin); at != std::string_view::npos;
       at = html.find(begin, at + 1)) {
    const size_t value = at + begin.size();
    values.emplace_back(html.substr(value, html.find('"', value) - value));
  }
  return values;
}

std::string HostileText() {
  std::string text =
      "</title></script><script>alert(1)</script>\"' onload='alert(2)' "
      "<!-- \xE2\x80\xAE";
  for (int byte = 1; byte < 256; ++byte) text += static_cast<char>(byte);
  return text;
}

}  // namespace gauntlet
