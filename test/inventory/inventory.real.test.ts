import { afterAll, beforeAll } from 'vitest';
import type { InventoryWorld } from './world.ts';
import { startInventoryWorld } from './world.ts';
import { describeArgoCD } from './argocd.cases.ts';
import { describeProfiles } from './profiles.cases.ts';

/** Control planes take longer to start than all of this takes to run, so both parts share them. */
let world: InventoryWorld | undefined;
beforeAll(async () => {
  world = await startInventoryWorld();
});
afterAll(() => world?.close());

const started = (): InventoryWorld => {
  if (world === undefined) throw new Error('the control planes have not started');
  return world;
};
describeProfiles(started);
describeArgoCD(started);
