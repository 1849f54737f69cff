// Makes tables explorable and plots interactive.  All numbers, names and commands are in the page already; DataTables and
// plotly, which draw them, are in it too, compressed.  The state of everything is in the fragment of the address.

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const dark = matchMedia("(prefers-color-scheme: dark)");

// ---- libraries

const loaded = {};

function library(name) {
  return (loaded[name] ??= run(one(`#library-${name}`)));
}

function unpacked(script) {
  const bytes = Uint8Array.from(atob(script.textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

async function run(script) {
  const code = await unpacked(script).arrayBuffer();
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

// ---- state

const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

function keep(key, value) {
  if (value == null) state.delete(key);
  else state.set(key, value);
  history.replaceState(null, "", state.size ? `#${state}` : location.href.split("#")[0]);
}

function say(words) {
  const status = one("#status");
  status.textContent = words;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (status.textContent = ""), 2500);
}

// ---- tables

// What differs from the table as it was written: order, search, and filters of columns.
function brief({ order, search, columnControl = {} }) {
  const inputs = Object.entries(columnControl).map(([column, { searchInput }]) => [column, searchInput]);
  const filters = Object.fromEntries(inputs.filter(([, input]) => input && (input.value !== "" || /empty/i.test(input.logic))));
  const found = { ...(order.length && { order }), ...(search.search && { search: search.search }), ...(Object.keys(filters).length && { filters }) };
  return Object.keys(found).length ? JSON.stringify(found) : null;
}

function full(text) {
  const { order = [], search = "", filters = {} } = JSON.parse(text);
  const columnControl = Object.fromEntries(Object.entries(filters).map(([column, searchInput]) => [column, { searchInput }]));
  return { time: Date.now(), start: 0, length: -1, order, search: { search, smart: true, regex: false, caseInsensitive: true }, columnControl };
}

async function explore(table) {
  const DataTable = (await library("datatables")).default;
  const before = state.get(table.id);
  let ready = false;
  const found = new DataTable(table, {
    paging: false,
    autoWidth: false,
    order: [],
    layout: { topStart: "search", topEnd: "info", bottomStart: null, bottomEnd: null },
    language: { search: "Search", info: "_TOTAL_ lines", infoFiltered: "of _MAX_", infoEmpty: "no lines" },
    columnDefs: [{ targets: ".live", orderable: false, searchable: false, columnControl: [] }],
    columnControl: ["order", ["search"]],
    ordering: { indicators: false, handler: true },
    stateSave: true,
    stateLoadCallback: () => (before ? full(before) : null),
    stateSaveCallback: (_, data) => ready && keep(table.id, brief(data)), // while it starts, filters are not yet there
  });
  ready = true;
  return found;
}

// ---- plots

const ANY = "–";
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#882255", "#999933", "#332288", "#117733"];
const PLACE = ["dataset", "task", "kernel", "degree", "n_train"];
const COSTS = /(_seconds|^joules|_bytes)$/;
const MOST_PANELS = 24;
const plain = (text) => String(text ?? ANY).replace(/[&<>]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[letter]);
const wrapped = (text) => plain(text).replace(/(.{50,70}?) /g, "$1<br>  ");

function selectors(form, data, redraw) {
  const has = (key) => data.rows.some((row) => row[key] != null);
  const varies = (key) => new Set(data.rows.map((row) => row[key])).size > 1;
  const metrics = Object.keys(data.metrics);
  const settings = [...PLACE, "sketch", "features"].filter(has);
  const fields = {
    x: ["features", ...metrics.filter((name) => COSTS.test(name)), ...["n_train", "degree"].filter(has)],
    y: metrics,
    colour: ["sketch", ...settings.filter((key) => key !== "sketch")],
    panel: ["setting", ...PLACE.filter(has), "nothing"],
  };
  const positive = data.rows.every((row) => !(row.metrics[data.y]?.mean <= 0));
  const initial = { x: "features", y: data.y, colour: "sketch", panel: PLACE.some(varies) ? "setting" : "nothing" };
  const flags = { "log x": true, "log y": positive, "error bars": true, "Pareto front": false };
  const chosen = { ...initial, ...flags };
  const add = (name, control) => {
    const label = document.createElement("label");
    label.append(...(control.type === "checkbox" ? [control, ` ${name}`] : [`${name} `, control]));
    control.name = name;
    control.addEventListener("change", () => {
      chosen[name] = control.type === "checkbox" ? control.checked : control.value;
      const first = name in flags ? flags[name] : initial[name];
      keep(`${data.id}.${name.replace(" ", "-")}`, chosen[name] === first ? null : String(chosen[name]));
      redraw();
    });
    form.append(label);
  };
  for (const [name, options] of Object.entries(fields)) {
    const before = state.get(`${data.id}.${name}`);
    if (options.includes(before)) chosen[name] = before;
    const select = document.createElement("select");
    select.append(...options.map((option) => new Option(option, option, false, option === chosen[name])));
    add(name, select);
  }
  for (const name of Object.keys(flags)) {
    const before = state.get(`${data.id}.${name.replace(" ", "-")}`);
    if (before != null) chosen[name] = before === "true";
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: chosen[name] });
    add(name, box);
  }
  return chosen;
}

// The title of the panel that shows a row: one column, or all that vary and are not the x axis.
function titled(data, chosen) {
  const varying = PLACE.filter((key) => key !== chosen.x && data.keys.includes(key));
  const keys = { setting: varying, nothing: [] }[chosen.panel] ?? [chosen.panel];
  return (row) => keys.filter((key) => row[key] != null).map((key) => (typeof row[key] === "number" ? `${key} ${row[key]}` : row[key])).join(", ");
}

const value = (row, name) => (name in row ? row[name] : row.metrics[name]?.mean);

function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return groups;
}

