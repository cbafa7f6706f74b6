#include "reports/html/page/text.h"

#include <utility>

#include "reports/events/event_text.h"
#include "reports/junit.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, begin)) {
    result.append(text, begin, at - begin).append(to);
    begin = at + from.size();
  }
  text = std::move(result.append(text, begin));
}

// Replaces U+202A to U+202E and U+2066 to U+2069.
void ReplaceDirectionMarks(std::string& text) {
  if (text.find("\xE2\x80") == std::string::npos &&
      text.find("\xE2\x81") == std::string::npos) {
    return;
  }
  for (char last = '\xAA'; last <= '\xAE'; ++last) {
    ReplaceAll(text, std::string{'\xE2', '\x80', last}, kReplacement);
  }
  for (char last = '\xA6'; last <= '\xA9'; ++last) {
    ReplaceAll(text, std::string{'\xE2', '\x81', last}, kReplacement);
  }
}

// Returns the value with three significant digits: "1.94", "12.5", "850".
std::string ThreeDigits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

}  // namespace

std::string CutText(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string HtmlText(std::string_view text, size_t most) {
  std::string plain = PlainText(CutText(text, most));
  ReplaceDirectionMarks(plain);
  std::string html = EscapeXml(plain);
  ReplaceAll(html, "'", "&#39;");
  return html;
}

std::string SvgLabel(double x, double y, std::string_view anchor,
                     std::string_view text) {
  return fmt::format(
      R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", x, y, anchor,
      HtmlText(text));
}

std::string ProseHtml(std::string_view text) {
  const std::string html = HtmlText(text);
  std::string prose;
  size_t begin = 0;
  for (size_t open = html.find('`'); open != html.npos;
       open = html.find('`', begin)) {
    const size_t close = html.find('`', open + 1);
    if (close == html.npos) break;
    prose += html.substr(begin, open - begin);
    prose +=
        fmt::format("<code>{}</code>", html.substr(open + 1, close - open - 1));
    begin = close + 1;
  }
  return prose + html.substr(begin);
}

std::string JsonInHtml(std::string json) {
  ReplaceAll(json, "<", "\\u003c");
  return json;
}

std::string DurationText(int64_t ns) {
  const double seconds = static_cast<double>(ns) / 1e9;
  if (ns == 0) return "0 s";
  if (seconds < 0.9995e-3)
    return fmt::format("{} µs", ThreeDigits(seconds * 1e6));
  if (seconds < 0.9995) return fmt::format("{} ms", ThreeDigits(seconds * 1e3));
  if (seconds < 99.5) return fmt::format("{} s", ThreeDigits(seconds));
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string GroupedDigits(uint64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string grouped;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string GroupedCount(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", GroupedDigits(count), noun,
                     count == 1 ? "" : "s");
}

}  // namespace gauntlet
