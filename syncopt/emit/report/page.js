"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const names = Object.keys(charts);
  const place = (name) => document.getElementById(name);
  const timelines = place("timelines");
  const details = document.getElementById("details");
  const arrows = document.getElementById("arrows");
  const timed = names.filter((name) => name !== "busy");
  const whole = charts.timelines.layout.xaxis.range.slice();
  const MANY_ARROWS = 120;
  const REST = 150;
  const PAN = 0.2;
  const ZOOM = 1.5;

  // -- colours ---------------------------------------------------------------------------------------------------

  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    return { text: of("--text"), line: of("--line"), panel: of("--panel") };
  };

  const patched = (layout, patch) => {
    for (const [path, value] of Object.entries(patch)) {
      const keys = path.split(".");
      const last = keys.pop();
      keys.reduce((part, key) => (part[key] ??= {}), layout)[last] = value;
    }
    return layout;
  };

  const themed = (layout) => {
    const now = colours();
    const patch = {
      "font.color": now.text,
      "hoverlabel.bgcolor": now.panel,
      "hoverlabel.bordercolor": now.line,
      "hoverlabel.font.color": now.text,
    };
    for (const key of Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))) {
      patch[`${key}.gridcolor`] = now.line;
      patch[`${key}.linecolor`] = now.line;
      patch[`${key}.zerolinecolor`] = now.line;
    }
    return patch;
  };

  // -- time ------------------------------------------------------------------------------------------------------

  let following = 0;

  const range = () => timelines.layout.xaxis.range.slice();

  const show = (from, to) => {
    const width = Math.min(Math.max(to - from, 4), whole[1] - whole[0]);
    const left = Math.min(Math.max(from, whole[0]), whole[1] - width);
    return Plotly.relayout(timelines, { "xaxis.range": [left, left + width] });
  };

  // The other charts follow when the timelines have come to rest.
  const follow = () => {
    clearTimeout(following);
    following = setTimeout(() => {
      for (const name of timed.filter((name) => name !== "timelines")) {
        Plotly.relayout(place(name), { "xaxis.range": range() });
      }
    }, REST);
  };

  // -- slices ----------------------------------------------------------------------------------------------------

  // All slices by version and pipe, in the order of time, as [trace, point].
  const rows = [];
  charts.timelines.data.forEach((trace, curve) => {
    if (trace.meta.kind !== "slices") return;
    trace.y.forEach((pipe, point) => {
      const key = `${trace.yaxis} ${pipe}`;
      let row = rows.find((row) => row.key === key);
      if (!row) {
        row = { key, axis: trace.yaxis, version: trace.meta.version, pipe, slices: [] };
        rows.push(row);
      }
      row.slices.push([curve, point]);
    });
  });
  const startOf = ([curve, point]) => charts.timelines.data[curve].base[point];
  const lengthOf = ([curve, point]) => charts.timelines.data[curve].x[point];
  const lanes = charts.timelines.layout.yaxis.categoryarray;
  rows.sort((a, b) => a.axis.localeCompare(b.axis) || lanes.indexOf(b.pipe) - lanes.indexOf(a.pipe));
  rows.forEach((row) => row.slices.sort((a, b) => startOf(a) - startOf(b) || lengthOf(a) - lengthOf(b)));

  let chosen = null;

  const describe = ([curve, point]) => {
    const trace = charts.timelines.data[curve];
    details.textContent = [`${trace.meta.version}: ${trace.customdata[point][0]}`, ...trace.customdata[point].slice(1)].join("\n");
  };

  const outline = (row, slice) => ({
    type: "rect",
    xref: row.axis.replace("y", "x"),
    yref: row.axis,
    x0: startOf(slice),
    x1: startOf(slice) + Math.max(lengthOf(slice), 1),
    y0: lanes.indexOf(row.pipe) - 0.46,
    y1: lanes.indexOf(row.pipe) + 0.46,
    line: { width: 2, color: colours().text },
  });

  const mark = () =>
    Plotly.relayout(timelines, { shapes: [outline(rows[chosen.row], rows[chosen.row].slices[chosen.number])] });

  const choose = (row, number) => {
    const at = Math.min(Math.max(number, 0), rows[row].slices.length - 1);
    chosen = { row, number: at };
    const slice = rows[row].slices[at];
    describe(slice);
    const [from, to] = range();
    const [start, end] = [startOf(slice), startOf(slice) + lengthOf(slice)];
    const middle = (start + end) / 2;
    const inside = end >= from && start <= to;
    return mark().then(() =>
      inside ? null : show(middle - (to - from) / 2, middle + (to - from) / 2)
    );
  };

  // The slice of a row that is nearest to the middle of what is shown.
  const nearest = (row) => {
    const middle = chosen === null ? (range()[0] + range()[1]) / 2 : startOf(rows[chosen.row].slices[chosen.number]);
    const starts = rows[row].slices.map((slice) => Math.abs(startOf(slice) - middle));
    return starts.indexOf(Math.min(...starts));
  };

  const step = (by) => {
    if (chosen === null) return choose(0, nearest(0));
    return choose(chosen.row, chosen.number + by);
  };

  const stepRow = (by) => {
    const row = chosen === null ? 0 : Math.min(Math.max(chosen.row + by, 0), rows.length - 1);
    return choose(row, nearest(row));
  };

  // -- arrows ----------------------------------------------------------------------------------------------------

  const arrowTraces = charts.timelines.data.flatMap((trace, number) => (trace.meta.kind === "arrows" ? [number] : []));
  const arrowCount = arrowTraces.reduce((sum, number) => sum + charts.timelines.data[number].x.length / 3, 0);

  const arrowColours = () => ({ "line.color": colours().text, "marker.color": colours().text });

  const showArrows = () => Plotly.restyle(timelines, { visible: arrows.checked }, arrowTraces);

  // -- keys ------------------------------------------------------------------------------------------------------

  const pan = (by) => {
    const [from, to] = range();
    return show(from + by * (to - from), to + by * (to - from));
  };
  const zoom = (by) => {
    const [from, to] = range();
    // Around the chosen slice, where it is in sight.
    const around = chosen === null ? from : startOf(rows[chosen.row].slices[chosen.number]);
    const middle = around > from && around < to ? around : (from + to) / 2;
    const half = ((to - from) / 2) * by;
    return show(middle - half, middle + half);
  };
  const actions = { in: () => zoom(1 / ZOOM), out: () => zoom(ZOOM), all: () => show(...whole) };
  const keys = {
    ArrowLeft: () => pan(-PAN),
    ArrowRight: () => pan(PAN),
    ArrowUp: () => stepRow(-1),
    ArrowDown: () => stepRow(1),
    "+": actions.in,
    "=": actions.in,
    "-": actions.out,
    Home: actions.all,
    n: () => step(1),
    p: () => step(-1),
    a: () => {
      arrows.checked = !arrows.checked;
      return showArrows();
    },
  };

  timelines.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });

  // -- wheel -----------------------------------------------------------------------------------------------------

  // Without Ctrl the wheel scrolls the page, wherever the mouse is; with it the browser must not zoom the page.
  const wheel = (event) => {
    if (event.ctrlKey || event.metaKey) event.preventDefault();
    else event.stopPropagation();
  };

  // -- start -----------------------------------------------------------------------------------------------------

  arrows.checked = arrowCount <= MANY_ARROWS;
  const config = { responsive: true, displayModeBar: false, doubleClick: "reset" };
  for (const number of arrowTraces) patched(charts.timelines.data[number], { ...arrowColours(), visible: arrows.checked });
  Promise.all(
    names.map((name) => {
      const { data, layout } = charts[name];
      const scroll = { ...config, scrollZoom: name !== "busy" };
      return Plotly.newPlot(place(name), data, patched(layout, themed(layout)), scroll);
    })
  ).then(() => {
    for (const name of timed) place(name).addEventListener("wheel", wheel, { capture: true, passive: false });
    timelines.on("plotly_relayout", follow);
    const pointed = (event) => describe([event.points[0].curveNumber, event.points[0].pointNumber]);
    timelines.on("plotly_hover", pointed);
    timelines.on("plotly_click", pointed);
    arrows.addEventListener("change", showArrows);
    for (const button of document.querySelectorAll("button[data-action]")) {
      button.addEventListener("click", actions[button.dataset.action]);
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      for (const name of names) Plotly.relayout(place(name), themed(charts[name].layout));
      Plotly.restyle(timelines, arrowColours(), arrowTraces);
      if (chosen !== null) mark();
    });
    document.body.dataset.charts = names.join(" ");
    document.body.dataset.slices = String(rows.reduce((sum, row) => sum + row.slices.length, 0));
    document.body.dataset.arrows = String(arrowCount);
  });
})();
