/** The object that the agent's Events are about: its Deployment, so that they are where people look first. */
import { agentNames, secretNames } from '../../../api/fleet/constants.ts';
import { Deployments } from '../../../api/kubernetes/workloads.ts';
import type { KubeObject } from '../../../api/resource.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Record } from './status.ts';

/**
 * Records on the Deployment `fleet-agent`, looked up at the first Event; on Secret `fleet-agent` where the agent runs
 * without one.
 */
export function createRecorder(edge: KubeClient, namespace: string, events: EventRecorder): Record {
  let target: Promise<KubeObject> | undefined;
  return (type, reason, message) => {
    target ??= findTarget(edge, namespace);
    void target.then((object) => events.event(object, type, reason, message));
  };
}

async function findTarget(edge: KubeClient, namespace: string): Promise<KubeObject> {
  const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: secretNames.agent } };
  try {
    const deployment = await edge.find(Deployments, { namespace, name: agentNames.deployment });
    return deployment === undefined ? secret : { ...deployment, apiVersion: 'apps/v1', kind: 'Deployment' };
  } catch {
    return secret; // an Event about something is better than none; the Secret's name says enough
  }
}
