import { useEffect, useRef, type ReactElement, type ReactNode } from 'react';
import { hashOf } from '../model/route.ts';
import { plain } from '../model/text.ts';

/**
 * Shows a text from the store, shortened if it is long. The full text appears when the pointer rests on it.
 */
export function StoredText({
  text,
  none = '-',
}: {
  readonly text: string | undefined;
  readonly none?: string;
}): ReactElement {
  const shown = plain(text ?? '');
  return (
    <bdi className="said" title={shown}>
      {shown === '' ? none : shown}
    </bdi>
  );
}

/** A queue's name as a link to its view. */
export function QueueLink({ name }: { readonly name: string }): ReactElement {
  return (
    <a className="name" href={hashOf({ view: 'queue', name })}>
      <StoredText text={name} />
    </a>
  );
}

/** Shows important numbers of a view, each as a `Figure`. */
export function Figures({ children }: { readonly children: ReactNode }): ReactElement {
  return <dl className="figures">{children}</dl>;
}

export interface FigureProps {
  readonly title: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly tone?: 'hold' | 'wait' | 'danger';
}

/** Shows one important number with its title and an optional remark. */
export function Figure({ title, value, note, tone }: FigureProps): ReactElement {
  return (
    <div className="figure" data-tone={tone}>
      <dt>{title}</dt>
      <dd>
        <span className="value">{value}</span>
        {note !== undefined && <span className="note">{note}</span>}
      </dd>
    </div>
  );
}

/** Shows a notice in place of an empty list. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}): ReactElement {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

/**
 * The title of a view. It takes the focus when the view opens. So a screen reader reads the title aloud, and
 * the Tab key continues from there.
 */
export function Title({ children }: { readonly children: ReactNode }): ReactElement {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    title.current?.focus({ preventScroll: true });
    document.title = `${title.current?.textContent ?? ''} · queuelock`;
  }, []);
  return (
    <h1 tabIndex={-1} ref={title}>
      {children}
    </h1>
  );
}
