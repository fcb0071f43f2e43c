import { rowsOf, type Scale } from './scale.ts';
import type { Attempt, Hold, Life, Scene, Span } from './scene.ts';
import { element, hint, text, widthOf } from './svg.ts';
import { toneOf } from './style.ts';

const ROW_PX = 15;
const BAR_PX = 11;
const PADDING_PX = 5;

/** Row of the timeline for one process: its waits, its holds and its faults. */
export interface Lane {
  readonly height: number;
  draw(top: number): string;
}

interface Stay extends Span {
  readonly isWrong: boolean;
  readonly attempt: Attempt;
  readonly hold: Hold | undefined;
  readonly tone: string;
}

/**
 * Returns the rows of all processes.
 * @param wrong names of the attempts that violate a rule, to outline in red
 */
export function lanesOf(scene: Scene, scale: Scale, wrong: ReadonlySet<string>): Lane[] {
  const stays = staysOf(scene, scale, wrong);
  return scene.lives.map((life) => {
    const own = (stays.get(life) ?? []).sort((a, b) => a.from - b.from);
    const { rows, rowOf } = rowsOf(own, ({ from, to }) => ({ from, to }));
    const height = Math.max(1, rows) * ROW_PX + 2 * PADDING_PX;
    const draw = (top: number): string =>
      [
        background(scene, { life, scale, top, height }),
        ...own.map((stay) => drawStay(stay, scale, top + PADDING_PX + (rowOf.get(stay) ?? 0) * ROW_PX)),
        end(life, scale, { top, height }),
        text(life.who, { x: 8, y: top + height / 2 + 4, class: 'lane' }, scale.left - 12),
      ].join('');
    return { height, draw };
  });
}

function staysOf(scene: Scene, scale: Scale, wrong: ReadonlySet<string>): Map<Life, Stay[]> {
  const stays = new Map<Life, Stay[]>();
  for (const [index, queue] of scene.queues.entries()) {
    const holds = new Map(queue.holds.map((hold) => [hold.attempt, hold]));
    for (const attempt of queue.attempts) {
      const stay = stayOf(scene, attempt, {
        hold: holds.get(attempt),
        tone: toneOf(index),
        isWrong: wrong.has(attempt.name),
      });
      if (!scale.shows(stay)) continue;
      const own = stays.get(attempt.life);
      if (own) own.push(stay);
      else stays.set(attempt.life, [stay]);
    }
  }
  return stays;
}

function stayOf(scene: Scene, attempt: Attempt, drawn: Pick<Stay, 'hold' | 'tone' | 'isWrong'>): Stay {
  const { hold } = drawn;
  const from = attempt.enqueue ?? attempt.queued ?? attempt.acquired ?? scene.span.from;
  const until = hold ? Math.max(hold.until, lossMark(hold) ?? 0, proofShown(hold) ?? 0) : attempt.waitedUntil;
  return { attempt, ...drawn, from, to: Math.min(until, scene.span.to) };
}

function drawStay({ attempt, hold, tone, isWrong, from, to }: Stay, scale: Scale, top: number): string {
  const middle = top + BAR_PX / 2;
  const waitEnd = scale.x(hold ? hold.from : to);
  const wait = element('line', {
    x1: scale.x(from),
    x2: waitEnd,
    y1: middle,
    y2: middle,
    stroke: tone,
    'stroke-width': 1.5,
  });
  const words = `${attempt.name} in "${attempt.queue}", token ${attempt.token ?? 'none'}: ${hold?.how ?? waitOutcome(attempt)}`;
  return element(
    'g',
    {},
    hint(words) +
      wait +
      (hold ? drawHold(hold, { tone, isWrong, scale, top }) : givenUp(attempt, scale, middle)),
  );
}

