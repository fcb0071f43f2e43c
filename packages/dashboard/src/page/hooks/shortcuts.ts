import { useEffect } from 'react';
import { shortcutOf, type Shortcut } from '../model/keys.ts';

// Two keys count as a sequence, such as `g` `q`, if the second one is pressed within this many milliseconds.
const PAIR_MS = 1_500;

/** Calls `onShortcut` when the user presses the keys of a shortcut, anywhere on the page. */
export function useShortcuts(onShortcut: (shortcut: Shortcut) => void): void {
  useEffect(() => {
    let [before, beforeAt]: [string | undefined, number] = [undefined, 0];
    const pressed = (event: KeyboardEvent): void => {
      const { key, ctrlKey, altKey, metaKey, timeStamp } = event;
      const shortcut = shortcutOf({
        key,
        modified: ctrlKey || altKey || metaKey,
        busy: isTyping(event.target) || document.querySelector('dialog[open]') !== null,
        before: timeStamp - beforeAt < PAIR_MS ? before : undefined,
      });
      [before, beforeAt] = [key, timeStamp];
      if (!shortcut) return;
      event.preventDefault();
      onShortcut(shortcut);
    };
    addEventListener('keydown', pressed);
    return () => {
      removeEventListener('keydown', pressed);
    };
  }, [onShortcut]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, select, textarea') !== null;
}
