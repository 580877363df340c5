import { describe, expect, it } from 'vitest';
import { createLogger, redactTokens, silentLogger } from './logger.ts';

const token = `eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(40)}.${'b'.repeat(40)}`;
const pem = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIA\n-----END EC PRIVATE KEY-----';

function lines(log: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const written: string[] = [];
  log(createLogger({ name: 'test', level: 'debug', write: (line) => written.push(line) }));
  return written;
}

describe('a logger', () => {
  it('writes one JSON object per line, with the fields of its parents', () => {
    const [line = ''] = lines((logger) =>
      logger.child({ controller: 'c' }).child({ key: 'ns/name' }).info({ n: 1 }, 'hello'),
    );
    expect(JSON.parse(line)).toMatchObject({
      level: 'info',
      name: 'test',
      controller: 'c',
      key: 'ns/name',
      n: 1,
      msg: 'hello',
    });
  });

  it.each([
    ['a field', { token: 'sesame' }],
    ['a nested field', { config: { token: 'sesame', key: 'sesame', password: 'sesame' } }],
    ['a Secret', { object: { data: { a: 'sesame' }, stringData: { b: 'sesame' } } }],
    ['a header', { request: { headers: { authorization: 'Bearer sesame' } } }],
    ['a kubeconfig', { kubeconfig: 'sesame' }],
  ])('hides %s', (_name, fields) => {
    const [line = ''] = lines((logger) => logger.warn(fields));
    expect(line).toContain('[redacted]');
    expect(line).not.toContain('sesame');
  });

  it('hides tokens and private keys wherever they stand', () => {
    const [line = ''] = lines((logger) =>
      logger.error({ error: new Error(`bad ${token}`), x: { y: { z: pem } } }, `see ${token}`),
    );
    expect(line).not.toContain('aaaa');
    expect(line).not.toContain('MHcCAQEEIA');
    expect(JSON.parse(line)).toMatchObject({ error: { message: 'bad [redacted]' }, msg: 'see [redacted]' });
  });

  it('leaves other texts alone', () => {
    expect(redactTokens('eyJ is the start of a token')).toBe('eyJ is the start of a token');
  });

  it('can be silent', () => {
    silentLogger.child({ a: 1 }).error({}, 'nothing');
    expect(lines((logger) => void logger)).toEqual([]);
  });
});
