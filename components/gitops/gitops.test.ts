import { App, Chart, Testing } from 'cdk8s';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import {
  Agent,
  Hub,
  RegistrationToken,
  synthAgent,
  synthCrds,
  synthHub,
  synthRegistrationToken,
} from '../fleet/index.ts';
import { argoCdAnnotations, fluxKustomizations, kustomization, orderedForArgoCd, orderForArgoCd } from './index.ts';

const everything = (): KubeObject[] => [
  ...synthCrds(),
  ...synthHub({ image: 'muster:test', config: {} }),
  ...synthRegistrationToken({ name: 't' }),
];
const waveOf = ({ metadata }: KubeObject): number => Number(metadata.annotations?.[argoCdAnnotations.wave] ?? '0');

describe('given manifests for Argo CD', () => {
  test('waves rise in the order in which the manifests are applied', () => {
    const waves = orderedForArgoCd(everything()).map(waveOf);
    expect(waves).toEqual([...waves].sort((a, b) => a - b));
    expect([...new Set(waves)]).toEqual([-3, -2, -1, 0, 1]);
  });

  test('what needs an option has it', () => {
    const ordered = orderedForArgoCd(everything());
    const options = (kind: string) =>
      ordered.find((object) => object.kind === kind)?.metadata.annotations?.[argoCdAnnotations.options];
    expect(options('CustomResourceDefinition')).toBe('Delete=false,Prune=false,ServerSideApply=true');
    expect(options('ClusterRegistrationToken')).toBe('SkipDryRunOnMissingResource=true');
    expect(options('Deployment')).toBeUndefined();
  });

  test('nothing but annotations changes, and those of the user stay', () => {
    const token = synthRegistrationToken({ name: 't', annotations: { [argoCdAnnotations.wave]: '7', note: 'x' } });
    expect(orderedForArgoCd(token)).toMatchObject([
      { metadata: { annotations: { [argoCdAnnotations.wave]: '7', note: 'x' } } },
    ]);
    const without = orderedForArgoCd(everything()).map((object) => withoutOrder(object));
    expect(without).toEqual(everything().map((object) => withoutOrder(object)));
  });

  test('a chart of the user gets the same', () => {
    const chart = new Chart(new App(), 'chart');
    new Hub(chart, 'hub', { image: 'muster:test', config: {} });
    new RegistrationToken(chart, 'token', { name: 't' });
    orderForArgoCd(chart);
    const key = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
    const wanted = new Map(
      orderedForArgoCd(everything()).map((object) => [key(object), object.metadata.annotations ?? {}]),
    );
    for (const object of Testing.synth(chart) as KubeObject[])
      expect(object.metadata.annotations ?? {}, key(object)).toEqual(wanted.get(key(object)));
  });
});

function withoutOrder({ metadata: { annotations, ...metadata }, ...rest }: KubeObject): unknown {
  const others = Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith('argocd.argoproj.io/'));
  return { ...rest, metadata: { ...metadata, annotations: Object.fromEntries(others) } };
}

describe('given folders for Flux', () => {
  test('each waits for those that it needs', () => {
    const objects = fluxKustomizations({ folders: ['registrations', 'hub', 'crds'], path: 'clusters/hub/' });
    expect(objects).toMatchSnapshot();
    expect(objects).toMatchObject([
      { metadata: { name: 'muster-crds' }, spec: { prune: false, wait: true, path: './clusters/hub/crds' } },
      { metadata: { name: 'muster-hub' }, spec: { dependsOn: [{ name: 'muster-crds' }], prune: true, wait: true } },
      {
        metadata: { name: 'muster-registrations' },
        spec: { dependsOn: [{ name: 'muster-crds' }, { name: 'muster-hub' }], wait: false },
      },
    ]);
  });

  test('none waits for a folder that is not there', () => {
    const [registrations] = fluxKustomizations({
      folders: ['registrations'],
      path: '',
      source: 'fleet',
      namespace: 'gitops',
    });
    expect(registrations).toMatchObject({
      metadata: { namespace: 'gitops' },
      spec: { path: './registrations', sourceRef: { name: 'fleet' } },
    });
    expect(registrations).not.toHaveProperty('spec.dependsOn');
  });
});

describe('given a kustomization', () => {
  const start = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n';

  test('when there is none, then it lists the files, sorted', () => {
    expect(kustomization(undefined, { add: ['hub.yaml', 'crds.yaml'] }, 'x')).toBe(
      `${start}resources:\n  - crds.yaml\n  - hub.yaml\n`,
    );
  });

  test('when all files are listed, then not a byte changes', () => {
    const mine = `# mine\n${start}resources: [ hub.yaml,   crds.yaml ]\n`;
    expect(kustomization(mine, { add: ['crds.yaml'], drop: ['other.yaml'] }, 'x')).toBe(mine);
  });

  test('when a file is new, then everything of the user stays', () => {
    const mine = `# mine\n${start}namePrefix: a-\nresources:\n  - other.yaml # mine, too\n  - agent.yaml\n`;
    expect(kustomization(mine, { add: ['b.yaml', 'a.yaml'], drop: ['agent.yaml'] }, 'x')).toBe(
      `# mine\n${start}namePrefix: a-\nresources:\n  - other.yaml # mine, too\n  - a.yaml\n  - b.yaml\n`,
    );
  });

  test('when definitions and hub come later, then they are before what needs them', () => {
    const clusters = kustomization(undefined, { add: ['cluster-a.yaml'] }, 'x');
    const hub = kustomization(clusters, { add: ['hub.yaml'] }, 'x');
    expect(kustomization(hub, { add: ['crds.yaml'] }, 'x')).toBe(
      `${start}resources:\n  - crds.yaml\n  - hub.yaml\n  - cluster-a.yaml\n`,
    );
  });

  test.each(['[', 'resources: hub.yaml\n', '- a\n- b\n', 'text'])('when it is %j, then that is refused', (text) => {
    expect(() => kustomization(text, { add: ['hub.yaml'] }, 'DIR/Kustomization')).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', where: 'DIR/Kustomization' }) as Error,
    );
  });
});

test('given an agent, when it is ordered, then its Deployment is last', () => {
  const isLast = (object: KubeObject): boolean => waveOf(object) === 0;
  const ordered = orderedForArgoCd(synthAgent({ image: 'muster:test' }));
  expect(ordered.filter(isLast).map(({ kind }) => kind)).toEqual(['Deployment']);
  expect(ordered.filter((object) => !isLast(object)).every((object) => waveOf(object) < 0)).toBe(true);
  const chart = new Chart(new App(), 'chart');
  new Agent(chart, 'agent', { image: 'muster:test' });
  orderForArgoCd(chart);
  orderForArgoCd(chart);
  expect((Testing.synth(chart) as KubeObject[]).every((object) => waveOf(object) <= 0)).toBe(true);
});
