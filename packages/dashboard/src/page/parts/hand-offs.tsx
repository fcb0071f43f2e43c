import { useEffect, useRef, useState, type ReactElement } from 'react';
import { handOffText } from '../model/hold.ts';
import { plain } from '../model/text.ts';

// Minimum interval between two announcements in milliseconds, so that a screen reader can read each sentence.
const PACE_MS = 4_000;

/**
 * Announces each new holder of the lock to screen readers. After several changes within 4 s it announces only
 * the latest holder.
 */
export function HandOffs({ owners }: { readonly owners: readonly string[] }): ReactElement {
  const [words, setWords] = useState('');
  const announced = useRef(owners);
  const announcedAt = useRef(0);
  const now = JSON.stringify(owners);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        const holders = JSON.parse(now) as readonly string[];
        const next = handOffText(announced.current, holders);
        announced.current = holders;
        if (next === undefined) return;
        announcedAt.current = performance.now();
        setWords(plain(next));
      },
      Math.max(0, announcedAt.current + PACE_MS - performance.now()),
    );
    return () => {
      clearTimeout(timer);
    };
  }, [now]);
  return (
    <p className="unseen" role="status" aria-label="Hand-offs">
      {words}
    </p>
  );
}
