import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import { childEnvironment } from '../config/child-environment.ts';

/** Opens an address in the desktop's browser. Resolves with whether there is a desktop. */
export async function openBrowser(url: string): Promise<boolean> {
  const isMac = platform() === 'darwin';
  // Without a display, the only browser may be a text browser, which would take over the terminal.
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
