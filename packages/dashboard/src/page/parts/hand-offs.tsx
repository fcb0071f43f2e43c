import { useEffect, useRef, useState, type ReactElement } from 'react';
import { handOffWords } from '../model/hold.ts';
import { plain } from '../model/text.ts';

// Interval in which a screen reader can read one sentence.
const PACE_MS = 4_000;

/** Announces the holder to screen readers. After quick changes it announces only the latest. */
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
