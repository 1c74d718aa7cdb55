// The page: draw each panel, pick an audit, sort the comparison, filter the checks.
const data = JSON.parse(document.getElementById("data").textContent);

function attempt(host, draw) {
  const area = html("div", { class: "drawn" });
  host.append(area);
  try {
    draw(area);
  } catch (error) {
    area.replaceChildren(html("p", { class: "missing" }, `Not drawn: this part of the audit does not follow the format (${error.message}).`));
  }
}
const meanings = new Map(Object.entries(data.words || {}));
function explain(event) {
  const term = event.target.closest && event.target.closest(".term");
  if (!term || !meanings.has(term.dataset.word)) return;
  const box = term.getBoundingClientRect();
  showTip({ clientX: box.left + box.width / 2, clientY: box.top }, term.dataset.word, [{ name: meanings.get(term.dataset.word) }]);
}
for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, explain);
for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, (event) => { if (event.target.closest && event.target.closest(".term")) hideTip(); });

for (const host of document.querySelectorAll(".comparison > .columns [data-panel]")) attempt(host, (area) => COMPARISON[host.dataset.panel](area, data.rows));

const articles = [...document.querySelectorAll(".audit")];
const drawn = new Set();
function show(picked) {
  articles.forEach((article, place) => (article.hidden = place !== picked));
  for (const row of document.querySelectorAll("#comparison tbody tr")) row.classList.toggle("picked", Boolean(row.querySelector(`[data-pick="${picked}"]`)));
  const select = document.getElementById("picked");
  if (select) select.value = String(picked);
  if (drawn.has(picked) || !articles[picked]) return;
  drawn.add(picked);
  for (const host of articles[picked].querySelectorAll("[data-panel]")) attempt(host, (area) => PANELS[host.dataset.panel](area, data.audits[picked], data.pictures));
}
const placeOf = (hash) => data.audits.findIndex((audit) => audit.method && decodeURIComponent(hash.slice(1)) === audit.method);
show(placeOf(location.hash) >= 0 ? placeOf(location.hash) : data.first || 0);
addEventListener("hashchange", () => { if (placeOf(location.hash) >= 0) pick(placeOf(location.hash)); });
function pick(picked) {
  show(picked);
  if (data.audits[picked].method) history.replaceState(null, "", "#" + encodeURIComponent(data.audits[picked].method));
}
const sides = document.getElementById("contrast");
if (sides) contrast(sides, data);

const select = document.getElementById("picked");
if (select) select.addEventListener("change", () => pick(Number(select.value)));
for (const button of document.querySelectorAll("[data-pick]")) button.addEventListener("click", () => {
  pick(Number(button.dataset.pick));
  articles[Number(button.dataset.pick)].scrollIntoView();
});

for (const table of document.querySelectorAll(".sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((each) => each.setAttribute("aria-sort", each === head ? (up ? "ascending" : "descending") : "none"));
    const key = (row) => row.cells[column].dataset.key;
    const all = [...table.tBodies[0].rows], pinned = all.filter((row) => "pinned" in row.dataset);
    const rows = all.filter((row) => !("pinned" in row.dataset)).sort((a, b) => {
      const [left, right] = [key(a), key(b)];
      if (!left || !right) return (left ? 0 : 1) - (right ? 0 : 1);
      const order = column && left - right === left - right ? left - right : left.localeCompare(right);
      return up ? order : -order;
    });
    table.tBodies[0].append(...pinned, ...rows);
  }));
}
for (const group of document.querySelectorAll(".filters")) group.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  for (const each of group.children) each.setAttribute("aria-pressed", String(each === button));
  const table = group.nextElementSibling;
  for (const row of table.querySelectorAll("[data-status]")) row.hidden = Boolean(button.dataset.filter) && row.dataset.status !== button.dataset.filter;
  for (const body of table.tBodies) body.hidden = !body.querySelector("[data-status]:not([hidden])");
});
for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", () => {
  const code = button.previousElementSibling;
  const done = () => (button.textContent = "copied");
  getSelection().selectAllChildren(code);
  if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, () => {});
});
const links = [...document.querySelectorAll(".contents a")];
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) links.forEach((link) => link.classList.toggle("here", link.hash === "#" + entry.target.id));
}, { rootMargin: "-10% 0px -80% 0px" });
document.querySelectorAll(".audit section").forEach((section) => watch.observe(section));
