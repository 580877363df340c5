/** The hub's configuration: the last good state of its ConfigMap, and who wants to know when it changes. */
import { isDeepStrictEqual } from 'node:util';
import type { HubConfig } from '../../../api/fleet/hub-config.ts';

export interface ConfigStore {
  readonly current: HubConfig;
  set(config: HubConfig): void;
  /** Called after a change with the new and the old configuration. */
  onChange(listener: (now: HubConfig, before: HubConfig) => void): void;
}

export function createConfigStore(initial: HubConfig): ConfigStore {
  let current = initial;
  const listeners: ((now: HubConfig, before: HubConfig) => void)[] = [];
  return {
    get current() {
      return current;
    },
    set(config) {
      if (isDeepStrictEqual(config, current)) return;
      const before = current;
      current = config;
      for (const listener of listeners) listener(config, before);
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
