// Curves on two axes, with hover, zoom and series that can be hidden.
let clips = 0;

// Dragging picks a box, Ctrl and the wheel (or a pinch) zoom at the pointer, a double click goes back.
function zoomable(overlay, layer, { box, apply, reset, pan }) {
  let start = null, brush = null;
  const at = (event) => {
    const frame = overlay.getBoundingClientRect();
    return [clamp(event.clientX - frame.left, 0, frame.width) + box.left, clamp(event.clientY - frame.top, 0, frame.height) + box.top];
  };
  overlay.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || (event.pointerType === "touch" && !pan)) return;
    start = at(event);
    overlay.setPointerCapture(event.pointerId);
    if (event.pointerType !== "touch") layer.append((brush = mark("rect", { class: "brush" })));
  });
  overlay.addEventListener("pointermove", (event) => {
    if (!start) return;
    const [x, y] = at(event);
    if (!brush) {
      pan(start[0] - x, start[1] - y);
      start = [x, y];
      return;
    }
    build(brush, { x: Math.min(x, start[0]), y: Math.min(y, start[1]), width: Math.abs(x - start[0]), height: Math.abs(y - start[1]) }, []);
  });
  const end = (event) => {
    if (!start) return;
    const [x, y] = at(event), [x0, y0] = start, brushed = brush;
    if (brush) brush.remove();
    start = brush = null;
    if (brushed && event.type === "pointerup" && Math.abs(x - x0) > 8 && Math.abs(y - y0) > 8)
      apply([Math.min(x, x0), Math.max(x, x0)], [Math.min(y, y0), Math.max(y, y0)]);
  };
  overlay.addEventListener("pointerup", end);
  overlay.addEventListener("pointercancel", end);
  overlay.addEventListener("dblclick", reset);
  overlay.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const [x, y] = at(event), factor = event.deltaY < 0 ? 0.8 : 1.25;
    const side = (place, low, length) => [place - (place - low) * factor, place + (low + length - place) * factor];
    apply(side(x, box.left, box.width), side(y, box.top, box.height));
  }, { passive: false });
}

function valueAt(points, x, step) {
  let place = points.findIndex((point) => point[0] > x);
  if (place === 0 || !points.length) return null;
  if (place < 0) return x > points.at(-1)[0] + 1e-9 ? null : points.at(-1)[1];
  const [left, right] = [points[place - 1], points[place]];
  return step || right[0] === left[0] ? left[1] : left[1] + ((x - left[0]) / (right[0] - left[0])) * (right[1] - left[1]);
}

