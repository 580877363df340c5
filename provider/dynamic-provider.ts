/**
 * The adapter between Pulumi's dynamic provider and the handlers. One object serves every resource type: the input
 * `kind` chooses the handler, which is loaded on first use.
 */
import type { dynamic } from '@pulumi/pulumi';
import { MusterError } from '../api/errors.ts';
import { Clients } from './clients.ts';
import { readConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { timeLimit, withDeadline } from './deadline.ts';
import type { Operation } from './deadline.ts';
import { explain } from './explain.ts';
import type { CallContext, Incomplete, Props, ResourceHandler, ResourceKind } from './handler.ts';
import { plain } from './outputs.ts';
import { currentState, schemaVersion } from './state.ts';

type Handler = ResourceHandler<object, object>;

/** Loaded on first use: a stack of Clusters never pays for the manifests of the releases. */
const handlers: Readonly<Record<ResourceKind, () => Promise<unknown>>> = {
  HubRelease: async () => (await import('./handlers/hub-release.ts')).hubRelease,
  ClusterRegistrationToken: async () =>
    (await import('./handlers/cluster-registration-token.ts')).clusterRegistrationToken,
  Cluster: async () => (await import('./handlers/cluster.ts')).cluster,
  ClusterGroup: async () => (await import('./handlers/cluster-group.ts')).clusterGroup,
  RegistrationRule: async () => (await import('./handlers/registration-rule.ts')).registrationRule,
  AgentRelease: async () => (await import('./handlers/agent-release.ts')).agentRelease,
};

/** What Pulumi's host reads from a failure: with an `id` it stores a resource that is there but not as wanted. */
interface HostError {
  readonly message: string;
  readonly stack: string;
  readonly id?: string;
  readonly properties?: object;
  readonly reasons?: readonly string[];
}

/** Options of {@link createDynamicProvider}; the defaults are what Pulumi's host gets. */
export interface DynamicProviderOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly report?: (line: string) => void;
}

/** The provider object. Every call waits for `configure`, whose result Pulumi's host does not wait for itself. */
export function createDynamicProvider(options: DynamicProviderOptions = {}): Required<dynamic.ResourceProvider> {
  const report = options.report ?? ((line: string) => console.log(line));
  const clients = new Clients();
  const configured = Promise.withResolvers<Configuration>();

  async function call<T>(
    operation: Operation,
    props: Props,
    id: string | undefined,
    body: (handler: Handler, context: CallContext) => Promise<T>,
  ): Promise<T> {
    const kind = String(props['kind']);
    try {
      const handler = await handlerOf(kind);
      const configuration = await configured.promise;
      return await withDeadline(operation, timeLimit(operation, props), (signal) =>
        body(handler, { signal, configuration, clients, report }),
      );
    } catch (error) {
      throw toHostError(error, id === undefined ? kind : `${kind} ${id}`);
    }
  }

  return {
    configure: (request) => {
      configured.resolve(readConfiguration((key) => request.config.get(key), options.env));
      return Promise.resolve();
    },
    check: async (olds: Props, news: Props) => {
      const handler = await handlerOf(String(news['kind']));
      const before = Object.keys(olds).length === 0 ? undefined : withoutProvider(olds);
      const { inputs, failures } = handler.check(before, withoutProvider(news));
      return { inputs: plain(inputs), failures: [...failures] };
    },
    diff: (id, olds: Props, news: Props) =>
      call('diff', news, id, async (handler, context) => {
        const { changes, replaces, deleteBeforeReplace } = await handler.diff(id, stored(olds), given(news), context);
        return { changes, replaces: [...replaces], deleteBeforeReplace };
      }),
    create: (inputs: Props) =>
      call('create', inputs, undefined, async (handler, context) => {
        const { id, outputs } = await handler.create(given(inputs), context);
        return { id, outs: outputsOf(outputs) };
      }),
    read: (id, props?: Props) =>
      call('read', props ?? {}, id, async (handler, context) => {
        const outputs = await handler.read(id, stored(props ?? {}), context);
        if (outputs === undefined) return { id: '', props: {} };
        return { id, props: outputsOf(outputs), inputs: plain(handler.inputsOf(outputs)) };
      }),
    update: (id, olds: Props, news: Props) =>
      call('update', news, id, async (handler, context) => ({
        outs: outputsOf(await handler.update(id, stored(olds), given(news), context)),
      })),
    delete: (id, props: Props) =>
      call('delete', props, id, (handler, context) => handler.delete(id, stored(props), context)),
  };
}

/** The provider that Pulumi's stored text loads. */
export const dynamicProvider = createDynamicProvider();

async function handlerOf(kind: string): Promise<Handler> {
  if (!Object.hasOwn(handlers, kind)) {
    throw new MusterError('UNSUPPORTED', `this pulumi-muster knows no resource ${JSON.stringify(kind)}`, {
      where: 'kind',
      hint: 'Upgrade pulumi-muster in the directory of the Pulumi program. Resources of this package cannot be imported by id.',
    });
  }
  return (await handlers[kind as ResourceKind]()) as Handler;
}

function withoutProvider(props: Props): Props {
  const { __provider: _, ...rest } = props;
  return rest;
}

const given = (props: Props): object => withoutProvider(props);
const stored = (props: Props): object => currentState(withoutProvider(props));
const outputsOf = (outputs: object): object => plain({ ...outputs, schemaVersion });

/** The host prints `stack` to the user's terminal; a user is helped by the message alone. */
function toHostError(error: unknown, where: string): Error {
  const incomplete = error instanceof Error && error.name === 'Incomplete' ? (error as Incomplete) : undefined;
  const message = incomplete === undefined ? explain(error, where) : incomplete.message;
  const fields: HostError = {
    message,
    stack: '',
    ...(incomplete === undefined
      ? {}
      : { id: incomplete.id, properties: outputsOf(incomplete.outputs), reasons: incomplete.reasons }),
  };
  return Object.assign(new Error(message), fields);
}
