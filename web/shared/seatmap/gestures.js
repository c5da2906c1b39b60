// Touch, mouse and wheel: drag to move, pinch or wheel to zoom, tap to select.

/** A press that moves further than this is a drag. */
const STILL_PX = 4;

export function listen(map, { onMove, onZoom, onTap, onHover }) {
  const down = new Map();
  let moved = 0;
  let pinched = 0;
  const at = (event) => {
    const box = map.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  map.addEventListener("wheel", (event) => {
    event.preventDefault();
    onZoom(...at(event), Math.exp(-event.deltaY * 0.0016));
  }, { passive: false });

  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    if (down.size === 1) moved = 0;
    pinched = 0;
  });

  map.addEventListener("pointermove", (event) => {
    const from = down.get(event.pointerId);
    const here = at(event);
    if (!from) return onHover(...here);
    down.set(event.pointerId, here);
    if (down.size === 2) return pinch(event.pointerId, here);
    const [dx, dy] = [here[0] - from[0], here[1] - from[1]];
    moved += Math.abs(dx) + Math.abs(dy);
    if (STILL_PX < moved) onMove(dx, dy);
  });

  function pinch(id, here) {
    const other = [...down].find(([otherId]) => otherId !== id)[1];
    const distance = Math.hypot(here[0] - other[0], here[1] - other[1]);
    if (pinched) onZoom((here[0] + other[0]) / 2, (here[1] + other[1]) / 2, distance / pinched);
    pinched = distance;
    moved = Infinity;
  }

  const up = (event) => {
    const wasDown = down.delete(event.pointerId);
    if (wasDown && moved <= STILL_PX && event.type === "pointerup") onTap(...at(event));
  };
  map.addEventListener("pointerup", up);
  map.addEventListener("pointercancel", up);
  map.addEventListener("pointerleave", () => onHover(-1e6, -1e6));
}
