/**
 * Resources that are one object of the hub: one description of each kind, and the handler that all of them share. What
 * is told here once: names, ownership, drift, replacement, what is kept when a step fails, and removal.
 */
import type { z } from 'zod';
import type { KubeObject, ObjectKey, ResourceType } from '../api/resource.ts';
import { keyOf } from '../api/resource.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import type { Target } from './clients.ts';
import { hubOf } from './configuration.ts';
import { deleteOwned } from './delete-owned.ts';
import { changedInputs, fieldManager, metadataReplaces, observedMetadata, requireOwner } from './fleet-object.ts';
import type { CallContext, Props, ResourceHandler, ResourceKind } from './handler.ts';
import { isOtherCluster } from './identity.ts';
import { failuresOf, withoutNulls } from './inputs.ts';
import type { ObjectInputs } from './inputs.ts';
import { completeMetadata, isAutoName } from './names.ts';
import { applyStep, resuming } from './partial.ts';
import { isUnknown } from './unknowns.ts';

/** Which object it is, and where. */
export interface Identity {
  readonly uid: string;
  readonly hubUID: string;
}

/** What the hub is asked beside the object itself. */
type Ask = Pick<CallContext, 'signal' | 'report'>;

/** One kind: `I` its inputs, `W` what the hub answers, `T` the object. */
export interface SimpleObject<I extends ObjectInputs, W extends object, T extends KubeObject> {
  readonly kind: ResourceKind;
  readonly type: ResourceType<T>;
  readonly schema: z.ZodType;
  /** Where an object goes that names no namespace; undefined for a kind that has none. */
  readonly namespace: string | undefined;
  /** Inputs of its own, each of whose changes is an update. */
  readonly fields: readonly (keyof I & string)[];
  /** Inputs that are not given, beside `awaitReady`. */
  defaults?(news: Props): Props;
  /** What to apply. */
  object(inputs: I): T;
  /** The declared fields as they stand in the object: what others have added is not ours to report. */
  observed(declared: I, found: T): Partial<I>;
  /** Its outputs as far as the object itself tells them; `olds` are those of the last run. */
  answer(found: T | undefined, olds: W | undefined): W;
  /** The names of these outputs. */
  readonly answers: readonly (keyof W & string)[];
  /** Waits until the hub has answered, and says where it is stuck when it does not. */
  settle(client: KubeClient, applied: T, ask: Ask): Promise<T>;
  /** Adds to the answer what is not in the object. */
  complete?(client: KubeClient, found: T, answer: W, ask: Ask): Promise<W>;
  /** Whether the object has to be made right although no input has changed. */
  isStale?(olds: I & W, news: I): boolean;
  /** Outputs of a resource whose object is gone because its time was over; undefined: it is missing. */
  whenGone?(olds: I & W & Identity): (I & W & Identity) | undefined;
  /** True: the object is not to be brought back by this update. */
  isOver?(olds: I & W, news: I): boolean;
  /** Called before the object is applied; resolves with what is there then. */
  prepare?(client: KubeClient, found: T | undefined, olds: I & W, news: I, ask: Ask): Promise<T | undefined>;
  /** Called when the object has been deleted. */
  afterDelete?(client: KubeClient, olds: I & W, ask: Ask): Promise<void>;
}

const shared = ['hub', 'awaitReady', 'timeouts', 'owner'] as const;

/** Address of the object; a kind without namespaces has none in its inputs either. */
const addressOf = ({ metadata: { name, namespace } }: ObjectInputs): ObjectKey =>
  namespace === undefined ? { name } : { name, namespace };

