// For an organiser's own site: a script element with the address /embed.js of this server shows an event
// where it stands, as high as it needs to be. Data attributes: data-event (required), data-language (ko,
// en, ja, zh) and data-title. The site's origin must be in the setting embed_origins.

(() => {
  const script = document.currentScript;
  const id = script?.dataset.event;
  if (!id) return console.error("podo: the script needs data-event");
  const home = new URL(script.src).origin;
  const frame = document.createElement("iframe");
  const query = script.dataset.language ? `?language=${encodeURIComponent(script.dataset.language)}` : "";
  frame.src = `${home}/embed/events/${encodeURIComponent(id)}${query}`;
  frame.title = script.dataset.title ?? "Tickets";
  frame.loading = "lazy";
  Object.assign(frame.style, { display: "block", width: "100%", height: "220px", border: "0" });
  window.addEventListener("message", ({ origin, source, data }) => {
    const isOurs = origin === home && source === frame.contentWindow && data?.type === "podo-height";
    if (isOurs && Number.isFinite(data.height)) frame.style.height = `${Math.min(Math.max(data.height, 80), 4_000)}px`;
  });
  script.after(frame);
})();
