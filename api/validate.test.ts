import { describe, expect, it } from 'vitest';
import { clusterDescriptor } from './fleet/cluster.ts';
import { bundleDescriptor } from './fleet/bundle.ts';
import { clusterRegistrationTokenDescriptor } from './fleet/cluster-registration-token.ts';
import { gitRepoDescriptor } from './fleet/git-repo.ts';
import { formatPath, validate, violations } from './validate.ts';

describe('violations', () => {
  it('given many mistakes, when a Cluster is checked, then each is told by its path', () => {
    const value = {
      spec: {
        paused: 'x',
        redeployAgentGeneration: 1.5,
        agentEnvVars: [{}],
        agentTolerations: {},
        agentResources: { limits: { 'example.com/gpu': 'some', cpu: true } },
        templateValues: 'x',
      },
      status: { agent: { lastSeen: 'yesterday' } },
    };
    expect(violations(clusterDescriptor.schema, value)).toEqual([
      { path: 'spec.paused', message: 'must be true or false' },
      { path: 'spec.redeployAgentGeneration', message: 'must be a whole number' },
      { path: 'spec.agentEnvVars[0].name', message: 'must be a text, and is missing' },
      { path: 'spec.agentTolerations', message: 'must be a list' },
      {
        path: 'spec.agentResources.limits["example.com/gpu"]',
        message: 'must be a quantity such as 500m or 128Mi',
      },
      { path: 'spec.agentResources.limits.cpu', message: 'must be a whole number or a text' },
      { path: 'spec.templateValues', message: 'must be an object' },
      { path: 'status.agent.lastSeen', message: 'must be a time such as 2026-01-31T12:00:00Z' },
    ]);
  });

  it.each([
    ['1d', false],
    ['', false],
    ['-1h', false],
    ['2562048h', false],
    [`${'1h'.repeat(17)}`, false],
    ['12h', true],
    ['0', true],
    ['1h30m', true],
    [null, true],
  ])('given the ttl %j, when a token is checked, then the answer is %s', (ttl, valid) => {
    expect(violations(clusterRegistrationTokenDescriptor.schema, { spec: { ttl } }).length === 0).toBe(valid);
  });

  it('given bundles and repositories, when they are checked, then enums, patterns and required fields count', () => {
    expect(
      violations(bundleDescriptor.schema, {
        spec: { targetCustomizationMode: 'Some', helm: { releaseName: 'Not_Valid' }, rolloutStrategy: { maxNew: 'x' } },
      }),
    ).toEqual([
      { path: 'spec.helm.releaseName', message: 'must be a helm release name' },
      { path: 'spec.rolloutStrategy.maxNew', message: 'must be a whole number' },
      { path: 'spec.targetCustomizationMode', message: 'must be one of "FirstMatch", "AllMatches"' },
    ]);
    expect(violations(gitRepoDescriptor.schema, { spec: {} })).toEqual([
      { path: 'spec.repo', message: 'must be a text, and is missing' },
    ]);
    expect(violations(gitRepoDescriptor.schema, { spec: { repo: '', caBundle: '?' } })).toEqual([
      { path: 'spec.repo', message: 'must have at least 1 character' },
      { path: 'spec.caBundle', message: 'must be base64' },
    ]);
  });
});

describe('validate', () => {
  it('given a valid value with unknown fields, when it is checked, then the very same value comes back', () => {
    const value = { spec: { clientID: 'x', fromTheFuture: 1 } };
    expect(validate(clusterDescriptor.schema, value, 'Cluster x')).toBe(value);
  });

  it('given a mistake in a secret value, when it is checked, then the error names the path and not the value', () => {
    expect(() => validate(clusterDescriptor.schema, { spec: { clientID: 12345 } }, 'Cluster a/b')).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        where: 'Cluster a/b',
        message: 'spec.clientID: must be a text',
      }),
    );
    expect(() => validate(clusterDescriptor.schema, 's3cr3t', 'Cluster a/b')).toThrow(/^must be an object$/);
  });

  it('when paths are written, then they read like code', () => {
    expect(formatPath(['a', 0, 'b-c', 'd/e'])).toBe('a[0].b-c["d/e"]');
    expect(formatPath([])).toBe('');
  });
});
