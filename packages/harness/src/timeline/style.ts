// Eight colours that are distinct on white and on near-black, also for colour-blind readers (after Okabe and Ito, 2008).
const TONES = ['#0072b2', '#d98e04', '#009e73', '#b5659a', '#2b9fd9', '#8a7400', '#7a68c9', '#7f7f7f'];

/** Returns the colour of the `index`-th queue, in the order in which they were first seen. */
export function toneOf(index: number): string {
  return TONES[index % TONES.length] ?? '#7f7f7f';
}

export const STYLE = `
svg { --paper: #ffffff; --ink: #1f2328; --faint: #6e7781; --rule: #d0d7de; --band: #f6f8fa; --fault: #e36209; --wrong: #cf222e; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --rule: #30363d; --band: #161b22; --fault: #f0883e; --wrong: #ff6b6b; }
}
text { font: 11px ui-sans-serif, system-ui, 'DejaVu Sans', sans-serif; fill: var(--ink); }
.title { font-size: 16px; font-weight: 600; }
.faint { fill: var(--faint); }
.lane { font-weight: 600; }
.token { fill: #ffffff; font-size: 9px; }
.paper { fill: var(--paper); }
.stripe { fill: var(--band); }
.grid { stroke: var(--rule); stroke-width: 1; }
.fault { fill: var(--fault); fill-opacity: 0.16; }
.faultedge { stroke: var(--fault); stroke-width: 1; stroke-dasharray: 3 3; }
.faultname { fill: var(--fault); font-weight: 600; }
.still { fill: var(--faint); fill-opacity: 0.28; }
.gone { fill: var(--paper); fill-opacity: 0.6; }
.mark { stroke: var(--ink); stroke-width: 2; fill: none; }
.proof { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 1 2; }
.wrong { stroke: var(--wrong); stroke-width: 1.5; }
.wrongbar { stroke: var(--wrong); stroke-width: 2.5; }
.wrongname { fill: var(--wrong); font-weight: 600; }
`;
