import { describe, expect, it } from 'vitest';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import type { Role } from '../../api/kubernetes/rbac.ts';
import { synthHub } from './fleet-hub.ts';
import { localBootstrap } from './local-agent.ts';
import { hubNames } from './names.ts';

const synth = (bootstrap: HubConfig['bootstrap'], agentImage = 'muster:1') =>
  synthHub({ image: 'muster:1', config: { agentImage, ...(bootstrap ? { bootstrap } : {}) } });
const inLocal = (bootstrap: HubConfig['bootstrap'], agentImage?: string) =>
  synth(bootstrap, agentImage).filter(({ metadata }) => metadata.namespace === 'cattle-fleet-local-system');

describe('what the configuration says of the hub’s own cluster', () => {
  it.each([undefined, {}, { namespace: '' }, { namespace: '-' }, { namespace: 'fleet-local', enabled: false }])(
    'given %j, then it is not registered and nothing is made for it',
    (bootstrap) => {
      expect(localBootstrap(bootstrap === undefined ? {} : { bootstrap })).toBeUndefined();
      expect(inLocal(bootstrap)).toEqual([]);
    },
  );

  it('given a namespace, then the rest has defaults', () => {
    expect(localBootstrap({ bootstrap: { namespace: 'fleet-local' } })).toEqual({
      namespace: 'fleet-local',
      agentNamespace: 'cattle-fleet-local-system',
      agentDisabled: false,
      labels: {},
    });
  });
});

describe('what the hub may do for the agent of its own cluster', () => {
  const bootstrap = { namespace: 'own-workspace' };

  it('given bootstrap, then accounts and rights are there, and the hub may write none of them', () => {
    const objects = inLocal(bootstrap);
    expect(objects.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['ServiceAccount', 'Role', 'RoleBinding']));
    const role = objects.find(({ kind, metadata }) => kind === 'Role' && metadata.name === hubNames.localAgent) as Role;
    const resources = (role.rules ?? []).flatMap((rule) => rule.resources ?? []);
    for (const right of ['serviceaccounts', 'roles', 'rolebindings', '*']) expect(resources).not.toContain(right);
  });

  it('given another workspace, then it is made and opened to the hub', () => {
    const workspace = synth(bootstrap).find(
      ({ kind, metadata }) => kind === 'Namespace' && metadata.name === 'own-workspace',
    );
    expect(workspace?.metadata.labels).toMatchObject({ 'muster.dev/workspace': 'true' });
  });

  it('given our agent, then it has next to no rights; given that of Fleet, then all', () => {
    const rules = (image: string) =>
      (
        synth(bootstrap, image).find(
          ({ kind, metadata }) =>
            kind === 'ClusterRole' && (metadata.name ?? '').startsWith('cattle-fleet-local-system'),
        ) as unknown as Role
      ).rules;
    expect(JSON.stringify(rules('muster:1'))).not.toContain('*');
    expect(JSON.stringify(rules('rancher/fleet-agent:v0.16.1'))).toContain('"verbs":["*"]');
  });
});
