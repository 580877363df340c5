/**
 * What one resource type does, free of Pulumi: a handler is a set of plain asynchronous functions over inputs and
 * outputs. The dynamic provider is a thin adapter to it (dynamic-provider.ts); another host would be one more.
 */
import type { Clients } from './clients.ts';
import type { Configuration } from './configuration.ts';

/** Values as Pulumi moves them: JSON, and in inputs during a preview the unknown marker (unknowns.ts). */
export type Props = Record<string, unknown>;

/** The resource types, by the input `kind`. */
export type ResourceKind =
  'HubRelease' | 'ClusterRegistrationToken' | 'Cluster' | 'ClusterGroup' | 'RegistrationRule' | 'AgentRelease';

/** One thing that is wrong with the inputs. */
export interface CheckFailure {
  /** Property path such as `metadata.labels.env` or `agent.tolerations[0].key`. */
  readonly property: string;
  readonly reason: string;
}

/** What a handler may use during one call. */
export interface CallContext {
  /** Aborted when the call's deadline has passed; the reason is a MusterError TIMEOUT. */
  readonly signal: AbortSignal;
  readonly configuration: Configuration;
  /** Connections, shared by every call of this process. */
  readonly clients: Clients;
  /** One line for the person who watches the update, such as `Cluster east: waiting for the agent`. Never a secret. */
  readonly report: (line: string) => void;
}

export interface CheckResult {
  /** Inputs with defaults filled in; checking them again changes nothing. */
  readonly inputs: Props;
  readonly failures: readonly CheckFailure[];
}

export interface DiffResult {
  readonly changes: boolean;
  /** Inputs whose change needs a new resource. */
  readonly replaces: readonly string[];
  /** True when old and new would have the same name: they cannot be there side by side. */
  readonly deleteBeforeReplace: boolean;
}

/** `O` repeats every input, so that a later diff needs nothing else. */
export interface ResourceHandler<I extends object, O extends I> {
  readonly kind: ResourceKind;
  /** Checks and completes inputs; `olds` are the inputs of the last run. Never throws for what a user wrote. */
  check(olds: Props | undefined, news: Props): CheckResult;
  /** Compares the stored outputs with new inputs, which may hold unknowns. */
  diff(id: string, olds: O, news: I, context: CallContext): Promise<DiffResult>;
  /** @throws Incomplete when the object exists but is not what was asked for yet; any other error means: nothing was made. */
  create(inputs: I, context: CallContext): Promise<{ id: string; outputs: O }>;
  /** Undefined when the object is gone for certain. Any doubt (refused, unreachable) throws. */
  read(id: string, olds: O, context: CallContext): Promise<O | undefined>;
  update(id: string, olds: O, news: I, context: CallContext): Promise<O>;
  /** Done when nothing is left; an object that is already gone is no error. */
  delete(id: string, olds: O, context: CallContext): Promise<void>;
  /** The inputs that a read found, out of its outputs, in the form that `check` gives them. */
  inputsOf(outputs: O): Props;
}

/**
 * The object was made or changed, but the call did not reach its goal. Pulumi keeps the outputs in its state and the next
 * update continues from there.
 */
export class Incomplete extends Error {
  readonly id: string;
  readonly outputs: object;
  readonly reasons: readonly string[];

  constructor(id: string, outputs: object, reasons: readonly string[]) {
    super(reasons.join('; '));
    this.name = 'Incomplete';
    this.id = id;
    this.outputs = outputs;
    this.reasons = reasons;
  }
}
