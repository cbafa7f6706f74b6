// The frame of a report: one HTML file that loads nothing.
#ifndef GAUNTLET_REPORTS_HTML_PAGE_PAGE_H_
#define GAUNTLET_REPORTS_HTML_PAGE_PAGE_H_

#include <string>
#include <string_view>

namespace gauntlet {

// A whole document with style and script in it. `title` is plain text, `body`
// is HTML, `more_style` is CSS behind that of all pages. A content security
// policy forbids the page to load anything.
std::string HtmlPage(std::string_view title, std::string_view body,
                     std::string_view more_style = "");

// A part of the body with a heading; "" without HTML in it.
std::string HtmlSection(std::string_view id, std::string_view title,
                        std::string_view html);

extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PAGE_PAGE_H_
