import type { Page } from 'playwright-core';

/**
 * Global variables that the test defines in the page: for each holder, when it was first painted on the
 * screen, in milliseconds since 1970.
 */
interface Noting {
  paints: Map<string, number>;
}

/**
 * Begins to record when each holder is first painted on the screen. That happens in the frame after the one
 * in which the page inserted it.
 */
export async function watchPaints(tab: Page): Promise<void> {
  await tab.evaluate(`{
    const paints = (globalThis.paints = new Map());
    const look = () => {
      for (const { textContent: owner } of document.querySelectorAll('.holder .owner')) {
        if (paints.has(owner)) continue;
        paints.set(owner, undefined);
        requestAnimationFrame(() => setTimeout(() => paints.set(owner, performance.timeOrigin + performance.now())));
      }
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  }`);
}

/** Resolves with the time when this holder was first painted on the screen. */
export async function paintOf(tab: Page, owner: string): Promise<number> {
  const note = await tab.waitForFunction((name) => (globalThis as unknown as Noting).paints.get(name), owner);
  return (await note.jsonValue()) as number;
}
