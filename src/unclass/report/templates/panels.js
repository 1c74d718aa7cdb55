// What each panel draws from an audit.
const ORDER = ["original", "unlearned", "retrained"];
const SETS = [["retain", "stays, training"], ["forget", "erased, training"], ["test", "test"]];
const MAIN = (role) => ORDER.includes(role);
const extra = (role) => !MAIN(role) && role.startsWith("retrained");
const toneOfRole = (role) => (MAIN(role) ? role : extra(role) ? "retrained" : "other");
const rank = (role) => (MAIN(role) ? ORDER.indexOf(role) : ORDER.length);
const rolesOf = (values) => Object.keys(values || {}).filter((role) => values[role] !== null).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
const styled = (role) => ({ id: role, name: role, tone: toneOfRole(role), dashed: extra(role) });
const multiples = (count) => `grid-template-columns: repeat(auto-fit, minmax(min(100%, ${count === 4 || count === 2 ? 380 : 280}px), 1fr))`;

// Between two or more retrained models: what chance alone does to a figure.
function between(values, roles) {
  const found = roles.filter((role) => role.startsWith("retrained")).map((role) => values[role]).filter(Number.isFinite);
  return found.length > 1 ? [Math.min(...found), Math.max(...found)] : null;
}
function bandOf(curves) {
  const found = Object.keys(curves).filter((role) => role.startsWith("retrained") && curves[role]).map((role) => curves[role]);
  if (found.length < 2) return null;
  return found[0].map(([x], place) => {
    const values = found.map((curve) => (curve[place] || [])[1]).filter(Number.isFinite);
    return [x, Math.min(...values), Math.max(...values)];
  });
}
const noiseOf = (audit, ...names) => names.map((name) => (audit.noise || {})[name]).find((pair) => pair && pair.every(Number.isFinite)) || null;
const named = (audit) => audit.classes.map((name) => ({ name: String(name), forgotten: audit.forget_classes.includes(name) }));

// Layers by what tells them apart: without the beginning and the end that all dotted names share.
function bareNames(names) {
  const dotted = names.filter((name) => name.includes(".")).map((name) => name.split("."));
  if (dotted.length < 2) return names;
  const shortest = Math.min(...dotted.map((parts) => parts.length)) - 1;
  const shared = (at) => { let count = 0; while (count < shortest && dotted.every((parts) => parts.at(at(count)) === dotted[0].at(at(count)))) count += 1; return count; };
  const first = shared((count) => count), last = Math.min(shared((count) => -1 - count), shortest - first);
  const bare = (from) => names.map((name) => (name.includes(".") ? name.split(".").slice(from, last ? -last : undefined).join(".") : name.replace("penultimate ", "")));
  const found = bare(first);
  return found.some((name) => /^[\d.]+$/.test(name)) ? bare(Math.max(0, first - 1)) : found; // a number alone says nothing
}

function curves(host, values, x, label, y = {}) {
  const roles = rolesOf(values);
  const top = Math.max(...roles.flatMap((role) => values[role].map((point) => point[0])), 1);
  plot(host, {
    label, x: { domain: [0, top], ...x }, y: { domain: [0, 1], format: wholePercent, exact: percent, ...y }, band: bandOf(values),
    series: roles.map((role) => ({ ...styled(role), points: values[role] })),
  });
}

