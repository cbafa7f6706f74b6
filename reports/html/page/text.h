// Text of results and records in an HTML page.
#ifndef GAUNTLET_REPORTS_HTML_PAGE_TEXT_H_
#define GAUNTLET_REPORTS_HTML_PAGE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gauntlet {

inline constexpr size_t kLongestHtmlText = 2000;

// Text for an attribute or between tags, on one line. Markup is escaped,
// control characters become spaces; bytes that are no UTF-8 and characters that
// change the direction of writing become U+FFFD. Text of more than `most` bytes
// ends in "…".
std::string HtmlText(std::string_view text, size_t most = kLongestHtmlText);

// JSON for a <script> element: no text in it can end the element.
std::string JsonInHtml(std::string json);

// The text without the end that makes it longer than `most` bytes; it ends in
// "…" then. No character of UTF-8 is split.
std::string CutText(std::string_view text, size_t most);

// "850 µs", "12.5 ms", "1.94 s", "2 min 5 s".
std::string DurationText(int64_t ns);

// "100,000".
std::string GroupedDigits(uint64_t number);
// "100,000 cases".
std::string GroupedCount(uint64_t count, std::string_view noun);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PAGE_TEXT_H_
