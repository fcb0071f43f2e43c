import type { ContenderSnapshot, ContendersAct, ContendersSnapshot } from '@queuelock/bridge/wire';
import { useBridge } from '@queuelock/react';
import type { ReactElement } from 'react';
import { useNow } from '../hooks/now.ts';
import { useTask } from '../hooks/task.ts';
import { buttonsOf, contenderText, provenOf } from '../model/contenders.ts';
import { withoutCode } from '../model/freshness.ts';
import { plain } from '../model/text.ts';

/** Props of the component that lists the processes of `queuelock demo`. */
export interface ContendersProps {
  readonly snapshot: ContendersSnapshot;
  readonly isRunning: boolean;
}

/**
 * Shows the processes of `queuelock demo`, which contend for one lock. Buttons kill, freeze or disconnect a
 * process.
 */
export function Contenders({ snapshot, isRunning }: ContendersProps): ReactElement {
  const client = useBridge();
  const { bridge: now } = useNow(250, isRunning);
  const [task, start] = useTask<undefined>();
  const { contenders, maxContenders, cut } = snapshot;
  const living = contenders.filter(({ status }) => status !== 'gone').length;
  const act = (what: ContendersAct): void => {
    start(async () => {
      await client.contend(what);
      return undefined;
    });
  };
  return (
    <section className="sheet contenders" aria-labelledby="contenders-title">
      <header className="sheet-head">
        <h2 id="contenders-title">
          {living} of at most {maxContenders} processes
        </h2>
        <button
          type="button"
          className="primary"
          disabled={living >= maxContenders}
          onClick={() => {
            act({ act: 'add' });
          }}
        >
          Add a contender
        </button>
      </header>
      <p className="failure" role="status">
        {task.status === 'failed' && plain(withoutCode(task.message))}
      </p>
      <ul>
        {contenders.map((contender) => (
          <Contender
            key={contender.id}
            contender={contender}
            snapshot={snapshot}
            now={isRunning ? now : undefined}
            onAct={(what) => {
              act({ act: what, id: contender.id });
            }}
          />
        ))}
      </ul>
      <p className="foot">Freeze stops a process (SIGSTOP), kill ends it (SIGKILL). {plain(cut)}</p>
    </section>
  );
}

interface ContenderProps {
  readonly contender: ContenderSnapshot;
  readonly snapshot: ContendersSnapshot;
  /** Current time by the bridge's clock; `undefined` if the shown data is outdated. */
  readonly now: number | undefined;
  readonly onAct: (act: Exclude<ContendersAct['act'], 'add'>) => void;
}

function Contender({ contender, snapshot, now, onAct }: ContenderProps): ReactElement {
  const { id, pid, status, isFrozen, isCut } = contender;
  const proven = now === undefined ? undefined : provenOf(contender, snapshot, now);
  const name = plain(id);
  return (
    <li data-status={status} data-disturbed={isFrozen || isCut}>
      <div className="who">
        <p>
          <strong>{name}</strong> {plain(contenderText(contender))}
        </p>
        <p className="note">
          process {pid}
          {isFrozen && <span className="tag">frozen</span>}
          {isCut && <span className="tag">cut off</span>}
          {proven && <span> {proven.text}</span>}
        </p>
      </div>
      <span className="track" aria-hidden="true">
        <span className="fill" style={{ transform: `scaleX(${proven?.part ?? 0})` }} />
      </span>
      <div className="acts" role="group" aria-label={`Actions on ${name}`}>
        {buttonsOf(contender, snapshot).map(({ act, title, isOff }) => (
          <button
            key={BUTTON_OF[act]}
            type="button"
            className={act === 'kill' ? 'danger quiet' : ''}
            aria-label={`${title} ${name}`}
            disabled={isOff}
            onClick={() => {
              onAct(act);
            }}
          >
            {title}
          </button>
        ))}
      </div>
    </li>
  );
}

// The name of the button that starts an action. An action and its reversal, such as freeze and thaw, share
// one button, so the button keeps the focus.
const BUTTON_OF = {
  release: 'release',
  freeze: 'freeze',
  thaw: 'freeze',
  cut: 'cut',
  mend: 'cut',
  kill: 'kill',
} as const;
