/** Helm charts of what is synthesized. */
export { agentChart } from './agent-chart.ts';
export type { ChartFile } from './chart.ts';
export { crdsChart } from './crds-chart.ts';
export { hubChart } from './hub-chart.ts';
