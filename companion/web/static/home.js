// Where these pages begin: at the root of the address, or at a path behind a proxy. The manifest is there.

export const home = () => document.querySelector('link[rel="manifest"]').href;
