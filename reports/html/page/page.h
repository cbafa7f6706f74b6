// Frame of a report: one self-contained HTML file.
#ifndef GAUNTLET_REPORTS_HTML_PAGE_PAGE_H_
#define GAUNTLET_REPORTS_HTML_PAGE_PAGE_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns a complete document with its style and script. `title` is plain text,
// `body` is HTML, `more_style` is CSS added to that of all pages. A content
// security policy forbids the page to load anything.
std::string HtmlPage(std::string_view title, std::string_view body,
                     std::string_view more_style = "");

// Returns a part of the body with a heading; "" if `html` is empty.
std::string HtmlSection(std::string_view id, std::string_view title,
                        std::string_view html);

// Hint above a part that is wider than a narrow screen; hidden on wide screens.
inline constexpr std::string_view kScrollHint =
    "<p class=\"scroll-hint\">The part below is wider than the screen: scroll "
    "it sideways.</p>\n";

extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PAGE_PAGE_H_
