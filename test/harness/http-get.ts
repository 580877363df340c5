/** One HTTP(S) request on its own connection: for looking at a server that is only just coming up. */
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import { limits } from './limits.ts';

/** Whom to ask, and as whom. */
export interface Target {
  /** `https://127.0.0.1:PORT`, or `http:`. */
  readonly server: string;
  /** PEM; for https. */
  readonly ca?: string;
  readonly token?: string;
}

/** Status and text; undefined when nothing usable answered within {@link limits.probe}. */
export function httpGet(target: Target, path: string): Promise<{ status: number; text: string } | undefined> {
  return new Promise((resolve) => {
    const url = new URL(path, target.server);
    const call = (url.protocol === 'https:' ? getSecure : getPlain)(url, {
      agent: false,
      timeout: limits.probe,
      ...(target.ca === undefined ? {} : { ca: target.ca }),
      headers: target.token === undefined ? {} : { authorization: `Bearer ${target.token}` },
    });
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => resolve(undefined));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(undefined));
    call.on('close', () => resolve(undefined));
  });
}