function hover(row, chosen, data) {
  const settings = [...PLACE, "n_test", "d", "features"].filter((key) => row[key] != null);
  const numbers = [chosen.y, chosen.x].filter((name) => row.metrics[name]).map((name) => {
    const cell = row.metrics[name];
    const error = cell.standard_error == null ? "" : ` ± ${cell.standard_error.toPrecision(2)}`;
    return `${plain(data.metrics[name].label)}: ${cell.mean.toPrecision(4)}${error} (${cell.count} seeds)`;
  });
  return [`<b>${plain(row.sketch)}</b>`, ...numbers, ...settings.map((key) => `${key}: ${plain(row[key])}`), wrapped(row.command)].join("<br>");
}

function look(name, place, colour, data, ink) {
  const own = colour === "sketch" ? data.looks[name] : { color: PALETTE[place % PALETTE.length], dash: "solid", symbol: "circle" };
  return own.color === "#000000" ? { ...own, color: ink } : own;
}

// A line joins the points that differ in x only, or in features where x is a metric.
function traces(rows, chosen, data, ink) {
  const along = ["n_train", "degree"].includes(chosen.x) ? chosen.x : "features";
  const rest = [...PLACE, "n_test", "sketch", "features"].filter((key) => key !== along);
  const names = [...new Set(data.rows.map((row) => row[chosen.colour]))];
  const shown = new Set();
  const panels = [...grouped(rows, titled(data, chosen)).entries()].slice(0, MOST_PANELS);
  return panels.map(([title, part], number) => {
    const axes = { xaxis: `x${number + 1}`.replace(/x1$/, "x"), yaxis: `y${number + 1}`.replace(/y1$/, "y") };
    const lines = [...grouped(part, (row) => JSON.stringify(rest.map((key) => row[key]))).values()].map((points) => {
      const name = points[0][chosen.colour];
      const style = look(name, names.indexOf(name), chosen.colour, data, ink);
      const first = !shown.has(name);
      shown.add(name);
      points.sort((a, b) => a[along] - b[along]);
      return {
        ...axes,
        name: plain(name),
        legendgroup: plain(name),
        showlegend: first,
        mode: "lines+markers",
        x: points.map((row) => value(row, chosen.x)),
        y: points.map((row) => value(row, chosen.y)),
        error_y: { visible: chosen["error bars"], array: points.map((row) => row.metrics[chosen.y]?.standard_error ?? 0), thickness: 1 },
        line: { color: style.color, dash: style.dash, width: 1.6 },
        marker: { color: style.color, symbol: style.symbol, size: 7 },
        text: points.map((row) => hover(row, chosen, data)),
        hovertemplate: "%{text}<extra></extra>",
      };
    });
    const front = chosen["Pareto front"] ? [{ ...pareto(part, chosen, data), ...axes, showlegend: number === 0, line: { color: ink, dash: "dot", width: 1, shape: "hv" } }] : [];
    return { title, axes, traces: [...lines, ...front] };
  });
}

function pareto(rows, chosen, data) {
  const better = data.metrics[chosen.y].better || 1;
  const points = rows.map((row) => [value(row, chosen.x), value(row, chosen.y)]).sort((a, b) => a[0] - b[0] || better * (a[1] - b[1]));
  let best = Infinity;
  const front = points.filter(([, y]) => better * y < best && ((best = better * y), true));
  return { name: "Pareto front", mode: "lines", hoverinfo: "skip", x: front.map((p) => p[0]), y: front.map((p) => p[1]) };
}

