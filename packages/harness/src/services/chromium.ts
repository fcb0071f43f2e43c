import { chromium, type Browser } from 'playwright-core';
import { installPackages } from './install.ts';
import { assertPrepared } from './prepared.ts';
import { findProgram, firstExecutable } from './programs.ts';
import { NotHere } from './service.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/**
 * Returns the path of a browser: the one that QUEUELOCK_CHROMIUM names, else an installed browser, else Debian's, which it installs. Rejects with
 * `NotHere` if there is none.
 */
export async function findChromium(): Promise<string> {
  const found = await present();
  if (found !== undefined) return found;
  await installPackages(['chromium']);
  const installed = await present();
  if (installed === undefined) throw new NotHere('chromium was installed and is not to be found');
  return installed;
}

/** Starts a browser without a window. It ends with the test's process. */
export async function startChromium(): Promise<Browser> {
  const executablePath = await findChromium();
  // Switches the browser's sandbox off, because Chromium refuses to run as root with it. The pages are
  // trusted, because the tests serve them.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
  return chromium.launch({ executablePath, args, headless: true });
}

async function present(): Promise<string | undefined> {
  assertPrepared('Chromium');
  const given = process.env['QUEUELOCK_CHROMIUM'];
  if (given !== undefined) return firstExecutable([given]);
  for (const name of NAMES) {
    const path = await findProgram(name);
    if (path !== undefined) return path;
  }
  return undefined;
}
