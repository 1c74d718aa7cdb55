// A matrix of shares; the forgotten class has its own colour.
const DARK = 0.64; // from this share of the colour on, light text is easier to read than dark (see page.css: --heat)

function heatmap(host, spec) {
  const canvas = html("div", { class: "canvas" });
  host.append(canvas);
  responsive(canvas, (width) => {
    const { rows, columns, values } = spec;
    const left = Math.min(width * 0.3, Math.max(...rows.map((row) => widthOf(row.name))) + 10);
    const longest = Math.max(...columns.map((column) => widthOf(column.name)));
    const slant = longest > (width - left) / columns.length - 6;
    const overhang = slant ? Math.min(48, widthOf(columns.at(-1).name) * 0.72) : 2; // the last slanted name leans out
    const side = (width - left - overhang) / columns.length;
    const tall = spec.square ? Math.min(side, 44) : clamp(side, 24, 34);
    const top = slant ? Math.min(84, longest * 0.72 + 14) : 20;
    const height = top + tall * rows.length + 2;
    const picture = mark("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spec.label });
    picture.append(mark("rect", { class: "field", x: left, y: top, width: side * columns.length, height: tall * rows.length }));
    const everyColumn = slant ? Math.ceil(15 / side) : 1, everyRow = Math.ceil(13 / tall);
    columns.forEach((column, place) => {
      if (place % everyColumn && !column.forgotten) return;
      const px = left + side * (place + 0.5), py = top - 6;
      picture.append(mark("text", slant
        ? { class: column.forgotten ? "forgotten" : "", x: px + 3, y: py, transform: `rotate(-45 ${px + 3} ${py})` }
        : { class: column.forgotten ? "forgotten" : "", x: px, y: py, "text-anchor": "middle" }, slant ? fit(column.name, Math.min(100, (width - px) * 1.38)) : column.name));
    });
    rows.forEach((row, r) => {
      if (r % everyRow === 0 || row.forgotten) picture.append(mark("text", { class: row.forgotten ? "forgotten" : "strong", x: left - 8, y: top + tall * (r + 0.5) + 4, "text-anchor": "end" }, fit(row.name, left - 10)));
      columns.forEach((column, c) => {
        const value = values[r][c];
        if (!Number.isFinite(value)) return;
        const forgotten = column.forgotten || (spec.square && row.forgotten);
        const cell = mark("g", { class: `cell mark ${forgotten ? "forgotten" : ""} ${value >= DARK ? "high" : ""}` },
          mark("rect", { x: left + side * c + 0.5, y: top + tall * r + 0.5, width: Math.max(0.5, side - 1), height: Math.max(0.5, tall - 1), rx: side > 12 ? 2 : 0, "fill-opacity": value.toFixed(3) }));
        const text = String(Math.round(100 * value));
        if (value >= 0.005 && widthOf(text, 11) < side - 4 && tall >= 15) cell.append(mark("text", { x: left + side * (c + 0.5), y: top + tall * (r + 0.5) + 4, "text-anchor": "middle" }, text));
        cell.addEventListener("pointermove", (event) => showTip(event, ...spec.tip(r, c)));
        cell.addEventListener("pointerleave", hideTip);
        picture.append(cell);
      });
    });
    canvas.replaceChildren(picture);
  });
}
