/** The Event kind and how one is filled in. */
import { randomBytes } from 'node:crypto';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { redactTokens } from './logger.ts';
import { microTime } from './micro-time.ts';

/** `events.k8s.io/v1`: only the fields that are written. */
export interface KubeEvent extends KubeObject {
  eventTime: string;
  reportingController: string;
  reportingInstance: string;
  action: string;
  reason: string;
  note: string;
  type: 'Normal' | 'Warning';
  regarding: {
    apiVersion: string;
    kind: string;
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
  };
  series?: { count: number; lastObservedTime: string };
}

export const Events: ResourceType<KubeEvent> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

/** Longest `note` that the API takes, in bytes; shortened well before, because bytes are not characters. */
const longestNote = 1024;

/** An event about `object`, in its namespace (`default` for cluster-scoped ones), named as client-go names them. */
export function eventObject(
  object: KubeObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  source: { readonly component: string; readonly instance?: string },
): KubeEvent {
  const { name = '', namespace, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // An object's name may be as long as an event's, which carries a suffix.
    metadata: { name: `${name.slice(0, 230)}.${randomBytes(8).toString('hex')}`, namespace: namespace ?? 'default' },
    eventTime: microTime(),
    reportingController: source.component,
    reportingInstance: (source.instance ?? source.component).slice(0, 128),
    action: 'Reconcile',
    reason,
    note: shortened(redactTokens(message)),
    type,
    regarding: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}

function shortened(text: string): string {
  if (Buffer.byteLength(text) < longestNote) return text;
  return `${Buffer.from(text)
    .subarray(0, 1000)
    .toString('utf8')
    .replace(/\uFFFD$/, '')}…`;
}
