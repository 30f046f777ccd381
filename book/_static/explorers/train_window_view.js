/* Training: the window. The head's weights around a query, its answers, its matrix, w against the
   exact w*, and the loss. */
(X => {
  "use strict";
  const {CLASS, heat, perRecord, replot, population, remembered, roomy, show, slider, staircase,
    thinned, training} = X;
  const {N} = training;
  const {window: model} = N.models;

  /** The exact best head of the form w·I: its window and its loss. */
  const exact = remembered(({family, d, n, L, sigma}) => population(family, d, n, L, sigma).best());

  /**
   * A prompt to look at, always the same for a seed; its query, tokens' angles to it, and a circle
   * through it.
   */
  const scene = remembered(key => {
    const {seed, ...settings} = key;
    const {d, n} = settings;
    const prompt = model.prompt(model.draw(settings, N.random(seed, "look")), settings);
    const query = prompt.query.slice(0, d);
    const across = N.orthonormal(
      Float64Array.from({length: 2 * d}, (_, i) =>
        i % 2 ? Number(i >> 1 === (d > 2 ? 2 : 1)) + 1e-3 : query[i >> 1],
      ),
      d,
      2,
    );
    const angle = i => {
      let along = 0;
      let side = 0;
      for (let a = 0; a < d; a++) {
        along += prompt.x[i * d + a] * query[a];
        side += prompt.x[i * d + a] * across[2 * a + 1];
      }
      const size = (Math.acos(Math.min(1, Math.max(-1, along))) * 180) / Math.PI;
      return d === 2 && side < 0 ? -size : size;
    };
    const degrees = Array.from({length: 91}, (_, i) => (d === 2 ? i * 4 - 180 : i * 2));
    const circle = new Float64Array(degrees.length * d);
    degrees.forEach((t, i) => {
      const c = Math.cos((t * Math.PI) / 180);
      const s = Math.sin((t * Math.PI) / 180);
      for (let a = 0; a < d; a++) circle[i * d + a] = c * query[a] + s * across[2 * a + 1];
    });
    return {
      prompt,
      query,
      degrees,
      circle,
      angles: Array.from({length: n}, (_, i) => angle(i)),
      truth: model.values(circle, d, prompt.task, settings),
    };
  });

  const losses = X.lossesOf();
  /** ‖M‖ of the softmax head in a record. */
  const norm = perRecord((run, index) => {
    const {d} = run.settingsAt(0);
    return N.eigen(run.row(index).subarray(2, 2 + d * d), d).values[0];
  });
  const trace = (row, from, d) => {
    let total = 0;
    for (let a = 0; a < d; a++) total += row[from + a * d + a];
    return total / d;
  };

  X.explorers.train_window = {
    title: "a head learns its window",
    model: "window",
    unit: "steps",
    counted: "step",
    speeds: [10, 30, 100, 300, 1000, 3000],
    pace: 300, // at which the steep settings of chapter 1 arrive within ten seconds
    end: 20000,
    presets: [
      {name: "it narrows", settings: {}},
      {name: "much noise: it stays wide", settings: {sigma: 1.2, n: 400}},
      {name: "steep hills", settings: {n: 30, sigma: 0.5, L: 6}},
      {
        name: "steep waves: it stays wide",
        settings: {family: "cosine", L: 8, sigma: 0.01, n: 20, d: 5},
      },
      {
        name: "few examples, five dimensions",
        settings: {family: "relu", L: 1, sigma: 0.01, n: 20, d: 5},
      },
    ],
    controls: [
      CLASS,
      slider("L", "Lipschitz constant ~L~", [0.1, 0.2, 0.3, 0.5, 1, 2, 3, 4, 5, 6, 8, 10], 1),
      slider("sigma", "noise ~σ~", [0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2], 0.3),
      slider("n", "length of the prompt ~n~", [20, 30, 40, 80, 150, 250, 400], 150),
      slider(
        "d",
        "dimension ~d~",
        [2, 3, 5],
        2,
        d => `${d} (${{2: "circle", 3: "sphere", 5: "sphere in R⁵"}[d]})`,
      ),
    ],
    panels: [
      {
        name: "Weights of a prompt’s examples, by angle to the query",
        height: 190,
        legend: [
          ["the head", "softmax"],
          ["exact best window", "exact"],
        ],
      },
      {
        name: "Answers on a task that it has not seen",
        height: 190,
        folded: true,
        legend: [
          ["the task", "exact"],
          ["softmax head", "softmax"],
          ["head without softmax (linear)", "other"],
        ],
      },
      {
        name: "The window ~w~, the mean of ~M~'s diagonal",
        height: 190,
        legend: [
          ["the head", "softmax"],
          ["exact best, ~w~^{*}", "exact"],
        ],
      },
      {...losses.panel("exact loss at ~w~^{*}"), height: 190},
      {name: "The matrices", height: 170, folded: true},
    ],
    view([weights, answers, window, loss, maps], {run, at, step, settings, seed}) {
      const {d, n} = settings;
      const best = exact(settings);
      const here = scene({...settings, seed});
      const row = run.row(at);
      const softmax = row.slice(2, 2 + d * d);
      const linear = row.slice(2 + d * d);
      const w = trace(row, 2, d);
      const scores = N.scores(softmax, here.prompt.x, here.query);
      const top = Math.max(...scores);
      const mass = Array.from(scores, s => Math.exp(s - top));
      let total = 0;
      let square = 0;
      for (const m of mass) {
        total += m;
        square += m * m;
      }
      const effective = (total * total) / square;
      let held = 0;
      let half = 0;
      for (const i of mass
        .map((_, i) => i)
        .sort((i, j) => Math.abs(here.angles[i]) - Math.abs(here.angles[j]))) {
        held += mass[i];
        half = Math.abs(here.angles[i]);
        if (held >= total / 2) break;
      }
      const ticks = d === 2 ? [-180, -90, 0, 90, 180] : [0, 45, 90, 135, 180];
      const x = {label: "angle to the query (degrees)", range: [ticks[0], 180], ticks};
      const nearest = (Math.min(...here.angles.map(Math.abs)) * Math.PI) / 180;
      replot(weights, {
        x,
        y: {label: "relative weight", range: [0, 1.05]},
        label:
          `Weights of ${n} tokens, relative to the largest, against the angle to the query; half ` +
          `of the softmax head’s weight lies within ${show(half, 2)} degrees.`,
        lines: [
          {points: here.angles.map((a, i) => [a, mass[i]]), kind: "softmax", sticks: true},
          {
            points: here.degrees.map(a => [
              a,
              Math.exp(best.w * (Math.cos((a * Math.PI) / 180) - Math.cos(nearest))),
            ]),
            kind: "exact",
            name: "exact window",
          },
        ],
      });

      const told = N.answers(softmax, here.prompt, here.circle, "softmax");
      const linearly = N.answers(linear, here.prompt, here.circle, "linear");
      const noisy = d === 2 ? here.angles.map((a, i) => [a, here.prompt.y[i]]) : [];
      const reach = roomy(Math.max(...here.truth.map(Math.abs), ...noisy.map(v => Math.abs(v[1]))));
      replot(answers, {
        x,
        y: {label: "answer", range: [-reach, reach]},
        label:
          "A task, its noisy examples and the answers of both heads on a circle through the query.",
        lines: [
          {points: noisy, kind: "softmax", scatter: true},
          {points: here.degrees.map((a, i) => [a, here.truth[i]]), kind: "exact", name: "the task"},
          {
            points: here.degrees.map((a, i) => [a, linearly[i]]),
            kind: "other",
            name: "linear head",
          },
          {points: here.degrees.map((a, i) => [a, told[i]]), kind: "softmax", name: "softmax head"},
        ],
      });

      const shown = thinned(at + 1);
      const events = run.events();
      const end = Math.max(500, roomy(run.step));
      const path = shown.map(i => [i, trace(run.row(i), 2, d)]);
      const known = events.map(e => exact(e.settings)).filter(e => Number.isFinite(e.w));
      const steps = {label: "steps", range: [0, end]};
      const highest = Math.max(1, ...path.map(p => p[1]), ...known.map(e => e.w));
      replot(window, {
        x: steps,
        y: {label: "window ~w~", range: [0, roomy(1.1 * highest)]},
        label:
          `The head’s window against the steps; it is ${show(w, 3)} after ${step} steps, the ` +
          `norm of M ${show(norm(run, at), 3)}, the exact best window ${show(best.w, 3)}.`,
        lines: [
          {
            points: staircase(events, end, at => exact(at).w),
            kind: "exact",
            name: "exact best",
          },
          {points: path, kind: "softmax", name: "softmax head"},
        ],
        marks: at < run.length - 1 ? [{at: step}] : [],
      });

      losses.plot(loss, {run, at, x: steps, marks: [], known, exact: [
        {points: staircase(events, end, at => exact(at).loss), kind: "exact", name: "exact"},
      ]});

      heat(maps, {
        label: "M of the softmax head and of the linear head, each with its largest entry.",
        maps: X.bothHeads(row, d, {least: [1, 0.1 / n]}),
      });

      return {
        rows: [
          ["w", "window of the head, ~w~ = tr ~M~/~d~", w],
          ["best", "exact best window ~w~^{*}", best.w],
          ["norm", "‖~M~‖", norm(run, at)],
          ["half", "half of its weight within (degrees)", half],
          ["effective", "tokens averaged over, of this prompt", effective],
          ["loss", "loss, mean of 100 steps", losses.softmax(run, at)],
          ["lowest", "exact loss at ~w~^{*}", best.loss],
          ["linear", "loss of the linear head", losses.linear(run, at)],
        ],
        summary:
          step === 0
            ? "Before training every example has the same weight: the head answers with the mean. " +
              "Press Play."
            : `After ${step} steps the window is ~w~ = ${show(w, 3)}, the exact best ` +
              `${show(best.w, 3)}; half of the weight lies within ${show(half, 2)} degrees.`,
      };
    },
  };
})((globalThis.iclExplorers ??= {explorers: {}}));
