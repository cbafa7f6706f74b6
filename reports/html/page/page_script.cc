#include "reports/html/page/page.h"

namespace gauntlet {

// Without this script, the page lists only the first cases, and a link to a
// closed section does not open it.
const std::string_view kPageScript = R"js(
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const verdicts = ["failed", "flaky", "inconclusive", "passed",
    "skipped", "not run"];
  const columns = ["name", "verdict", "world", "faults", "restarts",
    "recomputed", "duration", "reason"];
  const titles = { faults: "faults", restarts: "restarts",
    recomputed: "recomputed steps" };
  const numeric = new Set(["faults", "restarts", "recomputed", "duration"]);
  const pageSize = 50;
  const source = byId("case-data");  // null: the page has no table of cases
  const data = source ? JSON.parse(source.textContent) : { rows: [] };
  const state = { sort: -1, descending: false, page: 0, rows: data.rows };

  const textOf = (row, column) =>
    columns[column] === "world" || columns[column] === "reason"
      ? data.texts[row[column]] : row[column];

  const durationText = (ms) => {
    if (ms < 1000) return ms === 0 ? "0 s" : ms + " ms";
    const seconds = ms / 1000;
    if (seconds < 99.5) return Number(seconds.toPrecision(3)) + " s";
    const whole = Math.round(seconds);
    return whole < 3600
      ? Math.floor(whole / 60) + " min " + whole % 60 + " s"
      : Math.floor(whole / 3600) + " h " + Math.floor(whole % 3600 / 60) +
        " min";
  };

  const cellOf = (row, column) => {
    const cell = document.createElement("td");
    const name = columns[column];
    cell.className = (numeric.has(name) ? "number " : "") + name;
    if (titles[name]) cell.dataset.title = titles[name];
    if (name === "verdict") {
      const badge = document.createElement("span");
      badge.className = "badge " +
        verdicts[row[column]].replace(" ", "-");
      badge.textContent = verdicts[row[column]];
      cell.append(badge);
    } else if (name === "name" && row[8] >= 0) {
      const link = document.createElement("a");
      link.href = "#case-" + row[8];
      link.textContent = row[column];
      cell.append(link);
    } else if (name === "duration") {
      cell.textContent = durationText(row[column]);
    } else if (numeric.has(name) && row[column] < 0) {
      cell.textContent = "–";
    } else {
      cell.textContent = textOf(row, column);
    }
    return cell;
  };

  const show = () => {
    const first = state.page * pageSize;
    const rows = state.rows.slice(first, first + pageSize);
    const body = byId("cases").tBodies[0];
    body.replaceChildren(...rows.map((row) => {
      const line = document.createElement("tr");
      line.append(...columns.map((_, column) => cellOf(row, column)));
      return line;
    }));
    byId("shown").textContent = rows.length === 0 ? "no case matches"
      : (first + 1).toLocaleString("en") + "–" +
        (first + rows.length).toLocaleString("en") + " of " +
        state.rows.length.toLocaleString("en");
    byId("previous").disabled = state.page === 0;
    byId("next").disabled = first + pageSize >= state.rows.length;
  };

  const select = () => {
    const words = byId("search").value.toLowerCase().split(/\s+/);
    const verdict = byId("verdict").value;
    const world = byId("world").value;
    state.rows = data.rows.filter((row) => {
      if (verdict !== "" && row[1] !== Number(verdict)) return false;
      if (world !== "" && data.texts[row[2]] !== world) return false;
      const text = (row[0] + " " + data.texts[row[7]]).toLowerCase();
      return words.every((word) => text.includes(word));
    });
    if (state.sort >= 0) {
      const sign = state.descending ? -1 : 1;
      state.rows.sort((a, b) => {
        const left = textOf(a, state.sort);
        const right = textOf(b, state.sort);
        return left < right ? -sign : left > right ? sign : 0;
      });
    }
    state.page = 0;
    show();
  };

  const heads = [...document.querySelectorAll("#cases th")];
  const sortBy = (column) => {
    const again = state.sort === column;
    state.descending = again ? !state.descending : numeric.has(columns[column]);
    state.sort = column;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort",
      state.descending ? "descending" : "ascending");
    select();
  };

  const openTarget = () => {
    const target = location.hash && byId(location.hash.slice(1));
    if (!target || target.tagName !== "DETAILS") return;
    target.open = true;
    target.scrollIntoView();
  };

  const copy = async (button) => {
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };

  heads.forEach((head, column) =>
    head.firstChild.addEventListener("click", () => sortBy(column)));
  if (source) {
    byId("filters").addEventListener("input", select);
    byId("filters").addEventListener("submit",
      (event) => event.preventDefault());
    for (const [id, step] of [["previous", -1], ["next", 1]]) {
      byId(id).addEventListener("click", () => { state.page += step; show(); });
    }
    byId("filters").hidden = byId("pager").hidden = false;
    show();
  }
  document.querySelectorAll(".copy").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  });
  for (const [id, open] of [["open-all", true], ["close-all", false]]) {
    const button = byId(id);
    if (!button) continue;
    button.parentElement.hidden = false;
    button.addEventListener("click", () =>
      document.querySelectorAll("details.case").forEach((section) => {
        section.open = open;
      }));
  }
  addEventListener("hashchange", openTarget);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) openTarget();
  });
  openTarget();
})();
)js";

}  // namespace gauntlet