/** The handler of a kind. */
export function simpleHandler<I extends ObjectInputs, W extends object, T extends KubeObject>(
  of: SimpleObject<I, W, T>,
): ResourceHandler<I, I & W & Identity> {
  type Outputs = I & W & Identity;

  const outputs = (inputs: I, found: T | undefined, hubUID: string, answer: W): Outputs => ({
    ...inputs,
    uid: found?.metadata.uid ?? '',
    hubUID,
    ...answer,
  });
  const complete = async (client: KubeClient, found: T, answer: W, ask: Ask): Promise<W> =>
    of.complete === undefined ? answer : of.complete(client, found, answer, ask);

  async function write(inputs: I, olds: Outputs | undefined, context: CallContext): Promise<Outputs> {
    const { signal } = context;
    const { client, uid }: Target = context.clients.get(hubOf(inputs, context.configuration));
    const hubUID = (await uid(context)) ?? '';
    const key = addressOf(inputs);
    let existing = await client.find(of.type, key, { signal });
    if (olds === undefined || existing?.metadata.uid !== olds.uid) {
      requireOwner(of.type, existing, olds === undefined ? [inputs.owner] : [inputs.owner, olds.owner]);
    }
    if (olds !== undefined && of.prepare !== undefined) {
      existing = await of.prepare(client, existing, olds, inputs, context);
    }
    const seen = (found: T | undefined): Outputs => outputs(inputs, found, hubUID, of.answer(found, olds));
    const progress = resuming(keyOf(key), seen(existing));
    const applied = await applyStep(progress, () => client.apply(of.type, of.object(inputs), { fieldManager, signal }));
    progress.outputs = seen(applied);
    const settled = inputs.awaitReady ? await applyStep(progress, () => of.settle(client, applied, context)) : applied;
    const answer = await applyStep(progress, () => complete(client, settled, of.answer(settled, olds), context));
    return outputs(inputs, settled, hubUID, answer);
  }

  return {
    kind: of.kind,

    check(olds, given) {
      const news = withoutNulls(given);
      const inputs: Props = {
        awaitReady: true,
        ...of.defaults?.(news),
        ...news,
        metadata: completeMetadata(olds, news, of.namespace),
      };
      return { inputs, failures: failuresOf(of.schema, inputs) };
    },

    async diff(_id, olds, news, context) {
      const replaces = metadataReplaces(olds.metadata, news.metadata);
      const changed = changedInputs(olds, news, [...of.fields, ...shared]);
      if (!isUnknown(news.metadata)) {
        changed.push(...changedInputs(olds.metadata, news.metadata, ['labels', 'annotations']));
      }
      if (of.isStale?.(olds, news)) changed.push('expired');
      if (await isOtherCluster(olds.hubUID, news.hub ?? context.configuration.hub, context)) replaces.push('hub');
      return {
        changes: changed.length + replaces.length > 0,
        replaces,
        deleteBeforeReplace: replaces.length > 0 && !isAutoName(news.metadata.name, news.resourceName),
      };
    },

    async create(inputs, context) {
      return { id: keyOf(addressOf(inputs)), outputs: await write(inputs, undefined, context) };
    },

    async read(_id, olds, context) {
      const { client, uid } = context.clients.get(hubOf(olds, context.configuration));
      const found = await client.find(of.type, addressOf(olds), context);
      if (found === undefined) return of.whenGone?.(olds);
      if (found.metadata.deletionTimestamp !== undefined) return undefined;
      const live: I = { ...olds, metadata: observedMetadata(olds.metadata, found), ...of.observed(olds, found) };
      const answer = await complete(client, found, of.answer(found, olds), context);
      return outputs(live, found, (await uid(context)) ?? olds.hubUID, answer);
    },

    async update(_id, olds, news, context) {
      if (of.isOver?.(olds, news)) return { ...olds, ...news };
      return write(news, olds, context);
    },

    async delete(_id, olds, context) {
      const { client } = context.clients.get(hubOf(olds, context.configuration));
      if (await deleteOwned(client, of.type, olds, context)) await of.afterDelete?.(client, olds, context);
    },

    inputsOf(outputs) {
      const own: readonly string[] = ['uid', 'hubUID', ...of.answers];
      return Object.fromEntries(Object.entries(outputs).filter(([name]) => !own.includes(name)));
    },
  };
}
