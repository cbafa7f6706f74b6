#include "reports/html/words.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Word {
  std::string_view name;
  std::array<std::string_view, 2> spellings;  // as pages write it
  std::string_view meaning;
};

constexpr std::array kWords = {
    Word{"generation",
         {"generation", "-g"},
         "One membership of the cluster, counted from 1. Each restart or "
         "rejoin of the workers begins the next one. The end of a checkpoint's "
         "name is the generation that wrote it: step-000000005-g1 is of "
         "generation 1."},
    Word{"claim",
         {"claims generation", "claim generation"},
         "The record in the checkpoint directory by which a generation takes "
         "the directory over. Rank 0 writes it before the generation saves "
         "anything."},
    Word{"fenced",
         {"fenced", "Fenced"},
         "Rejected because a newer generation owns the checkpoint directory. "
         "A worker of an older generation that is still running may save, but "
         "nobody loads its checkpoint."},
    Word{"ulps",
         {"ulps", " ulp)"},
         "Units in the last place: the distance of two floating-point numbers, "
         "counted in numbers of their type. 1 is the smallest possible "
         "difference."},
};

bool Occurs(const Word& word, std::string_view html) {
  return std::ranges::any_of(word.spellings, [html](std::string_view spelling) {
    return html.find(spelling) != html.npos;
  });
}

}  // namespace

std::string RenderWords(std::string_view html) {
  std::string names;
  std::string entries;
  for (const Word& word : kWords) {
    if (!Occurs(word, html)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", word.name);
    entries += fmt::format("<dt>{}</dt><dd>{}</dd>\n", word.name, word.meaning);
  }
  if (entries.empty()) return "";
  return fmt::format(
      "<details class=\"words\"><summary>Words used below: {}</summary>\n"
      "<dl class=\"findings\">\n{}</dl></details>\n",
      names, entries);
}

}  // namespace gauntlet
