// What a visit costs: compressed bytes, the first paint, and how far things moved by themselves.

/** Runs in the page, after it has loaded. */
async function measured() {
  const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const sum = (list) => list.reduce((total, { encodedBodySize }) => total + encodedBodySize, 0);
  const isPicture = ({ name }) => new URL(name).pathname.startsWith("/media/");
  const shifts = [];
  await new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries()) {
        if (!hadRecentInput) shifts.push([value, sources.map(({ node }) => node?.className || node?.nodeName).join(" ")]);
      }
    }).observe({ type: "layout-shift", buffered: true });
    setTimeout(resolve, 300);
  });
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return {
    bytes: sum(entries.filter((it) => !isPicture(it))),
    pictures: sum(entries.filter(isPicture)),
    shift: shifts.reduce((total, [value]) => total + value, 0),
    moved: shifts.map(([value, what]) => `${value.toFixed(4)} ${what}`).join("; "),
    paintMs: paint?.startTime ?? 0,
  };
}

/** Measures the page and prints its figures. */
export async function figures(page, name) {
  // A page with a stream is never idle.
  await page.waitForLoadState("networkidle", { timeout: 1_500 }).catch(() => null);
  const found = await page.evaluate(measured);
  const { bytes, pictures, shift, paintMs } = found;
  const kilobytes = (n) => (n / 1024).toFixed(0);
  console.log(`# ${name} at ${page.viewportSize().width} px: ${kilobytes(bytes)} kB and ${kilobytes(pictures)} kB of pictures, first paint ${paintMs.toFixed(0)} ms, layout shift ${shift.toFixed(4)}`);
  return found;
}
