import { useEffect, useRef, type ReactElement, type ReactNode } from 'react';
import { hashOf } from '../model/route.ts';
import { plain } from '../model/text.ts';

/** A text that somebody wrote; in full when it is pointed at. */
export function Said({
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

/** A queue's name, which leads to it. */
export function QueueLink({ name }: { readonly name: string }): ReactElement {
  return (
    <a className="name" href={hashOf({ view: 'queue', name })}>
      <Said text={name} />
    </a>
  );
}

/** A few numbers that matter most. */
export function Figures({ children }: { readonly children: ReactNode }): ReactElement {
  return <dl className="figures">{children}</dl>;
}

/** What a figure says. */
export interface FigureProps {
  readonly title: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly tone?: 'hold' | 'wait' | 'danger';
}

/** One of them. */
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

/** What is shown where there is nothing to show. */
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

/** The title of a view, which takes the focus when the view comes, so that it is read and the next Tab begins here. */
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
