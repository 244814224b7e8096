// Where these pages begin: at the root of the address, or at the path of one tenant. The manifest is there.

export const home = () => document.querySelector('link[rel="manifest"]').href;
