/**
 * The manifests of examples/gitops-kubectl in any order: what fails for now is applied again, as people and GitOps tools
 * do, and the end is always the same: every object is there as it was written, and both clusters are Ready.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isTrue } from '../../api/conditions.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { Namespaces, Pods, Secrets } from '../../api/kubernetes/core.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeObject, ObjectKey } from '../../api/resource.ts';
import { resourceTypeOf } from '../../components/fleet/index.ts';
import { toYaml } from '../../components/yaml.ts';
import { isApiError } from '../../runtime/kube/api-error.ts';
import { covers } from '../../runtime/kube/apply.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { poll } from '../harness/index.ts';
import type { LocalCluster } from '../harness/index.ts';
import { addSettings, onThisMachine } from './machine.ts';
import { createRepository, readmeOf } from './repository.ts';
import type { Repository } from './repository.ts';
import { shellBlocks } from './shell.ts';
import { openShell, startCluster } from './stage.ts';

const [write = ''] = shellBlocks(readmeOf('gitops-kubectl'));
const workspace = 'fleet-default';

/** One thing to apply, and where. */
interface Piece {
  readonly context: 'hub' | 'store-17';
  readonly object: KubeObject;
}

interface Round {
  readonly repository: Repository;
  readonly clients: Readonly<Record<Piece['context'], KubeClient>>;
}

/** Applies all pieces once; true when none failed. */
type Way = (pieces: readonly Piece[], round: Round) => Promise<boolean>;

const kubectl: Way = async (pieces, { repository }) => {
  const done = await Promise.all(
    (['hub', 'store-17'] as const).map(async (context) => {
      const objects = pieces.filter((piece) => piece.context === context).map(({ object }) => object);
      const file = repository.path(`${context}.any-order.yaml`);
      writeFileSync(file, toYaml(objects));
      return (await repository.attempt(`kubectl --context ${context} apply --server-side -f ${file}`)).code === 0;
    }),
  );
  return done.every(Boolean);
};

const oneByOne: Way = async (pieces, { clients }) => {
  let complete = true;
  for (const { context, object } of pieces) {
    try {
      await clients[context].apply(resourceTypeOf(object), object, { fieldManager: 'gitops' });
    } catch (error) {
      if (!isApiError(error)) throw error;
      complete = false;
    }
  }
  return complete;
};

interface Case {
  readonly order: string;
  readonly sort: (pieces: readonly Piece[]) => Piece[];
  readonly way: string;
  readonly apply: Way;
}
const cases: Case[] = [
  { order: 'the opposite of ours', sort: (pieces) => pieces.toReversed(), way: 'one by one', apply: oneByOne },
  { order: 'another each time (seed 1)', sort: shuffled(1), way: 'by kubectl', apply: kubectl },
];

let edge: LocalCluster;
let edgeAdmin: KubeClient;

beforeAll(async () => {
  edge = await startCluster({ name: 'any-order-edge', node: false });
  edgeAdmin = edge.plane.client();
}, 240_000);
afterAll(async () => {
  await edgeAdmin?.close();
  await edge?.close();
});

