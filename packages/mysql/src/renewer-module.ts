/**
 * Returns the URL of the module that the heartbeat thread runs. The module is beside this file and has the same file extension. This file is loaded
 * lazily, because programs that are compiled to CommonJS cannot load `import.meta`.
 */
export function renewerModule(): string {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./open-renewer.${ending}`, import.meta.url).href;
}
