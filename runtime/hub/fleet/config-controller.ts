/** ConfigMap fleet-controller: taken over when it changes; a bad one leaves the last good one in force, and says so. */
import { isMusterError } from '../../../api/errors.ts';
import { annotations, configKey } from '../../../api/fleet/constants.ts';
import type { HubConfig } from '../../../api/fleet/hub-config.ts';
import { parseHubConfig } from '../../../api/fleet/hub-config.ts';
import type { ConfigMap } from '../../../api/kubernetes/core.ts';
import { version } from '../../../api/version.ts';
import type { Cache } from '../../kube/cache.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Logger } from '../../kube/logger.ts';
import type { ConfigStore } from './config-store.ts';

/**
 * Follows the ConfigMap. One that was written by another version of the hub is not taken over: that version is about to
 * start (Fleet: annotation fleet.cattle.io/version). The first one is, as there is nothing else to go by.
 */
export function followConfig(cache: Cache<ConfigMap>, store: ConfigStore, events: EventRecorder, logger: Logger): void {
  let loaded = false;
  cache.subscribe(({ type, object }) => {
    if (type === 'deleted') {
      logger.warn({}, 'the configuration was deleted; the last one stays in force');
      return;
    }
    const writer = object.metadata.annotations?.[annotations.version];
    if (loaded && writer !== undefined && writer !== version) {
      events.event(object, 'Normal', 'ConfigIgnored', `written for version ${writer}; this hub is ${version}`);
      return;
    }
    const read = readConfigMap(object);
    if ('problem' in read) {
      events.event(object, 'Warning', 'ConfigInvalid', `${read.problem} The last good configuration stays in force.`);
      logger.warn({ problem: read.problem }, 'invalid configuration');
      return;
    }
    for (const warning of read.warnings) events.event(object, 'Warning', 'ConfigIncomplete', warning);
    loaded = true;
    store.set(read.config);
  });
}

/** Pure: the configuration of a ConfigMap, or what is wrong with it. */
export function readConfigMap(
  map: ConfigMap,
): { config: HubConfig; warnings: readonly string[] } | { problem: string } {
  try {
    return parseHubConfig(map.data?.[configKey]);
  } catch (error) {
    if (isMusterError(error)) return { problem: error.describe() };
    throw error;
  }
}