const PANELS = {
  "per-class"(host, audit) {
    const entries = audit.utility.per_class, roles = rolesOf(entries[0].accuracy).filter(MAIN);
    bars(host, {
      label: "accuracy of each class", thick: 8, gap: 14, domain: [0, 1], format: wholePercent, limit: 20,
      series: roles.map(styled),
      rows: entries.map((entry) => ({
        label: entry.class, forgotten: audit.forget_classes.includes(entry.class), band: between(entry.accuracy, Object.keys(entry.accuracy)),
        notes: Number.isFinite(entry.distance) ? [`distance to the forgotten class ${number(entry.distance)}`] : [],
        bars: roles.map((role) => ({ series: role, name: role, tone: toneOfRole(role), value: entry.accuracy[role], full: percent(entry.accuracy[role]) })),
      })),
    });
  },
  flows(host, audit) {
    const roles = rolesOf(audit.flows);
    let kept = audit.classes.map((_, place) => place);
    if (kept.length > 24) {
      const most = (place) => Math.max(...roles.map((role) => audit.flows[role][place]));
      kept = kept.sort((a, b) => most(b) - most(a)).slice(0, 24).sort((a, b) => a - b);
      host.append(html("p", { class: "muted" }, `The 24 of ${audit.classes.length} classes that receive most.`));
    }
    const columns = kept.map((place) => named(audit)[place]);
    heatmap(host, {
      label: "where the forget images go", rows: roles.map((name) => ({ name })), columns,
      values: roles.map((role) => kept.map((place) => audit.flows[role][place])),
      tip: (r, c) => [columns[c].name, [{ tone: toneOfRole(roles[r]), name: `of the erased images, ${roles[r]}`, value: percent(audit.flows[roles[r]][kept[c]]) }]],
    });
  },
  confusion(host, audit) {
    const classes = named(audit), roles = rolesOf(audit.utility.confusion).filter(MAIN);
    const grid = html("div", { class: "multiples", style: multiples(roles.length) });
    host.append(grid);
    for (const role of roles) {
      const counts = audit.utility.confusion[role], sums = counts.map((row) => row.reduce((sum, count) => sum + count, 0));
      const place = html("div", {}, html("h4", {}, role));
      grid.append(place);
      heatmap(place, {
        label: `confusion of the ${role} model`, square: true, rows: classes, columns: classes,
        values: counts.map((row, r) => row.map((count) => (count ? count / sums[r] : NaN))),
        tip: (r, c) => [`${classes[r].name} → ${classes[c].name}`, [{ tone: toneOfRole(role), name: `${counts[r][c]} of ${sums[r]}`, value: percent(counts[r][c] / sums[r]) }]],
      });
    }
  },
  asr(host, audit) {
    const rates = audit.membership.asr, roles = rolesOf(rates), line = rates.retrained;
    const band = noiseOf(audit, "attack-success-rate") || between(rates, roles);
    bars(host, {
      label: "attack success rate", domain: [0, 1], format: wholePercent, thick: 24, band,
      rules: Number.isFinite(line) ? [{ value: line, tone: "retrained", label: `retrained ${percent(line)}` }] : [],
      rows: roles.map((role) => ({
        label: role, notes: band && role.startsWith("retrained") ? [`noise between retrained models: ${percent(band[0])} – ${percent(band[1])}`] : [],
        bars: [{ series: role, name: role, tone: toneOfRole(role), dashed: extra(role), value: rates[role], text: percent(rates[role]) }],
      })),
    });
  },
  roc(host, audit) {
    const roc = audit.membership.roc, roles = rolesOf(roc);
    const scores = [...new Set(roles.flatMap((role) => Object.keys(roc[role])))];
    const picker = choice(scores, scores[0], show), area = html("div");
    host.append(scores.length > 1 ? tools(picker) : html("span"), area);
    function show(score) {
      area.replaceChildren();
      const having = roles.filter((role) => roc[role][score] && roc[role][score].fpr);
      const points = Object.fromEntries(having.map((role) => [role, roc[role][score].fpr.map((fpr, place) => [fpr, roc[role][score].tpr[place]])]));
      plot(area, {
        label: `ROC curve by ${score}`, height: 360, diagonal: true, logs: ["x", "y"],
        x: { domain: [0, 1], least: 0.001, label: "erased test images called members", format: wholePercent },
        y: { domain: [0, 1], least: 0.001, label: "erased training images called members", format: wholePercent, exact: percent },
        series: having.map((role) => ({ ...styled(role), name: `${role}, AUC ${number(roc[role][score].auc)}`, points: points[role] })),
      });
      const lacking = roles.filter((role) => !having.includes(role));
      if (lacking.length) area.append(html("p", { class: "missing" }, `Not computed for: ${lacking.join(", ")}.`));
    }
    show(scores[0]);
  },
  space(host, audit, pictures) {
    const data = audit.decision_space, roles = rolesOf(data.points);
    space(host, { ...data, roles, forget: data.forget.map(Boolean), classes: audit.classes.map(String), pictures });
  },
  entropy(host, audit) {
    const { edges, shares } = audit.entropy, roles = rolesOf(shares);
    const most = Math.max(...roles.flatMap((role) => Object.values(shares[role]).filter(Boolean).flat()), 0.01);
    const grid = html("div", { class: "multiples", style: multiples(roles.length) });
    const hidden = new Set();
    let log = true;
    const series = SETS.map(([id, name]) => ({ id, name, tone: id }));
    const show = () => grid.replaceChildren(...roles.map((role) => {
      const place = html("div", {}, html("h4", {}, role));
      plot(place, {
        label: `entropy of the ${role} model`, legend: false, height: 220,
        x: { domain: [edges[0], edges.at(-1)], label: "entropy (nats)" },
        y: { domain: [0, most * 1.05], least: 0.0005, log, format: wholePercent, exact: percent },
        series: series.filter(({ id }) => shares[role][id] && !hidden.has(id)).map((each) => ({
          ...each, step: true, points: edges.map((edge, bin) => [edge, shares[role][each.id][Math.min(bin, edges.length - 2)]]),
        })),
      });
      return place;
    }));
    const scaled = action("log y", () => {
      log = !log;
      scaled.setAttribute("aria-pressed", String(log));
      show();
    }, log);
    host.append(tools(legend(series, hidden, show), html("div", { class: "actions" }, scaled)), grid);
    show();
  },
  attention(host, audit, pictures) {
    const { images, layer } = audit.attention, roles = rolesOf(images[0].maps);
    const grid = html("div", { class: "attention", style: `grid-template-columns: repeat(${roles.length + 1}, minmax(56px, 132px))` });
    const layers = [...new Set(roles.map((role) => (layer || {})[role]).filter(Boolean))];
    if (layers.length) host.append(html("p", { class: "layers" }, `Layer: ${layers.length === 1 ? layers[0] : roles.map((role) => `${role} ${layer[role]}`).join(", ")}`));
    grid.append(html("p", {}, "image"), ...roles.map((role) => html("p", {}, role)));
    for (const image of images) {
      const cell = (number, words, title) => {
        const known = audit.forget_classes.includes(words);
        const figure = html("figure", {}, html("img", { alt: title, class: "mark", src: Number.isInteger(number) ? pictures[number] : null }), words && html("figcaption", { class: known ? "forgotten" : "" }, String(words)));
        figure.addEventListener("pointermove", (event) => showTip(event, title, words ? [{ name: "predicted", value: words }] : [], Number.isInteger(image.picture) ? pictures[image.picture] : null));
        figure.addEventListener("pointerleave", hideTip);
        return figure;
      };
      grid.append(cell(image.picture, null, "forget image"), ...roles.map((role) => cell((image.maps || {})[role], (image.predicted || {})[role], role)));
    }
    host.append(grid);
  },
  "relearn-forget": (host, audit) => curves(host, audit.relearning.from_forget, { label: "step" }, "relearning from forget images"),
  "relearn-retain": (host, audit) => curves(host, audit.relearning.from_retain, { label: "step" }, "relearning from retain images"),
  recalibration(host, audit) {
    const roles = rolesOf(audit.recalibration);
    host.append(tools(html("p", { class: "muted" }, "○ before   ● after")));
    pairs(host, {
      label: "accuracy before and after recalibration", domain: [0, 1],
      rows: roles.flatMap((role) => [["forget", "training"], ["forget_test", "test"]].map(([set, name]) => ({
        label: `${role}, ${name}`, tone: toneOfRole(role), before: audit.recalibration[role].before[set], after: audit.recalibration[role].after[set],
      }))),
    });
  },
  probe(host, audit) {
    const roles = rolesOf(audit.probe);
    const kinds = [["one_shot", "from one image"], ["nearest_mean", "from twenty"], ["linear", "linear probe"], ["prototype", "prototype"]].filter(([kind]) => roles.some((role) => Number.isFinite(audit.probe[role][kind])));
    const each = (kind) => Object.fromEntries(roles.map((role) => [role, audit.probe[role][kind]]));
    bars(host, {
      label: "probe accuracy", domain: [0, 1], format: wholePercent, thick: 18, series: roles.map((role) => ({ ...styled(role), shape: "" })),
      rows: kinds.map(([kind, label]) => ({
        label, band: noiseOf(audit, { one_shot: "one-image", nearest_mean: "nearest-mean", linear: "linear-probe", prototype: "prototype" }[kind]) || between(each(kind), roles),
        bars: roles.map((role) => ({ series: role, name: role, tone: toneOfRole(role), dashed: extra(role), value: audit.probe[role][kind], text: percent(audit.probe[role][kind]) })),
      })),
    });
  },
  similarity(host, audit) {
    const { layers, cka } = audit.similarity;
    const values = Object.fromEntries(rolesOf(cka).map((role) => [role, cka[role].map((value, place) => [place, value]).filter((point) => Number.isFinite(point[1]))]));
    const least = Math.min(0, ...Object.values(values).flat().map((point) => point[1]));
    curves(host, values, { names: bareNames(layers.map(String)), domain: [0, Math.max(1, layers.length - 1)] }, "linear CKA by layer", { domain: [least, 1], format: number, exact: number });
  },
  cost(host, audit) {
    const roles = rolesOf(audit.cost).filter((role) => audit.cost[role].seconds > 0);
    times(host, roles.map((role) => ({ label: role, tone: toneOfRole(role), seconds: audit.cost[role].seconds, speedUp: audit.cost[role].speed_up })));
  },
};

