/** What the users of a source read on it: one Event for each reason, not one for each look. */
import { reasons } from '../../../api/conditions.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Progress } from './decide.ts';
import type { Registered } from './registrar.ts';
import type { Source } from './source.ts';

export interface Teller {
  /** Tells why it is not registered (yet), and that it is. What the registration says itself is not repeated. */
  progress(source: Source, progress: Progress, registered: readonly Registered[]): void;
  /** It is let go although something is still registered for it. */
  overdue(source: Source, registered: readonly Registered[]): void;
  forget(key: string): void;
}

export function createTeller(events: EventRecorder): Teller {
  /** By source: the reason that was told last. */
  const told = new Map<string, string>();

  return {
    progress(source, { stage, fault }, registered) {
      const before = told.get(source.key);
      if (stage === 'registered') {
        told.set(source.key, stage);
        // a hub that has just started finds what others registered
        if (before === undefined || before === stage) return;
        events.event(source.object, 'Normal', 'Registered', `registered as ${namesOf(registered)}`);
        return;
      }
      const reason = fault?.reason ?? stage;
      told.set(source.key, reason);
      if (before === reason || registered.length > 0 || fault === undefined) return;
      events.event(source.object, stage === 'failed' ? 'Warning' : 'Normal', fault.reason, fault.message);
    },
    overdue(source, registered) {
      const message =
        `let go before its cluster was detached: ${namesOf(registered)} is still being removed; ` +
        'its own conditions say what is left';
      events.event(source.object, 'Warning', reasons.detachOverdue, message);
    },
    forget: (key) => void told.delete(key),
  };
}

function namesOf(registered: readonly Registered[]): string {
  return registered.map(({ key }) => `Cluster ${key}`).join(', ');
}
