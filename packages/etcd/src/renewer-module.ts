/**
 * Returns the URL of the module that the heartbeat thread loads. That module is beside this file and has the same file extension, in the built
 * package and in the sources. This file is loaded lazily: programs that are compiled to CommonJS cannot load `import.meta`.
 */
export function renewerModule(): string {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./open-renewer.${ending}`, import.meta.url).href;
}
