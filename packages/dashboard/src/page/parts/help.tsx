import type { ReactElement } from 'react';
import { SHORTCUTS } from '../model/keys.ts';
import { Dialog } from './dialog.tsx';

const COLUMNS = [
  ['Entries', 'holders and waiters'],
  ['Hand-offs/s', 'entries that left per second, over the last ten seconds'],
  ['Held', 'time since the first entry was seen first; > if it was in the queue when the view began'],
  ['Turn', 'recent duration of a turn'],
  ['Wait', 'expected wait of a new entry'],
] as const;

/** A dialog that lists the keyboard shortcuts, and explains the columns of the list of queues. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="pairs shortcuts">
        {SHORTCUTS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <h3>Columns of the queues</h3>
      <dl className="pairs">
        {COLUMNS.map(([title, meaning]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
