import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import { childEnvironment } from '../config/child-environment.ts';

/** Asks the desktop to show an address; answers whether there was something to ask. */
export async function openBrowser(url: string): Promise<boolean> {
  const isMac = platform() === 'darwin';
  // A browser in the terminal, which is what there may be without a display, would take it over.
  if (!isMac && !process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) return false;
  const opener = isMac ? 'open' : 'xdg-open';
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true, env: childEnvironment() });
  child.unref();
  return new Promise((resolve) => {
    child.once('spawn', () => {
      resolve(true);
    });
    child.once('error', () => {
      resolve(false);
    });
  });
}
