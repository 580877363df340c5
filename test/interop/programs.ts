/** The programs of Fleet that the suite is given. They are built by whoever runs it; nothing here makes them. */

import { given } from './given.ts';

/** Paths as `npm run test:interop` was given them. */
export interface FleetPrograms {
  readonly controller: string;
  readonly agent: string;
  /** Fleet's own charts (`fleet`, `fleet-crd`, `fleet-agent`); without them the suite writes what they would make. */
  readonly charts: string | undefined;
}

/** Environment variables through which `tools/tasks/interop.ts` hands them to the tests. */
const variables = {
  controller: 'MUSTER_INTEROP_FLEET_CONTROLLER',
  agent: 'MUSTER_INTEROP_FLEET_AGENT',
  charts: 'MUSTER_INTEROP_FLEET_CHARTS',
} as const;

export const programs: FleetPrograms = {
  controller: given(variables.controller),
  agent: given(variables.agent),
  charts: process.env[variables.charts] || undefined,
};