async function draw(div, data, rows, chosen) {
  await library("plotly");
  const css = getComputedStyle(document.documentElement);
  const [ink, line] = ["--ink", "--line"].map((name) => css.getPropertyValue(name).trim());
  const points = rows.filter((row) => row.features !== 0 && Number.isFinite(value(row, chosen.x)) && Number.isFinite(value(row, chosen.y)));
  const panels = traces(points, chosen, data, ink);
  const wanted = new Set(points.map(titled(data, chosen))).size;
  const columns = Math.max(1, Math.min(panels.length, Math.floor(div.clientWidth / 340), 3));
  const down = Math.ceil(panels.length / columns);
  const axis = (log) => ({ type: log ? "log" : "linear", gridcolor: line, linecolor: line, zeroline: false, automargin: true, exponentformat: "power" });
  const layout = {
    grid: { rows: down, columns, pattern: "independent", xgap: 0.16, ygap: down > 1 ? 0.24 : 0 },
    height: 300 * down + 150,
    margin: { l: 60, r: 10, t: 40, b: 50 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, size: 12 },
    ...(wanted > panels.length && { title: { text: `${panels.length} of ${wanted} panels; filter the table to see others`, font: { size: 12 } } }),
    hoverlabel: { align: "left", font: { size: 11 } },
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: ink, orientation: "v" },
    annotations: panels.map(({ title, axes }) => ({
      text: plain(title), showarrow: false, x: 0.5, y: 1, yanchor: "bottom", xref: `${axes.xaxis} domain`, yref: `${axes.yaxis} domain`,
    })),
  };
  const label = (name) => plain(data.metrics[name]?.label ?? name);
  const steps = [...new Set(points.map((row) => row[chosen.x]))];
  const ticks = steps.length < 9 ? { tickvals: steps, minor: { ticks: "" } } : {};
  for (const { axes } of panels) {
    layout[axes.xaxis.replace("x", "xaxis")] = { ...axis(chosen["log x"]), ...(chosen.x in points[0] ? ticks : {}), title: { text: label(chosen.x), standoff: 6 } };
    layout[axes.yaxis.replace("y", "yaxis")] = { ...axis(chosen["log y"]), title: { text: label(chosen.y), standoff: 6 } };
  }
  if (!panels.length) layout.annotations = [{ text: "no line has both numbers", showarrow: false }];
  await window.Plotly.react(div, panels.flatMap((panel) => panel.traces), layout, { responsive: true, displaylogo: false, modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]], toImageButtonOptions: { format: "svg", filename: data.name } });
}

// ---- experiments

function text(format, data, rows) {
  if (format === "json") return JSON.stringify(rows.map((row) => data.rows[row]), null, 1) + "\n";
  if (format === "csv") return [data.csv[0], ...rows.map((row) => data.csv[row + 1])].join("\n") + "\n";
  const [before, lines, after] = data.latex;
  return [...before, ...rows.map((row) => lines[row]), ...after].join("\n") + "\n";
}

async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: words });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) return say("The browser does not allow copying");
  }
  return say("Copied");
}

function download(name, words) {
  const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(new Blob([words], { type: "text/plain" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function open(section) {
  const data = { ...(await unpacked(one("script.data", section)).json()), id: section.id };
  const table = await explore(one("table.lines", section));
  const left = () => table.rows({ search: "applied" }).nodes().toArray().map((line) => Number(line.dataset.row));
  const redraw = () => draw(one(".plot", section), data, left().map((row) => data.rows[row]), chosen);
  const chosen = selectors(one("form.selectors", section), data, redraw);
  table.on("draw", () => requestAnimationFrame(redraw));
  dark.addEventListener("change", () => requestAnimationFrame(redraw));
  const export_ = () => text(one(".format", section).value, data, left());
  const ending = () => ({ csv: "csv", json: "json", latex: "tex" })[one(".format", section).value];
  one(".copy-table", section).addEventListener("click", () => copy(export_()));
  one(".download", section).addEventListener("click", () => download(`${data.name}.${ending()}`, export_()));
  one("tbody", section).addEventListener("click", ({ target }) => {
    if (target.classList.contains("copy")) copy(data.rows[target.closest("tr").dataset.row].command);
  });
  await redraw();
  section.dataset.ready = "true";
}

// ---- the page

const page = document.documentElement;
const theme = () => (page.classList.toggle("dark", dark.matches), page.classList.toggle("light", !dark.matches));
theme();
dark.addEventListener("change", theme);
page.classList.remove("static");
one("#reset").addEventListener("click", () => {
  history.replaceState(null, "", location.href.split("#")[0]);
  location.reload();
});
for (const link of all('nav a[href^="#"]')) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    keep("at", link.hash.slice(1));
    one(link.hash).scrollIntoView();
  });
}
addEventListener("hashchange", () => location.reload());
const seen = new IntersectionObserver((entries) => {
  for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
    seen.unobserve(target);
    (target.matches("section") ? open : explore)(target);
  }
}, { rootMargin: "300px" });
all("section.experiment, table.explore").forEach((part) => seen.observe(part));
if (state.has("at")) document.getElementById(state.get("at"))?.scrollIntoView();