function plot(host, spec) {
  const hidden = new Set();
  let view = null, logs = { x: Boolean(spec.x.log), y: Boolean(spec.y.log) };
  const canvas = html("div", { class: "canvas" });
  const back = action("reset zoom", () => zoom(null));
  back.hidden = true;
  const toggles = (spec.logs || []).map((axis) => {
    const button = action(`log ${axis}`, () => {
      logs[axis] = !logs[axis];
      button.setAttribute("aria-pressed", String(logs[axis]));
      zoom(null);
    }, logs[axis]);
    return button;
  });
  const entries = spec.series.map((series) => ({ ...series, shape: series.dashed ? "dashed" : "" }));
  const key = spec.legend === false ? null : legend(entries, hidden, () => redraw());
  if (key || toggles.length) host.append(tools(key || html("span"), html("div", { class: "actions" }, toggles, back)));
  host.append(canvas);
  const redraw = responsive(canvas, draw);
  function zoom(next) {
    view = next;
    back.hidden = !view;
    host.classList.toggle("zoomed", Boolean(view));
    redraw();
  }

  function draw(width) {
    const shown = spec.series.filter((series) => !hidden.has(series.id));
    const full = (axis) => (logs[axis] ? [spec[axis].least, spec[axis].domain[1]] : spec[axis].domain);
    const domain = { x: view ? view.x : full("x"), y: view ? view.y : full("y") };
    const height = spec.height || clamp(width * 0.6, 210, 340);
    const format = { x: spec.x.format || number, y: spec.y.format || number };
    const yTicks = ticks(domain.y, height / 55, logs.y);
    const names = spec.x.names;
    const label = Math.ceil(Math.max(...yTicks.map((value) => widthOf(format.y(value))))) + 10;
    const top = spec.y.label ? 26 : 10;
    const slant = names && Math.max(...names.map((name) => widthOf(name))) > (width - label) / names.length - 8;
    const left = slant ? Math.max(label, Math.min(110, widthOf(names[0])) * 0.72) : label; // the first slanted name leans out
    const bottom = (slant ? Math.min(90, Math.max(...names.map((name) => widthOf(name))) * 0.72 + 16) : 24) + (spec.x.label ? 20 : 0);
    const box = { left, top, width: width - left - 10, height: height - top - bottom };
    const x = scale(domain.x, [left, left + box.width], logs.x);
    const y = scale(domain.y, [top + box.height, top], logs.y);
    const floor = (axis, value) => (logs[axis] ? Math.max(value, spec[axis].least) : value);
    const id = `clip${++clips}`;
    const inside = mark("g", { "clip-path": `url(#${id})` });
    const axes = mark("g");
    for (const value of yTicks) {
      axes.append(mark("line", { class: "grid", x1: left, x2: left + box.width, y1: y(value), y2: y(value) }));
      axes.append(mark("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, format.y(value)));
    }
    const room = names ? 0 : Math.max(...ticks(domain.x, 5, logs.x).map((value) => widthOf(format.x(value)))) + 22;
    const xTicks = names ? names.map((_, place) => place).filter((place) => place >= domain.x[0] - 1e-9 && place <= domain.x[1] + 1e-9) : ticks(domain.x, Math.min(8, box.width / room), logs.x);
    const every = names && slant ? Math.ceil((16 * xTicks.length) / box.width) : 1;
    for (const value of xTicks.filter((_, place) => place % every === 0)) {
      const px = x(value), py = top + box.height + 18;
      axes.append(mark("line", { class: "grid", x1: px, x2: px, y1: top, y2: top + box.height }));
      axes.append(slant
        ? mark("text", { x: px + 4, y: py - 4, "text-anchor": "end", transform: `rotate(-45 ${px + 4} ${py - 4})` }, fit(names[value], 110))
        : mark("text", { x: clamp(px, widthOf(names ? names[value] : format.x(value)) / 2, width - widthOf(names ? names[value] : format.x(value)) / 2), y: py, "text-anchor": "middle" }, names ? names[value] : format.x(value)));
    }
    axes.append(mark("line", { class: "axis", x1: left, x2: left + box.width, y1: top + box.height, y2: top + box.height }));
    if (spec.x.label) axes.append(mark("text", { x: left + box.width / 2, y: height - 4, "text-anchor": "middle" }, spec.x.label));
    if (spec.y.label) axes.append(mark("text", { x: 0, y: 12 }, spec.y.label));
    if (spec.diagonal) inside.append(mark("path", { class: "diagonal", fill: "none", d: path(diagonal(domain.x), false) }));
    if (spec.band) {
      const edge = [...spec.band.map(([at, low]) => [at, low]), ...spec.band.map(([at, , high]) => [at, high]).reverse()];
      inside.append(mark("path", { class: "noise", d: path(edge, false) + "Z" }));
    }
    const ofAudited = ({ tone }) => Number(tone === "unlearned"); // drawn last and thinner: equal curves are both seen
    for (const series of [...shown].sort((a, b) => ofAudited(a) - ofAudited(b))) {
      const line = path(series.points, series.step);
      if (series.step) inside.append(mark("path", { class: `under tone-${series.tone}`, d: `${line}V${y(domain.y[0])}H${x(floor("x", series.points[0][0]))}Z` }));
      inside.append(mark("path", { class: `curve mark tone-${series.tone} ${series.dashed ? "dashed" : ""}`, d: line, "data-series": series.id }));
    }
    function path(points, step) {
      if (points.length === 1) return `M${x(floor("x", points[0][0])).toFixed(1)} ${y(floor("y", points[0][1])).toFixed(1)}h8`; // a stub
      return points.map(([px, py], place) => {
        const [sx, sy] = [x(floor("x", px)).toFixed(1), y(floor("y", py)).toFixed(1)];
        return place === 0 ? `M${sx} ${sy}` : step ? `H${sx}V${sy}` : `L${sx} ${sy}`;
      }).join("");
    }
    const guide = mark("line", { class: "guide", y1: top, y2: top + box.height, visibility: "hidden" });
    const overlay = mark("rect", { class: "overlay brushes", x: left, y: top, width: Math.max(1, box.width), height: Math.max(1, box.height) });
    const layer = mark("g", { "pointer-events": "none" }, guide);
    overlay.addEventListener("pointermove", (event) => {
      const frame = overlay.getBoundingClientRect();
      const at = x.invert(left + ((event.clientX - frame.left) / frame.width) * box.width);
      const near = names ? Math.round(at) : at;
      build(guide, { x1: x(near), x2: x(near), visibility: "visible" }, []);
      const title = names ? names[near] : `${spec.x.label || "x"}: ${format.x(Number(near.toPrecision(3)))}`;
      showTip(event, title, shown.map((series) => ({ tone: series.tone, name: series.name, value: (spec.y.exact || format.y)(valueAt(series.points, near, series.step)) })));
    });
    overlay.addEventListener("pointerleave", () => { hideTip(); guide.setAttribute("visibility", "hidden"); });
    const within = ([low, high], axis) => [clamp(low, ...full(axis)), clamp(high, ...full(axis))];
    zoomable(overlay, layer, {
      box,
      apply: (xs, ys) => zoom({ x: within(xs.map(x.invert), "x"), y: within(ys.map(y.invert).reverse(), "y") }),
      reset: () => zoom(null),
    });
    canvas.replaceChildren(mark("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spec.label },
      mark("clipPath", { id }, mark("rect", { x: left, y: top - 2, width: Math.max(1, box.width), height: Math.max(1, box.height) + 4 })), axes, inside, layer, overlay));
  }
  const diagonal = ([from, to]) => Array.from({ length: 41 }, (_, place) => {
    const value = logs.x ? from * (to / from) ** (place / 40) : from + ((to - from) * place) / 40;
    return [value, value];
  });
  return { redraw };
}
