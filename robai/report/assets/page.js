// What a report does when it is touched: themes, explanations, sorted tables, figures. Nothing is fetched.
"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const style = name => getComputedStyle(root).getPropertyValue(name).trim();
  const make = (tag, name, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  root.classList.add("js");

  // ---- Numbers, as the tables write them.
  const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const power = exponent => "10" + (exponent < 0 ? "⁻" : "") + [...String(Math.abs(exponent))].map(d => SUPERSCRIPT[d]).join("");
  const number = value => {
    if (value === null || value === undefined || !isFinite(value)) return "-";
    const size = Math.abs(value);
    if (size >= 1e15 || (size > 0 && size < 1e-4)) {
      const [mantissa, exponent] = value.toExponential(2).split("e");
      return `${mantissa} × ${power(Number(exponent))}`;
    }
    return value.toLocaleString("en", size >= 1e4 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 });
  };
  // With all of four digits, for numbers below each other.
  const aligned = value => value && Math.abs(value) >= 1e-4 && Math.abs(value) < 1e4
    ? value.toLocaleString("en", { minimumSignificantDigits: 4, maximumSignificantDigits: 4 }) : number(value);

  // ---- Themes: that of the system, unless another was chosen here before.
  const charts = [];
  const theme = document.getElementById("theme");
  const stored = (() => { try { return localStorage.getItem("robai-theme"); } catch { return null; } })();
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const redraw = () => {
    theme.setAttribute("aria-pressed", String(isDark()));
    charts.forEach(chart => chart.redraw());
  };
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("robai-theme", root.dataset.theme); } catch { /* a page from a file may not */ }
    redraw();
  });
  system.addEventListener("change", redraw);

  // ---- Explanations: by pointer, by focus, by tap.
  const tip = document.getElementById("tip");
  let explained = null;
  const hide = () => { tip.hidden = true; explained = null; };
  const explain = node => {
    explained = node;
    tip.textContent = node.dataset.about;
    tip.hidden = false;
    const box = node.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - own.width / 2), innerWidth - own.width - 8);
    const above = box.top - own.height - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 8 ? above : box.bottom + 8}px`;
  };
  for (const node of all("[data-about]")) {
    node.removeAttribute("title");
    const whole = node.closest("th") || node;
    whole.addEventListener("mouseenter", () => explain(node));
    whole.addEventListener("mouseleave", hide);
    node.addEventListener("focus", () => explain(node));
    node.addEventListener("blur", hide);
    node.addEventListener("click", event => { event.stopPropagation(); explain(node); });
  }
  document.addEventListener("click", hide);
  document.addEventListener("scroll", () => explained && hide(), { passive: true, capture: true });
  document.addEventListener("keydown", event => event.key === "Escape" && hide());

  // ---- Tables are sorted by a column when its title is pressed; what has no number comes last.
  const value = cell => {
    const text = cell.textContent.trim().replaceAll("−", "-").replaceAll(",", "");
    const found = /^(?:>= )?([-+]?\d+\.?\d*(?:e[-+]?\d+)?)/i.exec(text);
    return found ? Number(found[1]) : text === "-" || text === "" ? null : NaN;
  };
  for (const table of all("table.sortable")) {
    const body = table.tBodies[0], first = [...body.rows];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const label = head.querySelector(".label"), button = make("button", "sort", label.textContent);
      button.type = "button";
      label.replaceChildren(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        all("th", table.tHead).forEach(each => each.removeAttribute("aria-sort"));
        if (before === "descending") return body.replaceChildren(...first);
        const down = before === "ascending" ? -1 : 1;
        head.setAttribute("aria-sort", down < 0 ? "descending" : "ascending");
        const keys = new Map(first.map(row => [row, value(row.cells[column])]));
        const numeric = ![...keys.values()].some(Number.isNaN);
        const text = row => row.cells[column].textContent;
        body.replaceChildren(...[...first].sort((a, b) => {
          const one = keys.get(a), other = keys.get(b);
          if (!numeric) return down * text(a).localeCompare(text(b));
          return one === null || other === null ? (one === null) - (other === null) : down * (one - other);
        }));
      });
    });
  }

  // ---- Figures.
  const ticks = (min, max, most) => {
    const out = [], low = Math.floor(Math.log10(min)), high = Math.ceil(Math.log10(max));
    const fine = max / min < 100 ? [1, 2, 5] : [1], step = Math.max(1, Math.ceil((high - low) / most));
    for (let e = low; e <= high; e += step) {
      for (const m of fine) if (m * 10 ** e >= min * 0.999 && m * 10 ** e <= max * 1.001) out.push(m * 10 ** e);
    }
    return out;
  };
  const isPower = v => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;
  const tick = v => v >= 1e4 || v < 0.01 ? (isPower(v) ? power(Math.round(Math.log10(v))) : number(v)) : number(v);

  class Figure {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.plot = figure.querySelector(".plot");
      this.shown = this.data.series.map(() => true);
      this.strong = -1;
      this.box = make("div", "values");
      this.box.hidden = true;
      this.legend();
      this.full = this.now = this.extent();
      this.u = new uPlot(this.options(), this.aligned(), this.plot);
      this.u.over.append(this.box);
      new ResizeObserver(() => this.u.setSize(this.size())).observe(this.plot);
      for (const [name, act] of [["in", () => this.zoom(0.5)], ["out", () => this.zoom(2)], ["all", () => this.reset()]]) {
        figure.querySelector(`[data-zoom=${name}]`).addEventListener("click", act);
      }
      this.plot.addEventListener("keydown", event => this.key(event));
    }

    size() {
      const width = Math.max(160, this.plot.clientWidth), hero = this.figure.classList.contains("hero");
      return { width, height: Math.round(Math.min(hero ? 420 : 300, Math.max(hero ? 300 : 240, width * 0.62))) };
    }

    colour(i) { return style(this.data.series[i].colour === null ? "--muted" : `--c${this.data.series[i].colour}`); }

    aligned() {
      const tables = this.data.series.map(each => {
        const order = each.x.map((_, i) => i).sort((a, b) => each.x[a] - each.x[b]);
        return [order.map(i => each.x[i]), order.map(i => each.y[i])];
      });
      return uPlot.join(tables);
    }

    options() {
      const { data } = this, steps = data.kind === "steps", points = data.kind === "points";
      const axis = (label, log, size, names) => ({
        stroke: () => style("--muted"), grid: { stroke: () => style("--line"), width: 1 },
        ticks: { show: false }, label, labelSize: 20, labelFont: "12px system-ui, sans-serif", labelGap: 2,
        font: "12px system-ui, sans-serif", size, gap: 6,
        ...(names ? { splits: () => names.map((_, i) => i + 1), values: () => names } : log ? {
          splits: (u, i, min, max) => ticks(min, max, Math.max(3, (i ? u.bbox.height / 40 : u.bbox.width / 70) / devicePixelRatio)),
          filter: (u, splits) => splits, values: (u, splits) => splits.map(tick),
        } : { values: (u, splits) => splits.map(v => v === null ? "" : number(Number(v.toPrecision(12)))) }),
      });
      return {
        ...this.size(), legend: { show: false }, padding: [12, 14, 0, 0],
        cursor: { points: { show: !points }, y: false, drag: { x: true, y: false, dist: 6 },
          bind: { dblclick: () => () => { this.reset(); return null; } } },
        scales: {
          x: { time: false, distr: data.log_x ? 3 : 1, range: (u, min, max) => this.now = this.ready && min < max ? [min, max] : this.full },
          y: { distr: data.log_y ? 3 : 1, range: () => this.high() },
        },
        axes: [axis(data.x, data.log_x, 34, data.names), axis(data.y, data.log_y, 54)],
        series: [{}, ...data.series.map((each, i) => ({
          stroke: () => this.colour(i), width: each.colour === null ? 1 : 2, dash: each.dash ? [7, 5] : undefined, points: { show: false },
          alpha: 1, ...(points ? { paths: () => null } : steps ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
        }))],
        hooks: {
          ready: [() => { this.ready = true; }], drawAxes: [u => this.under(u)], draw: [u => this.over(u)], setCursor: [u => this.values(u)],
          setScale: [(u, key) => key === "x" && this.figure.classList.toggle("zoomed", u.scales.x.min > this.full[0] || u.scales.x.max < this.full[1])],
        },
      };
    }

    // The x axis: all that there is, with some room beside points.
    extent() {
      const { data } = this, xs = data.series.flatMap(each => each.x).concat(data.verticals.map(each => each.value));
      let low = Math.max(Math.min(...xs), data.least ?? -Infinity), high = Math.max(...xs);
      if (data.names) return [0.5, data.names.length + 0.5];
      const room = data.kind === "points" ? 0.08 : low === high ? 0.5 : 0;
      if (data.log_x) { const r = (high / low) ** room || 1; return low === high ? [low / 3, high * 3] : [low / r, high * r]; }
      return [low - room * (high - low || 2), high + room * (high - low || 2)];
    }

    // The y axis: what is shown of the x axis, with errors.
    high() {
      const { data } = this, [min, max] = this.now;
      let low = Infinity, top = -Infinity;
      const see = v => { if (v !== null && v !== undefined && (!data.log_y || v > 0)) { low = Math.min(low, v); top = Math.max(top, v); } };
      data.series.forEach((each, s) => this.shown[s] && each.x.forEach((x, i) => {
        const near = x >= min && x <= max || each.x[i + 1] > min && x < min || each.x[i - 1] < max && x > max;
        if (near) { see(each.y[i]); see(each.low?.[i]); see(each.high?.[i]); }
      }));
      data.levels.forEach(each => see(each.value));
      if (low > top) return data.log_y ? [0.1, 1] : [0, 1];
      if (data.share) return [-0.02, 1.03];
      if (data.log_y) return [low / 1.6, Math.min(top * 1.6, data.most ?? Infinity)];
      const from = low >= 0 && low < 0.6 * top ? 0 : low - 0.06 * (top - low || top || 1);
      return [from, top + 0.06 * (top - from || 1)];
    }

    // Bands and level lines, below the curves; marks and bars above.
    under(u) {
      const { ctx } = u, at = (v, key) => u.valToPos(v, key, true);
      ctx.save();
      ctx.beginPath(); ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height); ctx.clip();
      if (this.data.kind !== "points") this.data.series.forEach((each, s) => {
        if (!each.low || !this.shown[s]) return;
        const steps = this.data.kind === "steps", path = [], floor = u.scales.y.min;
        each.x.forEach((x, i) => {
          if (steps && i) path.push([x, each.low[i - 1], each.high[i - 1]]);
          path.push([x, each.low[i], each.high[i]]);
        });
        const known = path.filter(each => each[1] !== null && each[2] !== null);
        ctx.beginPath();
        known.forEach(([x, , high]) => ctx.lineTo(at(x, "x"), at(high, "y")));
        known.reverse().forEach(([x, low]) => ctx.lineTo(at(x, "x"), at(this.data.log_y ? Math.max(low, floor) : low, "y")));
        ctx.closePath();
        ctx.globalAlpha = this.strong < 0 || this.strong === s ? 0.18 : 0.04;
        ctx.fillStyle = this.colour(s);
        ctx.fill();
      });
      ctx.globalAlpha = 1;
      ctx.strokeStyle = ctx.fillStyle = style("--muted");
      ctx.lineWidth = devicePixelRatio;
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
      for (const each of this.data.levels) {
        const y = at(each.value, "y");
        ctx.beginPath(); ctx.moveTo(u.bbox.left, y); ctx.lineTo(u.bbox.left + u.bbox.width, y); ctx.stroke();
        ctx.textAlign = "right"; ctx.textBaseline = "bottom";
        ctx.fillText(each.label, u.bbox.left + u.bbox.width - 4, y - 2);
      }
      for (const each of this.data.verticals) {
        const x = at(each.value, "x"), left = x > u.bbox.left + u.bbox.width / 2;
        ctx.beginPath(); ctx.moveTo(x, u.bbox.top); ctx.lineTo(x, u.bbox.top + u.bbox.height); ctx.stroke();
        ctx.textAlign = left ? "right" : "left"; ctx.textBaseline = "top";
        ctx.fillText(each.label, x + (left ? -6 : 6), u.bbox.top + 4);
      }
      ctx.restore();
    }

    over(u) {
      const { ctx } = u, at = (v, key) => u.valToPos(v, key, true), r = devicePixelRatio;
      ctx.save();
      ctx.beginPath(); ctx.rect(u.bbox.left - 6 * r, u.bbox.top - 6 * r, u.bbox.width + 12 * r, u.bbox.height + 12 * r); ctx.clip();
      this.data.series.forEach((each, s) => {
        if (!this.shown[s]) return;
        ctx.globalAlpha = this.strong < 0 || this.strong === s ? 1 : 0.2;
        ctx.strokeStyle = ctx.fillStyle = this.colour(s);
        ctx.lineWidth = 1.5 * r;
        const bar = (x0, y0, x1, y1) => { ctx.beginPath(); ctx.moveTo(at(x0, "x"), at(y0, "y")); ctx.lineTo(at(x1, "x"), at(y1, "y")); ctx.stroke(); };
        const marks = this.data.kind === "points" ? each.x.map((x, i) => [x, each.y[i]]) : each.marks;
        if (this.data.kind === "points") each.x.forEach((x, i) => {
          if (each.low && each.low[i] !== null) bar(x, this.data.log_y ? Math.max(each.low[i], u.scales.y.min) : each.low[i], x, each.high[i]);
          if (each.left) bar(this.data.log_x ? Math.max(each.left[i], u.scales.x.min) : each.left[i], each.y[i], each.right[i], each.y[i]);
        });
        for (const [x, y] of marks) {
          if (x < u.scales.x.min || x > u.scales.x.max || y === null) continue;
          ctx.beginPath(); ctx.arc(at(x, "x"), at(y, "y"), 4.5 * r, 0, 2 * Math.PI); ctx.fill();
          ctx.strokeStyle = style("--surface"); ctx.stroke();
          ctx.strokeStyle = ctx.fillStyle;
        }
      });
      ctx.restore();
    }

    // The values below the pointer, the largest first; of points, the nearest one.
    values(u) {
      const { left, top } = u.cursor;
      this.box.hidden = left < 0;
      if (left < 0) return;
      const rows = this.data.kind === "points" ? this.nearest(left, top) : this.column(u.posToVal(left, "x"));
      this.box.hidden = rows.length === 0;
      this.box.replaceChildren(...rows);
      const wide = this.box.offsetWidth, high = this.box.offsetHeight, beside = left + 14 + wide > u.over.clientWidth;
      this.box.style.left = `${beside ? Math.max(4 - wide / 4, left - wide - 14) : left + 14}px`;
      this.box.style.top = `${Math.max(0, Math.min(top - high / 2, u.over.clientHeight - high))}px`;
    }

    row(s, text, interval) {
      const row = make("div", "value"), mark = make("i", this.data.series[s].dash ? "dash" : "");
      mark.style.setProperty("--own", this.colour(s));
      row.append(mark, make("span", "", this.data.series[s].label), make("b", "", text), make("small", "", interval));
      return row;
    }

    column(x) {
      const place = xs => {
        let i = xs.findIndex(each => each > x);
        if (i < 0) i = xs.length;
        if (this.data.kind === "steps" || i === 0 || i === xs.length) return Math.max(0, i - 1);
        const d = v => this.data.log_x ? Math.abs(Math.log(v / x)) : Math.abs(v - x);
        return d(xs[i]) < d(xs[i - 1]) ? i : i - 1;
      };
      const found = this.data.series.map((each, s) => ({ each, s, i: place(each.x) }))
        .filter(({ each, s, i }) => this.shown[s] && each.y[i] !== null && i >= 0)
        .sort((a, b) => b.each.y[b.i] - a.each.y[a.i]);
      if (!found.length) return [];
      const at = this.data.kind === "steps" ? x : found[0].each.x[found[0].i];
      const head = make("div", "at", `${this.data.at} ${number(this.data.whole ? Math.round(at) : at)}`);
      const room = this.u.over.clientWidth > 480;
      return [head, ...found.map(({ each, s, i }) => this.row(s, aligned(each.y[i]),
        room && each.low ? `${aligned(each.low[i])} to ${aligned(each.high[i])}` : ""))];
    }

    nearest(left, top) {
      let best = null;
      this.data.series.forEach((each, s) => this.shown[s] && each.x.forEach((x, i) => {
        if (each.y[i] === null) return;
        const away = Math.hypot(this.u.valToPos(x, "x") - left, this.u.valToPos(each.y[i], "y") - top);
        if (!best || away < best.away) best = { away, s, i };
      }));
      if (!best) return [];
      return [make("div", "at", this.data.series[best.s].label), make("div", "text", this.data.series[best.s].texts[best.i])];
    }

    legend() {
      const legend = this.figure.querySelector(".legend");
      this.keys = this.data.series.map((each, s) => {
        const key = make("button", "key"), mark = make("i", each.dash ? "dash" : "");
        mark.style.setProperty("--own", each.colour === null ? "var(--muted)" : `var(--c${each.colour})`);
        key.type = "button";
        key.append(mark, make("span", "", each.label));
        key.addEventListener("click", () => this.show(this.shown.map((on, i) => i === s ? !on : on)));
        key.addEventListener("dblclick", () => this.show(this.shown.map((_, i) => i === s)));
        key.addEventListener("mouseenter", () => this.stress(s));
        key.addEventListener("mouseleave", () => this.stress(-1));
        return key;
      });
      legend.append(...this.keys);
      this.keys.forEach(key => key.setAttribute("aria-pressed", "true"));
    }

    show(shown) {
      this.shown = shown.some(Boolean) ? shown : shown.map(() => true);
      this.shown.forEach((on, s) => {
        this.keys[s].setAttribute("aria-pressed", String(on));
        this.u.setSeries(s + 1, { show: on });
      });
      this.rescale(this.u.scales.x.min, this.u.scales.x.max);
    }

    stress(s) {
      this.strong = s;
      this.u.series.forEach((each, i) => { if (i) each.alpha = s < 0 || s === i - 1 ? 1 : 0.2; });
      this.redraw();
    }

    redraw() { this.u.redraw(false, true); }
    rescale(min, max) { this.u.setScale("x", { min, max }); }
    reset() { this.rescale(...this.full); }

    zoom(factor, shift = 0) {
      const log = this.data.log_x, to = v => log ? Math.log(v) : v, from = v => log ? Math.exp(v) : v;
      const [least, most] = this.full.map(to), low = to(this.u.scales.x.min), high = to(this.u.scales.x.max);
      const width = Math.min((high - low) * factor, most - least);
      let middle = this.u.cursor.left >= 0 && factor < 1 ? to(this.u.posToVal(this.u.cursor.left, "x")) : (low + high) / 2;
      middle = Math.min(Math.max(middle + shift * width, least + width / 2), most - width / 2);
      if (width >= most - least) return this.reset();
      this.rescale(from(middle - width / 2), from(middle + width / 2));
    }

    key(event) {
      const acts = { "+": () => this.zoom(0.5), "-": () => this.zoom(2), "0": () => this.reset(), ArrowLeft: () => this.zoom(1, -0.2), ArrowRight: () => this.zoom(1, 0.2) };
      if (acts[event.key]) { acts[event.key](); event.preventDefault(); }
    }
  }

  for (const figure of all("figure.chart")) charts.push(new Figure(figure));
  redraw();
})();
