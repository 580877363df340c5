/** PriorityClass and PodDisruptionBudget of the agent, as `spec.agentSchedulingCustomization` of a Cluster asks for. */
import type { Construct } from 'constructs';
import { MusterError } from '../../api/errors.ts';
import { agentNames } from '../../api/fleet/constants.ts';
import { addObject } from '../add-object.ts';
import type { SchedulingCustomization } from './props.ts';

/** Adds what is asked for; returns the name of the priority class for the pod, if there is one. */
export function addScheduling(
  scope: Construct,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  customization: SchedulingCustomization | undefined,
): string | undefined {
  const budget = customization?.podDisruptionBudget;
  if (budget !== undefined) {
    addObject(scope, 'disruption-budget', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: agentNames.podDisruptionBudget, namespace, labels },
      spec: { selector: { matchLabels: { app: agentNames.deployment } }, ...disruptionLimit(budget) },
    });
  }
  const priority = customization?.priorityClass;
  if (priority === undefined) return undefined;
  addObject(scope, 'priority-class', {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: agentNames.priorityClass, labels },
    value: priority.value ?? 0,
    description: 'For the agent, so that it is not the first to be evicted',
    ...(priority.preemptionPolicy ? { preemptionPolicy: priority.preemptionPolicy } : {}),
  });
  return agentNames.priorityClass;
}

/**
 * `0` counts as not given when the other one is given (Fleet: agentSchedulingCustomization). Neither: no voluntary
 * disruption at all.
 */
export function disruptionLimit(budget: NonNullable<SchedulingCustomization['podDisruptionBudget']>) {
  const isSet = (text: string | undefined): text is string => text !== undefined && text !== '';
  const { minAvailable, maxUnavailable } = budget;
  const counts = (text: string | undefined): text is string => isSet(text) && text !== '0';
  if (counts(minAvailable) && counts(maxUnavailable))
    throw new MusterError('INVALID_ARGUMENT', 'minAvailable and maxUnavailable are both set', {
      where: 'agentSchedulingCustomization.podDisruptionBudget',
      hint: 'Give one of them.',
    });
  if (counts(minAvailable)) return { minAvailable: intOrPercent(minAvailable, 'minAvailable') };
  if (counts(maxUnavailable)) return { maxUnavailable: intOrPercent(maxUnavailable, 'maxUnavailable') };
  return isSet(minAvailable) && !isSet(maxUnavailable) ? { minAvailable: 0 } : { maxUnavailable: 0 };
}

function intOrPercent(text: string, field: string): number | string {
  if (/^\d+$/.test(text)) return Number(text);
  if (/^\d+%$/.test(text)) return text;
  throw new MusterError('INVALID_ARGUMENT', 'is neither a number nor a percentage', {
    where: `agentSchedulingCustomization.podDisruptionBudget.${field}`,
    hint: 'Write for example 1 or 50%.',
  });
}
