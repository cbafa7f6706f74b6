// Technical terms that a page explains once.
#ifndef GAUNTLET_REPORTS_HTML_PAGE_WORDS_H_
#define GAUNTLET_REPORTS_HTML_PAGE_WORDS_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns a folded explanation of each term that occurs in `html`; "" if none
// does.
std::string RenderWords(std::string_view html);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PAGE_WORDS_H_
