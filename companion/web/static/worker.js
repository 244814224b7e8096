// Shows this origin's notifications, which phones allow to a service worker alone, and leads back to the table that sent
// one. It caches nothing: a page always comes from the companion.

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { path } = event.notification.data;
  event.waitUntil(
    self.clients.matchAll({ type: "window" }).then((open) => {
      const table = open.find((client) => new URL(client.url).pathname === path);
      return table ? table.focus() : self.clients.openWindow(path);
    }),
  );
});
