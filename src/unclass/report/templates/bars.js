// Horizontal bars: a row for each thing, a bar for each model; with rules, noise bands and whiskers.
function bars(host, spec) {
  const hidden = new Set();
  let all = false;
  const canvas = html("div", { class: "canvas" });
  const key = legend(spec.series || [], hidden, () => redraw());
  if (key) host.append(tools(key));
  host.append(canvas);
  if (spec.limit && spec.rows.length > spec.limit) {
    const more = html("button", { type: "button", class: "more", click: () => { all = !all; more.textContent = words(); redraw(); } });
    const words = () => (all ? `show the first ${spec.limit}` : `show all ${spec.rows.length}`);
    more.textContent = words();
    host.append(more);
  }
  const redraw = responsive(canvas, draw);

  function draw(width) {
    const rows = spec.limit && !all ? spec.rows.slice(0, spec.limit) : spec.rows;
    const left = Math.min(width * (spec.names || 0.36), Math.max(...rows.map((row) => widthOf(row.label, 13))) + 14);
    const texts = rows.flatMap((row) => row.bars.map((bar) => widthOf(bar.text || "")));
    const last = widthOf((spec.format || number)(spec.domain[1])) / 2 + 2;
    const right = Math.max(spec.log ? 8 : last, ...texts.map((size) => size + 8));
    const thick = spec.thick || 18, gap = spec.gap || 16, top = spec.rules && spec.rules.length ? 24 : 4;
    const visible = (row) => row.bars.filter((bar) => !hidden.has(bar.series));
    const sizes = rows.map((row) => Math.max(1, visible(row).length) * thick + gap);
    const bottom = top + sizes.reduce((sum, size) => sum + size, 0), height = bottom + 22 + (spec.axis ? 20 : 0);
    const x = scale(spec.domain, [left, width - right], spec.log);
    const format = spec.format || number;
    const picture = mark("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spec.label });
    const room = Math.max(...ticks(spec.domain, 4, spec.log).map((value) => widthOf(format(value)))) + 24;
    for (const value of ticks(spec.domain, Math.min(6, (width - left - right) / room), spec.log)) {
      picture.append(mark("line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: bottom }));
      picture.append(mark("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, format(value)));
    }
    if (spec.axis) picture.append(mark("text", { x: (left + width - right) / 2, y: height - 2, "text-anchor": "middle" }, spec.axis));
    if (spec.band) picture.append(mark("rect", { class: "noise", x: x(spec.band[0]), width: Math.max(2, x(spec.band[1]) - x(spec.band[0])), y: top, height: bottom - top }));
    let at = top;
    rows.forEach((row, place) => {
      const size = sizes[place];
      picture.append(mark("text", { class: row.forgotten ? "forgotten" : "strong", x: left - 12, y: at + size / 2 + 4.5, "text-anchor": "end", "font-size": 13 }, fit(row.label, left - 14, 13)));
      if (row.band) picture.append(mark("rect", { class: "noise", x: x(row.band[0]), width: Math.max(2, x(row.band[1]) - x(row.band[0])), y: at + 2, height: size - 4 }));
      visible(row).forEach((bar, order) => {
        const y = at + gap / 2 + order * thick, end = x(spec.log ? Math.max(bar.value, spec.domain[0]) : bar.value);
        if (!Number.isFinite(bar.value)) {
          picture.append(mark("text", { x: left + 4, y: y + thick / 2 + 4 }, "not computed"));
          return;
        }
        picture.append(mark("rect", { class: `bar mark tone-${bar.tone} ${bar.dashed ? "dashed" : ""}`, x: left, y: y + 1.5, width: Math.max(1, end - left), height: thick - 3, rx: 2, "data-series": bar.series }));
        if (bar.spread) picture.append(mark("line", { class: "whisker", x1: x(Math.max(spec.domain[0], bar.value - bar.spread)), x2: x(Math.min(spec.domain[1], bar.value + bar.spread)), y1: y + thick / 2, y2: y + thick / 2 }));
        if (bar.text) picture.append(mark("text", { class: "strong outlined", x: end + 7 + (bar.spread ? x(spec.domain[0] + bar.spread) - left : 0), y: y + thick / 2 + 4 }, bar.text));
      });
      const area = mark("rect", { class: "overlay", x: 0, y: at, width, height: size });
      area.addEventListener("pointermove", (event) => showTip(event, row.label, [
        ...visible(row).map((bar) => ({ tone: bar.tone, name: bar.name, value: bar.full || bar.text || percent(bar.value) })),
        ...(row.notes || []).map((name) => ({ name })),
      ]));
      area.addEventListener("pointerleave", hideTip);
      picture.append(area);
      at += size;
    });
    for (const rule of spec.rules || []) {
      picture.append(mark("line", { class: `rule tone-${rule.tone}`, x1: x(rule.value), x2: x(rule.value), y1: top - 4, y2: bottom }));
      const half = widthOf(rule.label) / 2;
      picture.append(mark("text", { class: "strong", x: clamp(x(rule.value), half, width - half), y: 14, "text-anchor": "middle" }, rule.label));
    }
    canvas.replaceChildren(picture);
  }
}

// Two values of each thing joined by a line: before (hollow) and after (filled).
function pairs(host, spec) {
  const canvas = html("div", { class: "canvas" });
  host.append(canvas);
  responsive(canvas, (width) => {
    const left = Math.min(width * 0.42, Math.max(...spec.rows.map((row) => widthOf(row.label, 13))) + 14), step = 30;
    const bottom = 4 + step * spec.rows.length, x = scale(spec.domain, [left, width - 22]);
    const picture = mark("svg", { viewBox: `0 0 ${width} ${bottom + 22}`, role: "img", "aria-label": spec.label });
    for (const value of ticks(spec.domain, Math.min(5, width / 90))) {
      picture.append(mark("line", { class: "grid", x1: x(value), x2: x(value), y1: 4, y2: bottom }));
      picture.append(mark("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, wholePercent(value)));
    }
    spec.rows.forEach((row, place) => {
      const y = 4 + step * (place + 0.5), both = [row.before, row.after].map((value) => x(clamp(value ?? 0, ...spec.domain)));
      picture.append(mark("text", { class: "strong", x: left - 12, y: y + 4.5, "text-anchor": "end", "font-size": 13 }, fit(row.label, left - 14, 13)));
      picture.append(mark("line", { class: `link tone-${row.tone}`, x1: both[0], x2: both[1], y1: y, y2: y }));
      picture.append(mark("circle", { class: `end open mark tone-${row.tone}`, cx: both[0], cy: y, r: 5 }));
      picture.append(mark("circle", { class: `end mark tone-${row.tone}`, cx: both[1], cy: y, r: 5 }));
      const area = mark("rect", { class: "overlay", x: 0, y: y - step / 2, width, height: step });
      area.addEventListener("pointermove", (event) => showTip(event, row.label, [{ name: "before", value: percent(row.before) }, { name: "after", value: percent(row.after) }]));
      area.addEventListener("pointerleave", hideTip);
      picture.append(area);
    });
    canvas.replaceChildren(picture);
  });
}
