// The page of a plan: a graph of its steps. All that the plan says becomes text, by textContent and text nodes alone.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const WIDTH = 260, HEIGHT = 72, ACROSS = 36, DOWN = 48, MARGIN = 40, TITLE = 40, BETWEEN = 120;
  const DIRECT = new Set(["identity", "transformation", "aggregation"]);
  const MAX_LISTED = 100;
  const MAX_TABLE = 20;  // a longer table of columns has what is computed above it, too
  const ROWS = -1;  // the position of what is no column: which rows there are
  const SMALLEST = 0.45;  // what is smaller is too small to read: a step shows its verb alone, larger

  // --- elements

  function element(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (key === "class") node.className = value;
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  }

  function drawn(name, attributes, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const link = (text, act) => element("button", { class: "link", type: "button", onclick: act }, text);
  const items = (list) => element("ul", {}, ...list.map((each) => element("li", {}, each)));

  // JSON on lines; its texts stay as they are, with their escapes.
  function onLines(json) {
    if (!json.startsWith("{")) return json;  // why there is none
    let depth = 0;
    const line = () => `\n${"  ".repeat(depth)}`;
    return json.replace(/"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{[] ?|[}\]]|, ?/g, (token) => {
      if (token.startsWith('"') || token === "{}" || token === "[]") return token;
      if (token.startsWith(",")) return `,${line()}`;
      depth += /[{[]/.test(token) ? 1 : -1;
      return /[{[]/.test(token) ? token + line() : line() + token;
    });
  }

  function shortList(list, noun) {
    const rest = list.length - MAX_LISTED;
    return rest > 0 ? [...list.slice(0, MAX_LISTED), `... (${count(rest, `more ${noun}`)})`] : list;
  }

  // --- the steps, their columns, and what these come from

  class Step {
    constructor(plan, number, said) {
      Object.assign(this, said, { plan, number, below: [], above: [] });
      this.label = [this.heading, this.verb].join("");
      this.rest = [...this.arguments, ...this.results].join(" ");
      this.line = `${this.label} ${this.rest}`.trim();
    }

    // The fields: [name, type, nullable, nested].
    get columns() {
      if (this.listed) return this.listed;
      const same = [];  // the steps on the way to the one that has them: thousands, in a long chain
      let step = this;
      for (; !step.listed && typeof step.fields === "number"; step = step.plan.steps[step.fields]) same.push(step);
      step.listed ??= step.fields.flatMap(([start, length]) => step.plan.fields.slice(start, start + length));
      for (const each of same) each.listed = step.listed;
      return step.listed;
    }

    // What it computes, after an arrow.
    get results() {
      const computed = Object.entries(this.computed).slice(0, 10).map(([at, text]) => `${this.columns[at][0]} = ${text}`);
      return computed.length ? ["->", computed.join(", ")] : [];
    }

    // For each column a list of [step, position, use], or of [text, use] where a source is read.
    get uses() {
      return this.used ??= this.lineage.flatMap((entry) => {
        if (typeof entry === "number") return [this.plan.uses[entry]];
        const [length, step, position] = entry;
        return Array.from({ length }, (_, offset) => [[step, position + offset, "identity"]]);
      });
    }

    usesOf(position) {
      return position === ROWS ? this.rowUses : this.uses[position] ?? [];
    }

    get rowUses() {
      return this.rows === null ? [] : this.plan.uses[this.rows];
    }

    nameOf(position) {
      return position === ROWS ? "the rows" : this.columns[position]?.[0] ?? `column ${position}`;
    }

    // What of the steps above uses a column of this one, or its rows: [step, position, use].
    usersOf(position) {
      this.users ??= this.indexUsers();
      return this.users.get(position) ?? [];
    }

    indexUsers() {
      const users = new Map();
      for (const above of new Set([...this.above, ...this.plan.correlated])) {
        const note = (uses, column) => {
          for (const [step, position, use] of uses) {
            if (step !== this.number) continue;
            if (!users.has(position)) users.set(position, []);
            users.get(position).push([above.number, column, use]);
          }
        };
        above.uses.forEach(note);
        note(above.rowUses, ROWS);
      }
      return users;
    }

    get searched() {
      return this.words ??= [this.line, ...this.columns.map(([name]) => name)].join("\n").toLowerCase();
    }
  }

  let offset = 0;
  const plans = data.plans.map((said) => {
    const plan = { ...said, offset, top: data.plans.length > 1 ? TITLE : 0 };
    plan.steps = said.steps.map((each, number) => new Step(plan, number, each));
    for (const [source, target, side, isSubquery] of plan.edges) {
      plan.steps[target].below.push(plan.steps[source]);
      plan.steps[source].above.push(plan.steps[target]);
    }
    plan.correlated = plan.steps.filter((step) => step.is_correlated);
    plan.width = (plan.across - 1) * (WIDTH + ACROSS) + WIDTH;
    plan.height = (plan.down - 1) * (HEIGHT + DOWN) + HEIGHT + plan.top;
    offset += plan.width + BETWEEN;
    return plan;
  });
  const steps = plans.flatMap((plan) => plan.steps);
  const size = { width: offset - BETWEEN, height: Math.max(...plans.map((plan) => plan.height)) };

  // --- following a column: each step with the positions of its columns on the way, true where values come directly

  function follow(step, position) {
    const way = { step, position, columns: new Map(), edges: new Map(), deciding: new Map(), sources: [], outputs: [] };
    for (const goesUp of [true, false]) {
      const seen = new Map();
      const waiting = [[step, position, true]];
      while (waiting.length) {
        const [here, column, isDirect] = waiting.pop();
        const known = seen.get(here) ?? new Map();
        if (known.has(column) && (known.get(column) || !isDirect)) continue;
        seen.set(here, known.set(column, isDirect));
        for (const use of goesUp ? here.usersOf(column) : here.usesOf(column)) {
          const stays = isDirect && DIRECT.has(use.at(-1));
          if (use.length === 2) {
            way.sources.push([use[0], stays]);
            continue;
          }
          const other = here.plan.steps[use[0]];
          waiting.push([other, use[1], stays]);
          if (goesUp && use[1] === ROWS) {
            if (column !== ROWS) way.deciding.set(other, use.at(-1));
            if (here.above.includes(other)) continue;  // else it is in a subquery, and refers to the row
          }
          const edge = goesUp ? `${here.number}>${other.number}` : `${other.number}>${here.number}`;
          way.edges.set(edge, way.edges.get(edge) || stays);
        }
        if (goesUp && column !== ROWS && here.is_output) way.outputs.push([here, column]);
      }
      for (const [here, found] of seen) {
        const all = way.columns.get(here) ?? new Map();
        for (const [column, isDirect] of found) {
          if (column !== ROWS || !goesUp) all.set(column, isDirect || (all.get(column) ?? false));
        }
        if (all.size) way.columns.set(here, all);
      }
    }
    return way;
  }

  // --- the graph

  const graph = element("div", { id: "graph", role: "group", "aria-label": "Steps of the plan" });
  const space = element("div", {}, graph);
  const viewport = element("div", { id: "viewport" }, space);
  const lines = drawn("svg", { width: size.width, height: size.height, "aria-hidden": "true" });
  const marker = { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto",
    markerUnits: "userSpaceOnUse" };
  lines.append(drawn("defs", {}, drawn("marker", marker, drawn("path", { d: "M0 0L8 4L0 8z", class: "arrow" }))));
  graph.append(lines);

  function place(step) {
    step.left = step.plan.offset + step.column * (WIDTH + ACROSS);
    step.up = step.plan.top + step.layer * (HEIGHT + DOWN);
    const detail = element("span", { class: "dim" });
    step.detail = detail;
    step.button = element(
      "button",
      { class: `step ${step.change}`, type: "button", tabindex: "-1", title: step.line.slice(0, 500) },
      element(
        "span",
        {},
        ...(step.change ? [element("span", { class: `tag ${step.change}` }, step.change)] : []),
        ...(step.heading ? [element("span", { class: "dim" }, step.heading)] : []),
        element("span", { class: "verb" }, step.verb),
      ),
      element("span", {}, step.rest.slice(0, 300) || "\u00a0"),
      detail,
    );
    step.button.style.left = `${step.left}px`;
    step.button.style.top = `${step.up}px`;
    step.button.addEventListener("click", () => select(step));
    step.button.addEventListener("keydown", (event) => move(event, step));
    describe(step);
    graph.append(step.button);
  }

  function describe(step) {
    step.detail.textContent = count(step.size, "column");
  }

  function connect(plan) {
    const ports = new Map();
    for (const edge of plan.edges) ports.set(edge[1], [...(ports.get(edge[1]) ?? []), edge]);
    for (const [target, edges] of ports) {
      const gap = Math.min(60, 220 / edges.length);
      edges.forEach(([source, , side, isSubquery], number) => {
        const from = plan.steps[source], to = plan.steps[target];
        const x = from.left + WIDTH / 2, y = from.up;
        const end = to.left + WIDTH / 2 + (number - (edges.length - 1) / 2) * gap, bottom = to.up + HEIGHT;
        const bend = Math.min(80, (y - bottom) / 2);
        const path = drawn("path", {
          class: isSubquery ? "edge subquery" : "edge",
          d: `M${x} ${y}C${x} ${y - bend} ${end} ${bottom + bend} ${end} ${bottom + 1}`,
          "marker-end": "url(#arrow)",
        });
        plan.paths.push([`${source}>${target}`, path]);
        lines.append(path);
        if (side) lines.append(drawn("text", { class: "side", x: end + 6, y: bottom + 16 }, side));
      });
    }
  }

  // A line from a row to what refers to it inside a subquery, which may stand anywhere; only while that way is followed.
  function refer(from, to) {
    const down = Math.sign(to.layer - from.layer), right = down ? 0 : Math.sign(to.left - from.left);
    const [x, end] = [[from, right], [to, -right]].map(([step, side]) => step.left + (1 + side) * WIDTH / 2);
    const [y, bottom] = [[from, down], [to, -down]].map(([step, side]) => step.up + (1 + side) * HEIGHT / 2);
    const [across, along] = [right * ACROSS / 2, down * DOWN];
    return drawn("path", {
      class: "edge subquery outer",
      d: `M${x} ${y}C${x + across} ${y + along} ${end - across} ${bottom - along} ${end - right} ${bottom - down}`,
      "marker-end": "url(#arrow)",
    });
  }

  for (const plan of plans) {
    plan.paths = [];
    plan.steps.forEach(place);
    connect(plan);
    if (plans.length > 1) {
      const title = element("h2", {}, plan.title);
      title.style.left = `${plan.offset}px`;
      graph.append(title);
    }
  }

  // --- pan and zoom: the viewport scrolls, the graph is scaled

  let scale = 1, shift = { x: MARGIN, y: MARGIN };

  function zoom(to, x = viewport.clientWidth / 2, y = viewport.clientHeight / 2) {
    const atX = (viewport.scrollLeft + x - shift.x) / scale, atY = (viewport.scrollTop + y - shift.y) / scale;
    scale = Math.min(4, Math.max(0.02, to));
    const wide = size.width * scale, high = size.height * scale;
    shift = { x: Math.max(MARGIN, (viewport.clientWidth - wide) / 2), y: MARGIN };
    space.style.width = `${Math.floor(wide + 2 * shift.x)}px`;
    space.style.height = `${Math.floor(high + 2 * shift.y)}px`;
    graph.classList.toggle("far", scale < SMALLEST);
    graph.style.transform = `translate(${shift.x}px, ${shift.y}px) scale(${scale})`;
    viewport.scrollTo(atX * scale + shift.x - x, atY * scale + shift.y - y);
  }

  function fittingWidth() {
    return Math.min(1, (viewport.clientWidth - 2 * MARGIN) / size.width);
  }

  function fitting() {
    return Math.min(fittingWidth(), (viewport.clientHeight - 2 * MARGIN) / size.height);
  }

  // At first all is shown, unless that is too small to read: then both of two plans, or the first step of one.
  function open() {
    const all = fitting(), isReadable = all > SMALLEST;
    zoom(isReadable ? all : plans.length > 1 ? fittingWidth() : 1);
    viewport.scrollTo((space.offsetWidth - viewport.clientWidth) / 2, 0);
    if (!isReadable && plans.length === 1 && steps.length) {
      steps[0].button.scrollIntoView({ block: "nearest", inline: "center" });
    }
  }

  function reveal(step) {
    step.button.scrollIntoView({ block: "center", inline: "center" });
  }

  viewport.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = viewport.getBoundingClientRect();
    zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });

  viewport.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch" || event.target.closest(".step")) return;
    if (event.offsetX > viewport.clientWidth && event.target === viewport) return;
    const start = { x: viewport.scrollLeft + event.clientX, y: viewport.scrollTop + event.clientY };
    const drag = (moved) => viewport.scrollTo(start.x - moved.clientX, start.y - moved.clientY);
    const stop = () => {
      viewport.classList.remove("dragged");
      viewport.removeEventListener("pointermove", drag);
    };
    viewport.classList.add("dragged");
    viewport.setPointerCapture(event.pointerId);
    viewport.addEventListener("pointermove", drag);
    viewport.addEventListener("lostpointercapture", stop, { once: true });
  });

  // --- what is selected, followed and found

  let current = null, way = null, found = [];

  function select(step, { isShown = false } = {}) {
    if (current) {
      current.button.removeAttribute("aria-current");
      current.button.tabIndex = -1;
    }
    current = step;
    step.button.setAttribute("aria-current", "true");
    step.button.tabIndex = 0;
    if (isShown) reveal(step);
    show();
  }

  function setWay(to) {
    for (const step of way ? [...way.columns.keys(), ...way.deciding.keys()] : []) {
      step.button.classList.remove("direct", "indirect");
      describe(step);
    }
    way?.step.plan.paths.forEach(([, path]) => path.classList.remove("direct", "indirect"));
    lines.querySelectorAll(".outer").forEach((path) => path.remove());
    way = to;
    graph.classList.toggle("following", way !== null);
    if (way) {
      for (const [step, use] of way.deciding) {
        step.button.classList.add("indirect");
        step.detail.textContent = `decides about rows (${use})`;
      }
      for (const [step, columns] of way.columns) {
        step.button.classList.remove("indirect");
        step.button.classList.add([...columns.values()].includes(true) ? "direct" : "indirect");
        step.detail.textContent = [...columns.keys()].slice(0, 20).map((at) => step.nameOf(at)).join(", ");
      }
      for (const [edge, path] of way.step.plan.paths) {
        if (way.edges.has(edge)) path.classList.add(way.edges.get(edge) ? "direct" : "indirect");
      }
      const known = new Set(way.step.plan.paths.map(([edge]) => edge));
      for (const [edge, isDirect] of way.edges) {
        if (known.has(edge)) continue;
        const path = refer(...edge.split(">").map((number) => way.step.plan.steps[number]));
        path.classList.add(isDirect ? "direct" : "indirect");
        lines.append(path);
      }
    }
    show();
  }

  function move(event, step) {
    const beside = () => step.plan.steps.filter((each) => each.layer === step.layer).sort((a, b) => a.column - b.column);
    const near = (by) => beside()[beside().indexOf(step) + by];
    const to = {
      ArrowUp: () => step.above[0],
      ArrowDown: () => step.below[0],
      ArrowLeft: () => near(-1),
      ArrowRight: () => near(1),
    }[event.key]?.();
    if (!to) return;
    event.preventDefault();
    select(to);
    to.button.focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && way) setWay(null);
    if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") zoom(scale * 1.25);
    if (event.key === "-") zoom(scale / 1.25);
    if (event.key === "0") zoom(fitting());
    if (event.key === "/") {
      event.preventDefault();
      search.focus();
    }
  });

  const search = element("input", { type: "search", placeholder: "find a step or a column", "aria-label": "Find" });
  const hits = element("output", {});
  search.addEventListener("input", () => {
    const words = search.value.trim().toLowerCase();
    found = words ? steps.filter((step) => step.searched.includes(words)) : [];
    steps.forEach((step) => step.button.classList.remove("found"));
    found.forEach((step) => step.button.classList.add("found"));
    hits.textContent = words ? count(found.length, "step") : "";
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !found.length) return;
    select(found[(found.indexOf(current) + 1) % found.length], { isShown: true });
  });

  // --- the panel

  const panel = element("aside", { "aria-label": "What is selected" });

  function show() {
    const parts = [...(way ? [followed()] : []), ...(current ? stepParts(current) : overview())];
    panel.replaceChildren(...parts);
  }

  function name(step, position) {
    return link(`${step.nameOf(position)} of ${step.number + 1}: ${step.label}`, () =>
      select(step, { isShown: true }));
  }

  function followed() {
    const sources = new Map();
    for (const [text, isDirect] of way.sources) sources.set(text, isDirect || (sources.get(text) ?? false));
    const box = element("div", { class: "box" }, element("h2", {},
      `following ${way.step.nameOf(way.position)} of ${way.step.number + 1}: ${way.step.label} `));
    box.append(element("h3", {}, "comes from"), items(shortList(
      [...sources].sort().map(([text, isDirect]) => (isDirect ? text : `${text} (decides)`)), "column")));
    if (!sources.size) box.append(element("p", {}, "no column of a source"));
    box.append(element("h3", {}, "goes to"), items(shortList(
      way.outputs.map(([step, position]) => name(step, position)), "column")));
    const deciding = [...way.deciding].map(([step, use]) =>
      link(`rows of ${step.number + 1}: ${step.label} (${use})`, () => select(step, { isShown: true })));
    box.append(items(shortList(deciding, "step")));
    box.append(link("stop following (Escape)", () => setWay(null)));
    return box;
  }

  function columnRows(step) {
    return step.columns.flatMap(([label, type, isNullable, nested], position) => {
      const act = () => setWay(way?.step === step && way.position === position ? null : follow(step, position));
      const button = link(label, act);
      const isFollowed = way?.columns.get(step)?.has(position) ?? false;
      button.setAttribute("aria-pressed", String(isFollowed));
      const row = (first, ...rest) =>
        element("tr", {}, element("td", {}, first), ...rest.map((text) => element("td", {}, text)));
      return [
        row(step.is_followed ? button : label, type, isNullable ? "yes" : "no", step.computed[position] ?? ""),
        ...nested.map(([depth, inner, innerType, innerNullable]) =>
          row("\u00a0\u00a0".repeat(depth) + inner, innerType, innerNullable ? "yes" : "no", "")),
      ];
    });
  }

  function stepParts(step) {
    const others = plans.length > 1 ? plans[1 - plans.indexOf(step.plan)].steps : [];
    const parts = [
      element("h2", {}, ...(step.heading ? [element("span", { class: "dim" }, step.heading)] : []),
        element("span", { class: "verb" }, step.verb)),
      ...(step.change ? [element("p", { class: `tag ${step.change}` }, step.change)] : []),
      ...step.arguments.map((text) => element("p", {}, text)),
      ...(step.size > MAX_TABLE && step.results.length ? [element("p", {}, step.results.join(" "))] : []),
      element("p", { class: "dim" }, `step ${step.number + 1} of ${step.plan.steps.length}; ${step.properties}`),
    ];
    if (step.partner !== null) {
      const other = others[step.partner];
      parts.push(element("p", {}, `${other.plan.title}: `, link(other.line, () => select(other, { isShown: true }))));
    }
    parts.push(element("h3", {}, `${count(step.size, "column")}${step.is_followed && step.size
      ? ": click one to follow it" : ""}`));
    if (step.size) {
      const head = ["column", "type", "nullable", "computed from"].map((text) => element("th", {}, text));
      parts.push(element("table", {}, element("tr", {}, ...head), ...columnRows(step)));
    }
    if (step.columns.length < step.size) parts.push(element("p", {}, `... (${step.size - step.columns.length} more)`));
    const by = step.rowUses.filter((use) => use[1] !== ROWS).map((use) =>
      `${use.length === 2 ? use[0] : step.plan.steps[use[0]].nameOf(use[1])} (${use.at(-1)})`);
    if (by.length) parts.push(element("h3", {}, "which rows there are is decided by"), items(shortList(by, "column")));
    if (step.rowUses.length) parts.push(link("follow what decides about the rows", () => setWay(follow(step, ROWS))));
    for (const [title, list] of [["made of", step.below], ["used by", step.above]]) {
      const links = [...new Set(list)].map((each) =>
        link(`${each.number + 1}: ${each.line}`, () => select(each, { isShown: true })));
      if (links.length) parts.push(element("h3", {}, title), items(shortList(links, "step")));
    }
    if (step.message) {
      parts.push(element("details", {}, element("summary", {}, "message"), element("p", { class: "dim" },
        "Ordinals of references are the numbers of steps."), element("pre", {}, onLines(step.message))));
    }
    return parts;
  }

  function overview() {
    const parts = plans.flatMap((plan) => [
      ...(plans.length > 1 ? [element("h2", {}, plan.title)] : []),
      ...plan.about.map((line) => element("p", {}, line)),
      ...plan.findings.map(([weight, text]) => element("p", { class: weight }, text)),
      ...(plan.declarations ? [element("details", {}, element("summary", {}, "functions and types of the messages"),
        element("pre", {}, onLines(plan.declarations)))] : []),
    ]);
    if (data.changes) {
      parts.push(element("h2", {}, "differences"), ...data.changes.map((line) => element("div", {
        class: `line ${line.trimStart().startsWith("+") ? "added" : line.trimStart().startsWith("-") ? "removed" : ""}`,
      }, line)));
    }
    parts.push(element("h3", {}, "keys and mouse"), items([
      "click a step, or go to it with Tab and the arrow keys: its columns",
      "click one of its columns: where it comes from and goes to",
      "drag, or scroll: move; Ctrl and the wheel, +, -: zoom; 0: all",
      "/: find; Enter: the next one; Escape: follow no column",
    ]));
    return parts;
  }

  const tool = (text, title, act) =>
    element("button", { type: "button", title, "aria-label": title, onclick: act }, text);
  document.body.append(
    element("header", {},
      element("h1", {}, data.title), search, hits,
      element("span", {}, tool("\u2212", "zoom out", () => zoom(scale / 1.25)), " ",
        tool("+", "zoom in", () => zoom(scale * 1.25)), " ", tool("fit", "show all", () => zoom(fitting())))),
    element("main", { class: plans.length > 1 ? "compared" : "" }, viewport, panel),
  );
  if (steps.length) steps[0].button.tabIndex = 0;
  show();
  open();
  window.addEventListener("resize", () => zoom(scale));
})();