function drawHold(hold: Hold, drawn: { tone: string; isWrong: boolean; scale: Scale; top: number }): string {
  const { tone, isWrong, scale, top } = drawn;
  const outline = isWrong ? 'wrongbar' : undefined;
  const [left, right] = [scale.x(hold.from), scale.x(hold.until)];
  const width = Math.max(1.5, right - left);
  const token = String(hold.token);
  const shown = scale.shows({ from: hold.from, to: hold.until });
  const bar = shown
    ? element('rect', { x: left, y: top, width, height: BAR_PX, rx: 2, fill: tone, class: outline })
    : '';
  const fits = shown && widthOf(token) < width;
  const name = fits ? text(token, { x: left + 3, y: top + BAR_PX - 2, class: 'token' }) : '';
  return bar + name + drawLoss(hold, { right, scale, top });
}

/**
 * Draws the loss of a hold: the end of the time for which ownership was proven, and the time at which the
 * holder was notified.
 */
function drawLoss(hold: Hold, { right, scale, top }: { right: number; scale: Scale; top: number }): string {
  const [proof, notified] = [proofShown(hold), lossMark(hold)];
  const middle = top + BAR_PX / 2;
  const last = Math.max(
    right,
    ...[proof, notified].flatMap((moment) => (moment === undefined ? [] : scale.x(moment))),
  );
  const isShown = (moment: number | undefined): moment is number =>
    moment !== undefined && scale.shows({ from: moment, to: moment });
  return [
    last > right ? element('line', { x1: right, x2: last, y1: middle, y2: middle, class: 'proof' }) : '',
    isShown(proof)
      ? element('path', { d: `M${scale.x(proof).toFixed(1)} ${top - 2}v${BAR_PX + 4}`, class: 'mark' })
      : '',
    isShown(notified) ? element('circle', { cx: scale.x(notified), cy: middle, r: 3, class: 'mark' }) : '',
  ].join('');
}

function proofShown({ how, deadline }: Hold): number | undefined {
  return how !== 'released' && Number.isFinite(deadline) ? deadline : undefined;
}

function lossMark({ how, attempt }: Hold): number | undefined {
  return how === 'released' ? undefined : attempt.revoked;
}

function givenUp(attempt: Attempt, scale: Scale, middle: number): string {
  const end = attempt.cancelled ?? attempt.failed;
  if (end === undefined || !scale.shows({ from: end, to: end })) return '';
  return element('path', { d: `M${scale.x(end).toFixed(1)} ${middle - 4}v8`, class: 'faultedge' });
}

function waitOutcome({ cancelled, failed, why }: Attempt): string {
  if (cancelled !== undefined) return 'gave the wait up';
  return failed === undefined ? 'waited without an end' : `failed with ${why ?? 'an error'}`;
}

interface LaneBox {
  readonly life: Life;
  readonly scale: Scale;
  readonly top: number;
  readonly height: number;
}

/**
 * Draws the faults that affect only this process, and the times in which the process or its event loop was
 * stopped.
 */
function background(scene: Scene, { life, scale, top, height }: LaneBox): string {
  const band = (span: Span, kind: string, words: string): string => {
    if (!scale.shows(span)) return '';
    const [x, right] = [scale.x(span.from), scale.x(span.to)];
    return element('rect', { x, y: top, width: Math.max(1.5, right - x), height, class: kind }, hint(words));
  };
  return [
    ...scene.faults
      .filter(({ target }) => target === life.who)
      .map((fault) => band(fault, 'fault', fault.what)),
    ...life.frozen.map((span) => band(span, 'still', 'frozen')),
    ...life.stalled.map((span) => band(span, 'still', 'event loop blocked')),
  ].join('');
}

/** Draws the mark at the end of a killed process. */
function end({ killed }: Life, scale: Scale, { top, height }: { top: number; height: number }): string {
  if (killed === undefined || killed > scale.window.to) return '';
  const x = scale.x(killed);
  const middle = top + height / 2;
  const cross = `M${(x - 5).toFixed(1)} ${middle - 5}l10 10m0 -10l-10 10`;
  return (
    element('rect', { x, y: top, width: scale.right - x, height, class: 'gone' }) +
    element('path', { d: cross, class: 'mark' }, hint('killed'))
  );
}
