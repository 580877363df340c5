/** What the controllers of rules share. */
import type { Namespace } from '../../../api/kubernetes/core.ts';
import type { RegistrationRule } from '../../../api/muster/kinds.ts';
import type { Cache } from '../../kube/cache.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { OptionalCache } from '../../kube/optional-cache.ts';
import type { Claims } from './claims.ts';
import type { Registrar } from './registrar.ts';
import type { Sources } from './sources.ts';
import type { Tally } from './tally.ts';

export interface RuleContext {
  readonly systemNamespace: string;
  readonly events: EventRecorder;
  readonly rules: OptionalCache<RegistrationRule>;
  /** Kinds of sources that may not be installed. */
  readonly optional: readonly OptionalCache[];
  /** All namespaces, by their labels; followed while there is a rule. */
  readonly namespaces: Cache<Namespace>;
  readonly sources: Sources;
  readonly registrar: Registrar;
  readonly tally: Tally;
  readonly claims: Claims;
  /** Asks for a look at a source. */
  enqueueSource(key: string): void;
  /** The numbers or reasons of a rule changed. */
  ruleChanged(rule: string): void;
}
