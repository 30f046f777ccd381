/* A matrix as a map of squares: blue above zero, orange below, the stronger the larger. */
(X => {
  "use strict";
  const {draw} = X;

  /**
   * Squares of size × size `values` (row by row) in `panel`; `range` is the value of full colour.
   * `marks` are places between rows and columns at which a line is drawn. Several maps stand side
   * by side, each with its name, and where it is `scaled` with the value of full colour.
   */
  X.heat = (panel, {maps, label, height = 170}) => {
    const width = X.widthOf(panel);
    const gap = 24;
    const top = 22;
    const side = Math.min(height - top - 4, (width - gap * (maps.length - 1)) / maps.length);
    const key = [side, width, ...maps.flatMap(m => [m.size, m.marks])].join();
    let svg = panel.firstChild;
    if (!svg || svg.dataset.key !== key) {
      // squares are made once and coloured anew
      svg = draw("svg", {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "data-key": key,
      });
      maps.forEach(({size, marks = []}, m) => {
        const left = m * (side + gap);
        const unit = side / size;
        svg.append(draw("text", {x: left, y: 13}));
        const squares = draw("g", {});
        for (let i = 0; i < size * size; i++) {
          squares.append(
            draw("rect", {
              x: left + (i % size) * unit,
              y: top + Math.floor(i / size) * unit,
              width: unit + 0.3,
              height: unit + 0.3,
            }),
          );
        }
        svg.append(
          squares,
          draw("rect", {x: left, y: top, width: side, height: side, class: "x-frame"}),
        );
        for (const at of marks)
          svg.append(
            draw("path", {
              class: "x-frame",
              d: `M${left + at * unit} ${top}v${side}M${left} ${top + at * unit}h${side}`,
            }),
          );
      });
      panel.replaceChildren(svg);
    }
    svg.setAttribute("aria-label", label);
    const groups = svg.querySelectorAll("g");
    const names = svg.querySelectorAll("text");
    maps.forEach(({name, values, range, scaled}, m) => {
      const text = scaled ? `${name}, ±${X.show(range, 2)}` : name;
      if (names[m].textContent !== text) names[m].textContent = text;
      const squares = groups[m].children;
      for (let i = 0; i < squares.length; i++) {
        const shade = Math.round(100 * Math.max(-1, Math.min(values[i] / range, 1)));
        if (squares[i].shade === shade) continue; // each change costs the browser a style
        squares[i].shade = shade;
        squares[i].setAttribute("class", shade < 0 ? "x-below" : "x-above");
        squares[i].setAttribute("fill-opacity", Math.abs(shade) / 100);
      }
    });
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
