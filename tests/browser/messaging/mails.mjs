// Every mail as a mail program shows it, from the preview of the organisers.

/** Calls `look(page, name)` with each kind of mail in both languages, at this width. */
export async function everyMail(world, { width, height = 800 }, look) {
  const { items } = await world.admin.call("GET", "/api/admin/mail-templates");
  const tab = await world.open({ width, height });
  for (const kind of items) {
    for (const language of ["ko", "en"]) {
      const mail = await world.admin.call("GET", `/api/admin/mail-templates/${kind}?language=${language}`);
      await tab.page.setContent(mail.html);
      await look(tab.page, `${kind}-${language}`, mail);
    }
  }
  await tab.context.close();
  return items.length;
}
