"use strict";
// Elements, text and the tooltip. Text from the data only ever becomes a text node: nothing is read as HTML.
const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}
const html = (name, attributes, ...children) => build(document.createElement(name), attributes, children);
const mark = (name, attributes, ...children) => build(document.createElementNS(SVG, name), attributes, children);

const number = (value) =>
  !Number.isFinite(value) ? "–" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
const percent = (value) => (Number.isFinite(value) ? (100 * value).toFixed(1) + "\u202f%" : "–");
const wholePercent = (value) => (Number.isFinite(value) ? Number((100 * value).toPrecision(4)) + "\u202f%" : "–");
const seconds = (value) => (Number.isFinite(value) ? number(value) + "\u202fs" : "–");
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

const pen = document.createElement("canvas").getContext("2d");
function widthOf(text, size = 12) {
  pen.font = `${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif`;
  return pen.measureText(text).width;
}
function fit(text, room, size = 12) {
  text = String(text).replace(/\s+/g, " ");
  if (widthOf(text, size) <= room) return text;
  let kept = text;
  while (kept.length > 1 && widthOf(kept + "…", size) > room) kept = kept.slice(0, -1);
  return kept + "…";
}

function scale([from, to], [start, end], log) {
  const turn = log ? Math.log10 : (value) => value;
  const [low, high] = [turn(from), turn(to)];
  const place = (value) => start + ((turn(value) - low) / (high - low || 1)) * (end - start);
  place.invert = (pixel) => {
    const value = low + ((pixel - start) / (end - start || 1)) * (high - low);
    return log ? 10 ** value : value;
  };
  return place;
}
function ticks([from, to], count, log) {
  if (log) {
    const found = [];
    const powers = Math.log10(to) - Math.log10(from);
    for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++)
      found.push(...(powers < 2.5 ? [1, 3] : [1]).map((factor) => factor * 10 ** power).filter((value) => value >= from * 0.999 && value <= to * 1.001));
    const tens = found.filter((value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9);
    if (found.length >= 2 && found.length <= Math.max(2, count)) return found;
    const every = Math.ceil(tens.length / Math.max(2, count));
    if (tens.length >= 2) return tens.filter((_, place) => place % every === 0);
  }
  const rough = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) || power;
  const found = [];
  for (let place = Math.ceil(from / step - 1e-9); place * step <= to + step * 1e-6; place++) found.push(Number((place * step).toPrecision(12)));
  return found;
}

// Draws when the element has a width, and again when that changes: text keeps its size on every screen and on paper.
const measures = [];
function responsive(host, draw) {
  let width = 0;
  const measure = () => {
    const now = Math.floor(host.clientWidth);
    if (now && now !== width) draw((width = now));
  };
  measures.push(measure);
  new ResizeObserver(() => requestAnimationFrame(measure)).observe(host);
  return () => width && draw(width);
}
function printing(now) {
  document.body.classList.toggle("printing", now);
  measures.forEach((measure) => measure());
}
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));

const tip = html("div", { id: "tip", role: "status", hidden: true });
document.body.append(tip);
function showTip(event, title, lines = [], picture = null) {
  const swatch = (tone) => tone && html("span", { class: `swatch tone-${tone}` });
  tip.replaceChildren(
    html("strong", {}, String(title)),
    ...(picture ? [html("img", { src: picture, alt: "" })] : []),
    ...lines.map(({ tone, name, value }) =>
      html("span", { class: "line" }, swatch(tone), html("span", {}, String(name)), value === undefined ? null : html("span", { class: "value" }, String(value)))
    )
  );
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const right = event.clientX + 16 + width < innerWidth;
  tip.style.left = `${clamp(right ? event.clientX + 14 : event.clientX - 14 - width, 4, Math.max(4, innerWidth - width - 4))}px`;
  tip.style.top = `${clamp(event.clientY - height - 12 > 4 ? event.clientY - height - 12 : event.clientY + 18, 4, Math.max(4, innerHeight - height - 4))}px`;
}
const hideTip = () => (tip.hidden = true);
addEventListener("scroll", hideTip, { passive: true, capture: true });

function legend(entries, hidden, changed) {
  if (entries.length < 2) return null;
  return html("div", { class: "legend" }, entries.map(({ id, name, tone, shape }) =>
    html("button", {
      type: "button", "aria-pressed": String(!hidden.has(id)), title: `show or hide ${name}`, "data-series": id,
      click: (event) => {
        hidden.has(id) ? hidden.delete(id) : hidden.add(id);
        event.currentTarget.setAttribute("aria-pressed", String(!hidden.has(id)));
        changed(id);
      },
    }, html("span", { class: `swatch tone-${tone} ${shape || ""}` }), html("span", {}, String(name)))
  ));
}
function action(name, press, pressed) {
  return html("button", { type: "button", "aria-pressed": pressed === undefined ? null : String(pressed), click: press }, name);
}
function choice(names, picked, pick) {
  const buttons = names.map((name) => action(String(name).replaceAll("_", " "), () => {
    buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(names[place] === name)));
    pick(name);
  }, name === picked));
  return html("div", { class: "actions", role: "group" }, buttons);
}
const tools = (...parts) => html("div", { class: "tools" }, ...parts);
