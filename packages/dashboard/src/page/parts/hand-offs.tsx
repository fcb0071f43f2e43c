import { useEffect, useRef, useState, type ReactElement } from 'react';
import { handOffWords } from '../model/hold.ts';
import { plain } from '../model/text.ts';

// Whoever listens can follow one sentence in so many milliseconds.
const PACE_MS = 4_000;

/** Tells those who cannot see the page who holds, politely: the latest change, not each of a quick succession. */
export function HandOffs({ owners }: { readonly owners: readonly string[] }): ReactElement {
  const [words, setWords] = useState('');
  const told = useRef(owners);
  const toldAt = useRef(0);
  const now = JSON.stringify(owners);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        const holders = JSON.parse(now) as readonly string[];
        const next = handOffWords(told.current, holders);
        told.current = holders;
        if (next === undefined) return;
        toldAt.current = performance.now();
        setWords(plain(next));
      },
      Math.max(0, toldAt.current + PACE_MS - performance.now()),
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