function times(host, entries) {
  if (!entries.length) throw new Error("no times were recorded");
  const values = entries.map((entry) => entry.seconds);
  bars(host, {
    label: "seconds", names: 0.46, thick: 24, gap: 14, log: true, format: seconds, domain: [10 ** Math.floor(Math.log10(Math.min(...values)) - 1e-9), Math.max(...values) * 1.5],
    rows: entries.map(({ label, tone, seconds: value, speedUp }) => ({
      label, bars: [{ series: label, name: label, tone, value, text: seconds(value) + (speedUp && speedUp !== 1 ? ` · ${number(speedUp)}×` : "") }],
    })),
  });
}

const COMPARISON = {
  "methods-asr"(host, rows) {
    const shown = rows.filter((row) => row.attack_success_rate && row.method !== "retrain");
    const reference = rows.find((row) => row.method === "retrain" && row.attack_success_rate);
    bars(host, {
      label: "attack success rate of each method", names: 0.46, domain: [0, 1], format: wholePercent, thick: 20, gap: 10,
      rules: reference ? [{ value: reference.attack_success_rate.mean, tone: "retrained", label: `retrained ${percent(reference.attack_success_rate.mean)}` }] : [],
      rows: shown.map((row) => ({ label: row.method, bars: [{ series: row.method, name: row.method, tone: row.method === "original" ? "original" : "unlearned", value: row.attack_success_rate.mean, spread: row.attack_success_rate.spread, text: percent(row.attack_success_rate.mean) }] })),
    });
  },
  "methods-time": (host, rows) => times(host, rows.filter((row) => row.seconds && row.seconds.mean > 0).map((row) => ({ label: row.method, tone: row.method === "retrain" ? "retrained" : "unlearned", seconds: row.seconds.mean, speedUp: row.speed_up }))),
};
