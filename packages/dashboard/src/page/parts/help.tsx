import type { ReactElement } from 'react';
import { SHORTCUTS } from '../model/keys.ts';
import { Dialog } from './dialog.tsx';

const COLUMNS = [
  ['Entries', 'holders and waiters'],
  ['Hand-offs/s', 'entries that left in a second, over the last ten (those that gave up included)'],
  ['Held', 'how long the first entry has been seen in front; > where it was there before'],
  ['Turn', 'what a turn has taken lately'],
  ['Wait', 'what who joins now would wait, if turns go on like that'],
] as const;

/** Lists the keys, and explains the columns. */
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
