// A and B: any two models of the audits on the page, with the same three charts each.
function contrast(host, data) {
  const entries = data.audits.flatMap((audit, place) =>
    rolesOf(audit.flows).filter((role) => role === "unlearned" || (place === data.first && MAIN(role))).map((role) => ({
      audit, role, name: role === "unlearned" ? audit.method || `audit ${place + 1}` : role,
    })));
  const area = host.querySelector(".drawn-contrast");
  const selects = ["model-a", "model-b"].map((id) => document.getElementById(id));
  if (entries.length < 2) return host.remove();
  const at = (name) => Math.max(0, entries.findIndex((entry) => entry.name === name));
  const starts = [at(data.audits[data.first].method), entries.some((entry) => entry.name === "retrained") ? at("retrained") : at("original")];
  selects.forEach((select, place) => {
    select.append(...entries.map((entry, index) => html("option", { value: String(index), selected: index === starts[place] }, entry.name)));
    select.addEventListener("change", draw);
  });
  function only(part, role) {
    return part ? { [role]: part[role] } : null;
  }
  function draw() {
    area.replaceChildren();
    const pair = selects.map((select) => entries[Number(select.value)]);
    for (const [title, kind, has] of [
      ["Who is taken for whom on test images", "confusion", ({ audit, role }) => audit.utility && audit.utility.confusion[role]],
      ["Decision space", "space", ({ audit, role }) => audit.decision_space && audit.decision_space.points[role]],
      ["Entropy of the outputs", "entropy", ({ audit, role }) => audit.entropy && audit.entropy.shares[role]],
    ]) {
      if (!pair.every(has)) continue;
      const grid = html("div", { class: "columns" });
      area.append(html("h3", {}, title), grid);
      for (const { audit, role, name } of pair) {
        const place = html("div", { class: "panel", "data-contrast": kind }, html("h4", {}, name));
        grid.append(place);
        const view = { ...audit,
          utility: audit.utility && { ...audit.utility, confusion: only(audit.utility.confusion, role) },
          decision_space: audit.decision_space && { ...audit.decision_space, points: only(audit.decision_space.points, role) },
          entropy: audit.entropy && { ...audit.entropy, shares: only(audit.entropy.shares, role) } };
        attempt(place, (drawn) => PANELS[kind](drawn, view, data.pictures));
      }
    }
  }
  draw();
}
