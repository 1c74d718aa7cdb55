// The decision space: a panel for each model with the same images; zoom, classes shown and the image found are shared.
const CLASS_TONES = 9;

function space(host, { roles, points, labels, forget, predicted, thumbnails, classes, pictures }) {
  const remaining = [...new Set(labels.filter((_, place) => !forget[place]))].sort((a, b) => a - b);
  const forgotten = [...new Set(labels.filter((_, place) => forget[place]))];
  const order = classes.map((_, place) => place).filter((place) => !forgotten.includes(place));
  const toneOf = (label) => (forgotten.includes(label) ? "forget" : `k${order.indexOf(label) % CLASS_TONES}`);
  const hidden = new Set();
  let view = null, byPrediction = false;
  const finite = roles.flatMap((role) => points[role]).filter((point) => point && point.every(Number.isFinite));
  const around = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)], room = (high - low || 1) * 0.05;
    return [low - room, high + room];
  };
  const full = { x: around(finite.map((point) => point[0])), y: around(finite.map((point) => point[1])) };
  const entries = [...forgotten, ...remaining].map((label) => ({ id: `c${label}`, name: classes[label] ?? label, tone: toneOf(label), shape: forgotten.includes(label) ? "ring" : "dot" }));
  const crowded = entries.length > 24;
  const key = legend(crowded ? entries.slice(0, forgotten.length + 1) : entries, hidden, () => panels.forEach((panel) => panel.update()));
  const outline = action("rings by predicted class", () => {
    byPrediction = !byPrediction;
    outline.setAttribute("aria-pressed", String(byPrediction));
    panels.forEach((panel) => panel.update());
  }, false);
  const near = (factor) => () => {
    const { x, y } = view || full, middle = ([low, high]) => (low + high) / 2;
    const side = (range) => [middle(range) - ((range[1] - range[0]) / 2) * factor, middle(range) + ((range[1] - range[0]) / 2) * factor];
    zoom({ x: side(x), y: side(y) });
  };
  const back = action("reset", () => zoom(null));
  const buttons = [action("+", near(0.6)), action("−", near(1 / 0.6)), back];
  buttons[0].setAttribute("aria-label", "zoom in");
  buttons[1].setAttribute("aria-label", "zoom out");
  host.append(html("p", { class: "hint" }, "Point at an image to find it in every panel. Drag to zoom, double-click to go back."));
  host.append(tools(key || html("span"), html("div", { class: "actions" }, outline, buttons)));
  if (crowded) host.append(html("p", { class: "muted" }, `${entries.length} classes: colours repeat; point at an image for its class.`));
  const grid = html("div", { class: "multiples", style: multiples(roles.length) });
  host.append(grid);
  const panels = roles.map(panel);

  function zoom(next) {
    const whole = next && next.x[1] - next.x[0] >= full.x[1] - full.x[0];
    view = whole ? null : next;
    host.classList.toggle("zoomed", Boolean(view));
    host.dataset.zoom = view ? ((full.x[1] - full.x[0]) / (view.x[1] - view.x[0])).toFixed(2) : "1";
    panels.forEach((each) => each.update());
  }
  function find(place) {
    panels.forEach((each) => each.find(place));
  }

  function panel(role) {
    const canvas = html("div", { class: "canvas" });
    grid.append(html("div", {}, html("h4", {}, role), canvas));
    let width = 0, height = 0, dots = [], halo, x, y;
    responsive(canvas, (now) => {
      [width, height] = [now, Math.round(Math.min(now * 0.92, 460))];
      const id = `clip${++clips}`, radius = labels.length > 1200 ? 2.2 : 3.2;
      halo = mark("circle", { class: "halo", r: radius + 4, visibility: "hidden" });
      dots = labels.map((label, place) => points[role][place] && mark("circle", { class: "dot", r: forget[place] ? radius + 0.6 : radius }));
      const sorted = labels.map((_, place) => place).sort((a, b) => forget[a] - forget[b]);
      const overlay = mark("rect", { class: "overlay brushes", width, height });
      const layer = mark("g", { "pointer-events": "none" }, halo);
      overlay.addEventListener("pointermove", hover);
      overlay.addEventListener("pointerdown", hover);
      overlay.addEventListener("pointerleave", () => { hideTip(); find(null); });
      zoomable(overlay, layer, {
        box: { left: 0, top: 0, width, height },
        apply: (xs, ys) => zoom({ x: xs.map(x.invert), y: ys.map(y.invert).reverse() }),
        reset: () => zoom(null),
        pan: (dx, dy) => view && zoom({ x: view.x.map((value) => value + x.invert(dx) - x.invert(0)), y: view.y.map((value) => value + y.invert(dy) - y.invert(0)) }),
      });
      update();
      canvas.replaceChildren(mark("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `decision space of the ${role} model` },
        mark("clipPath", { id }, mark("rect", { width, height, rx: 8 })), mark("rect", { class: "frame", x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 8 }),
        mark("g", { "clip-path": `url(#${id})` }, sorted.map((place) => dots[place]), layer), overlay));
    });
    function update() {
      if (!width) return;
      const { x: across, y: up } = view || full;
      [x, y] = [scale(across, [0, width]), scale(up, [height, 0])];
      dots.forEach((dot, place) => {
        if (!dot) return;
        const label = labels[place], guess = predicted && predicted[role] ? predicted[role][place] : label;
        const tone = forget[place] && byPrediction ? toneOf(guess) : toneOf(label);
        build(dot, { cx: x(points[role][place][0]).toFixed(1), cy: y(points[role][place][1]).toFixed(1), class: `${forget[place] ? "ring" : "dot"} mark tone-${tone}`, visibility: hidden.has(`c${label}`) ? "hidden" : "visible" }, []);
      });
    }
    function hover(event) {
      const frame = event.currentTarget.getBoundingClientRect();
      const [px, py] = [((event.clientX - frame.left) / frame.width) * width, ((event.clientY - frame.top) / frame.height) * height];
      let best = null, least = 14 ** 2;
      points[role].forEach((point, place) => {
        if (!point || hidden.has(`c${labels[place]}`)) return;
        const away = (x(point[0]) - px) ** 2 + (y(point[1]) - py) ** 2;
        if (away < least) [best, least] = [place, away];
      });
      find(best);
      if (best === null) return hideTip();
      const label = labels[best];
      showTip(event, classes[label] ?? label, [
        ...(forget[best] ? [{ name: "erased, training" }] : []),
        ...roles.filter((each) => predicted && predicted[each]).map((each) => ({ tone: toneOf(predicted[each][best]), name: each, value: fit(classes[predicted[each][best]] ?? "", 130, 13) })),
      ], thumbnails && thumbnails[best] !== null ? pictures[thumbnails[best]] : null);
    }
    function showHalo(place) {
      if (!halo) return;
      const point = place === null ? null : points[role][place];
      build(halo, point ? { cx: x(point[0]), cy: y(point[1]), visibility: "visible" } : { visibility: "hidden" }, []);
    }
    return { update, find: showHalo };
  }
}
