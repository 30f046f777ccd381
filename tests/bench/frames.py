"""How smoothly the trainings run: ``make frames``, on the site that was built last.

For each training, at its first settings and full speed: frames a second (60 are the browser's
most), the longest of a hundred gaps between two frames, the share of gaps above the 33 ms of 30
frames a second, the main thread's milliseconds for a frame with the scripts' part of them, and the
steps a second that the worker takes. The browser is headless and draws without a GPU. Nothing here
is asserted: a time is not a test.
"""

import sys

from playwright.sync_api import Page

from tests.browser import chromium
from tests.built_site import SITE

NAMES = ("window", "prompts", "stages", "lowrank")
LOOKS = {"wide": (1366, 900), "phone": (390, 844)}
PLAY = """name => {
  const root = document.querySelector(`.explorer[data-explorer=train_${name}]`);
  const speed = document.getElementById(`explorer-train_${name}-speed`);
  speed.value = speed.max;
  speed.dispatchEvent(new Event('input'));
  root.querySelector('.x-panels').scrollIntoView();
  [...root.querySelectorAll('button')].find(e => e.textContent === 'Play').click();
}"""
GAPS = """async ([name, seconds]) => {
  const root = document.querySelector(`.explorer[data-explorer=train_${name}]`);
  const button = text => [...root.querySelectorAll('button')].find(e => e.textContent === text);
  const times = [], step = () => Number(root.dataset.step);
  let steps = 0, last = step();
  await new Promise(done => {
    const tick = now => {
      times.push(now);
      steps += Math.max(0, step() - last);
      last = step();
      if (button('Play')) {  // the run came to its end
        button('Start again').click();
        button('Play').click();
      }
      if (now - times[0] < 1000 * seconds) requestAnimationFrame(tick);
      else done();
    };
    requestAnimationFrame(tick);
  });
  return {gaps: times.slice(1).map((t, i) => t - times[i]), steps};
}"""
COLUMNS = ("frames/s", "gap 99 %", "late", "ms/frame", "scripts", "steps/s")


def measured(page: Page, name: str, seconds: float) -> list[str]:
    """The row of one training."""
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable")

    def spent() -> dict[str, float]:
        found = metrics.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in found}

    page.evaluate(PLAY, name)
    page.wait_for_timeout(1500)
    before = spent()
    found = page.evaluate(GAPS, [name, seconds])
    after = spent()
    gaps = sorted(found["gaps"])
    took = sum(gaps) / 1000
    task, scripts = (
        1000 * (after[what] - before[what]) / len(gaps)
        for what in ("TaskDuration", "ScriptDuration")
    )
    late = sum(gap > 1000 / 30 + 1 for gap in gaps) / len(gaps)
    return [
        f"{len(gaps) / took:.1f}",
        f"{gaps[int(0.99 * len(gaps))]:.0f} ms",
        f"{late:.1%}",
        f"{task:.1f}",
        f"{scripts:.1f}",
        f"{found['steps'] / took:.0f}",
    ]


def main(seconds: float) -> None:
    """Print a row for each training, on a wide page and on a phone."""
    head = f"{'training':<18}" + "".join(f"{column:>10}" for column in COLUMNS)
    print(f"{seconds:g} s each, after 1.5 s of training.\n{head}\n{'-' * len(head)}")
    with chromium.served(SITE) as address, chromium.opened() as browser:
        for look, (width, height) in LOOKS.items():
            for name in NAMES:
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(address + "book/explorers.html")
                page.wait_for_selector(f".explorer[data-explorer=train_{name}][data-drawn]")
                page.wait_for_timeout(1000)  # until all explorers of the page are drawn
                row = measured(page, name, seconds)
                page.close()
                cells = "".join(f"{cell:>10}" for cell in row)
                print(f"{name + ', ' + look:<18}{cells}", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 8.0)
