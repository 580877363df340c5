/** How a protocol registers what rules want. One per protocol; rules and sources know nothing else of it. */
import type { LossPolicy, Registration } from './registration.ts';
import type { Fault } from './source.ts';

/** A registration that a rule made, as it is now. */
export interface Registered {
  /** `namespace/name`. */
  readonly key: string;
  readonly rule: string;
  /** Key and UID of the source that it was made for. */
  readonly source: string;
  readonly uid: string;
  /** What the rule said last of the source's end. */
  readonly loss: LossPolicy;
  /** When its source was found gone, in milliseconds, while a delay runs. */
  readonly lostAtMs?: number;
  /** Paused because its source is. */
  readonly paused: boolean;
  readonly stage: 'pending' | 'registered' | 'failed' | 'detaching';
  /** While it is being detached: nothing of it is left on the cluster, so that the source is needed no more. */
  readonly cleared?: boolean;
  /** Why it is not registered: of a stage that failed, or that is being waited for. */
  readonly fault?: Fault;
}

/** Someone's registration of a wanted name. */
export interface Holder {
  /** Source that it was made for; absent when no rule made it. */
  readonly source?: string;
}

export interface RegistrarChange {
  /** Sources, by key, whose registrations changed. */
  readonly sources: readonly string[];
  /** The registration, `namespace/name`. */
  readonly key: string;
  /** It is no more: its name is free. */
  readonly gone: boolean;
  readonly initial: boolean;
}

export interface Registrar {
  readonly protocol: string;
  /** Registrations made for a source: usually none or one, two while one replaces the other. */
  of(source: string): Registered[];
  /** Keys of all sources that something is registered for. */
  sources(): string[];
  /** Who has the name. */
  holder(key: string): Holder | undefined;
  /** Makes it, or brings it into shape; no write when it is. Throws {@link NameTaken} when it is someone else's. */
  ensure(wanted: Registration, signal: AbortSignal): Promise<void>;
  pause(registered: Registered, paused: boolean, signal: AbortSignal): Promise<void>;
  /** Notes since when its source is gone; `undefined`: it is back. */
  lose(registered: Registered, atMs: number | undefined, signal: AbortSignal): Promise<void>;
  /** Starts the detachment; `watch` tells the end. */
  remove(registered: Registered, signal: AbortSignal): Promise<void>;
  /** Makes it a registration of its users. */
  keep(registered: Registered, signal: AbortSignal): Promise<void>;
  watch(handler: (change: RegistrarChange) => void): void;
  whenSynced(signal: AbortSignal): Promise<void>;
}

/** The name belongs to a registration that is not this source's. */
export class NameTaken extends Error {
  /** `namespace/name`. */
  readonly key: string;
  readonly holder: Holder;

  constructor(key: string, holder: Holder) {
    super(`${key} is taken`);
    this.name = 'NameTaken';
    this.key = key;
    this.holder = holder;
  }
}