describe.each(cases.map((each, index) => ({ ...each, index })))(
  'manifests in an order that is $order, $way',
  ({ sort, apply, index }) => {
    let hub: LocalCluster;
    let hubAdmin: KubeClient;
    let round: Round;
    let pieces: Piece[];
    const namespaces = { east: `east-${index}`, store: `store-${index}` };

    beforeAll(async () => {
      hub = await startCluster({ name: `any-order-${index}`, node: false });
      hubAdmin = hub.plane.client();
      const shell = await openShell({ hub: hub.plane, east: edge.plane, 'store-17': edge.plane });
      const repository = await createRepository(shell.env, { name: 'gitops-kubectl', files: ['settings'] });
      addMachine(repository, hub, namespaces);
      await repository.run(write);
      round = { repository, clients: { hub: hubAdmin, 'store-17': edgeAdmin } };
      const written = (context: Piece['context'], file: string): Piece[] =>
        parseAllDocuments(readFileSync(repository.path(`${context}/${file}`), 'utf8')).map((document) => ({
          context,
          object: document.toJS() as KubeObject,
        }));
      pieces = [
        ...['crds', 'hub', 'token-stores', 'cluster-east', 'cluster-store-17'].flatMap((file) =>
          written('hub', `${file}.yaml`),
        ),
        ...written('store-17', 'agent.yaml'),
        { context: 'hub', object: kubeconfigSecret(edge.plane.kubeconfig) },
      ];
    }, 240_000);
    afterAll(async () => {
      await hubAdmin?.close();
      await hub?.close();
      for (const name of Object.values(namespaces)) await edgeAdmin.delete(Namespaces, { name });
    });

    it('come to the same end', async () => {
      await poll(async () => ((await apply(sort(pieces), round)) ? true : undefined), {
        what: 'a pass without failure',
      });
      await handOver(hubAdmin, namespaces.store);

      const ready = async (): Promise<true | undefined> => {
        const { items } = await hubAdmin.list(Clusters, { namespace: workspace });
        return items.length === 2 && items.every(({ status }) => isTrue(status?.conditions, 'Ready'))
          ? true
          : undefined;
      };
      await poll(ready, { what: 'both clusters to be Ready' });

      for (const { context, object } of pieces) {
        const { name = '', namespace } = object.metadata;
        const key: ObjectKey = namespace === undefined ? { name } : { namespace, name };
        const stored = await round.clients[context].get(resourceTypeOf(object), key);
        expect(covers(stored, object), `${object.kind} ${keyOf(object)}`).toBe(true);
      }
    }, 240_000);

    it('make no pod start twice', async () => {
      const all = await Promise.all(Object.values(round.clients).map((client) => client.list(Pods)));
      const restarts = all
        .flatMap(({ items }) => items)
        .flatMap(({ metadata, status }) =>
          (status?.containerStatuses ?? []).map(({ restartCount }) => [metadata.namespace, restartCount]),
        );
      const own = ['cattle-fleet-system', ...Object.values(namespaces)];
      expect(restarts.filter(([namespace]) => own.includes(String(namespace)))).toEqual(own.map((each) => [each, 0]));
    });
  },
);

function addMachine(repository: Repository, hub: LocalCluster, namespaces: { east: string; store: string }): void {
  const pulled = { imagePullPolicy: 'Never' };
  addSettings(repository.path('settings/hub.yaml'), {
    ...pulled,
    ...onThisMachine('hub', hub.plane.server),
    config: { agentImagePullPolicy: 'Never' },
  });
  addSettings(repository.path('settings/agent.yaml'), {
    ...pulled,
    ...onThisMachine('agent', edge.plane.server),
    namespace: namespaces.store,
  });
  addSettings(repository.path('settings/east.yaml'), {
    agent: { ...onThisMachine('agent', edge.plane.server, 1000), namespace: namespaces.east },
  });
}

/** As External Secrets would make it. */
function kubeconfigSecret(kubeconfig: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'east-kubeconfig', namespace: workspace },
    ...{ data: { value: Buffer.from(kubeconfig).toString('base64') } },
  };
}

/** The values of the token, from the hub to the store. */
async function handOver(hubAdmin: KubeClient, namespace: string): Promise<void> {
  const values = await poll(
    async () => (await hubAdmin.find(Secrets, { namespace: workspace, name: 'stores' }))?.data?.['values'],
    { what: 'the values of the token' },
  );
  await edgeAdmin.apply(
    Secrets,
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'fleet-agent-bootstrap', namespace }, data: { values } },
    { fieldManager: 'gitops' },
  );
}

/** The same orders for the same seed, another one at each call (Fisher and Yates, minimal standard generator). */
function shuffled(seed: number): (pieces: readonly Piece[]) => Piece[] {
  let state = seed * 7_919;
  const below = (limit: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
  return (pieces) => {
    const result = [...pieces];
    for (let last = result.length - 1; last > 0; last--) {
      const other = below(last + 1);
      const [a, b] = [result[last], result[other]];
      if (a !== undefined && b !== undefined) [result[last], result[other]] = [b, a];
    }
    return result;
  };
}
