#include "reports/html/page/list_table.h"

#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string Tag(std::string_view tag, std::string_view css_class,
                std::string_view html) {
  return fmt::format(
      "<{}{}>{}</{}>", tag,
      css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class), html,
      tag.substr(0, tag.find(' ')));
}

}  // namespace

void ListTable::Add(const std::vector<std::string>& cells) {
  rows_ += "<tr>";
  for (size_t i = 0; i < columns_.size(); ++i) {
    rows_ += Tag("td", columns_[i].css_class, cells.at(i));
  }
  rows_ += "</tr>\n";
}

std::string ListTable::Render() const {
  std::string heads;
  for (const ListColumn& column : columns_) {
    heads += Tag("th scope=\"col\"", column.css_class, column.title);
  }
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"{}\"><table class=\"list\"><thead><tr>{}</tr></thead>\n"
      "<tbody>\n{}</tbody></table></div>\n",
      label_, heads, rows_);
}

const std::string_view kListTableStyle = R"css(
.list { border-collapse: collapse; font-size: 14px; }
.list th { text-align: left; font-weight: 500; color: var(--muted);
  vertical-align: bottom; border-bottom: 2px solid var(--line);
  padding: 4px 14px 4px 0; }
.list td { vertical-align: top; border-bottom: 1px solid var(--line);
  padding: 4px 14px 4px 0; overflow-wrap: normal; }
.list code { overflow-wrap: normal; }
.list td.wide { min-width: 12em; overflow-wrap: anywhere; }
.list .number { text-align: right; white-space: nowrap; }
.list .missed { color: var(--unsure); font-weight: 600; }
@media screen and (max-width: 760px) {
  .list th, .list td { padding-right: 10px; }
  .list td.wide { min-width: 9em; }
}
)css";

}  // namespace gauntlet
