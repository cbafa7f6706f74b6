#include "reports/html/page/page.h"

#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {

std::string HtmlPage(std::string_view title, std::string_view body,
                     std::string_view more_style) {
  return fmt::format(
      R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{}</title>
<style>{}{}</style>
</head>
<body>
{}<script>{}</script>
</body>
</html>
)html",
      HtmlText(title), kPageStyle, more_style, body, kPageScript);
}

std::string HtmlSection(std::string_view id, std::string_view title,
                        std::string_view html) {
  if (html.empty()) return "";
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id,
                     title, html);
}

}  // namespace gauntlet
