// The poster of an event: its picture in the size that the page needs, else a generated one.

import { get } from "../../shared/app/api.js";
import { el } from "../../shared/ui/dom.js";
import { art } from "./art.js";

/** How wide each kind is shown, so that browsers load the smallest sufficient file. */
const SIZES = {
  tall: "200px",
  wide: "(max-width: 640px) 100vw, 640px",
  art: "(max-width: 720px) 50vw, 270px",
  ranked: "(max-width: 720px) 50vw, 210px",
  "hero-art": "240px",
  full: "(max-width: 640px) 100vw, 640px",
};

/**
 * `event` has a title, a genre and perhaps a poster. The title stands beside every poster, so the
 * picture itself is decorative there, unless `alt` says otherwise.
 */
export function poster(event, className = "poster", { alt = "", isFirst = false } = {}) {
  if (!event.poster) return art(event, className);
  return picture(event.poster, { className, alt, isFirst, sizes: SIZES[className.split(" ").at(-1)] ?? "64px" });
}

/** A picture with its size, so that nothing moves when it arrives. */
export function picture(image, { className, alt = image.alt, sizes, isFirst = false }) {
  return el("img", {
    class: className,
    // Before the sources, or browsers begin to load what they don't need.
    loading: isFirst ? "eager" : "lazy",
    fetchpriority: isFirst ? "high" : null,
    decoding: "async",
    sizes,
    srcset: image.srcset,
    src: image.url,
    width: image.width,
    height: image.height,
    alt,
  });
}

const known = new Map();

function load(eventId) {
  if (!known.has(eventId)) known.set(eventId, get(`/api/events/${eventId}`, { isPublic: true }).catch(() => null));
  return known.get(eventId);
}

/** The poster of a date: a box at once, the poster when its event is known. */
export function posterOfDate({ eventId, scheduleId, eventTitle }, className = "poster") {
  const box = el("span", { class: `${className} poster-box`, "aria-hidden": "true" });
  const find = async () => eventId ?? (await get(`/api/schedules/${scheduleId}`, { isPublic: true })).eventId;
  find().then(load).catch(() => null).then((event) =>
    box.replaceWith(poster(event ?? { title: eventTitle ?? "" }, className)));
  return box;
}
