/** The events of a watch are lines; a half-open watch stops between two of them. */
import type { Readable, Writable } from 'node:stream';

/** Passes `count` lines on, then nothing: no further bytes, no end. */
export function passEvents(from: Readable, to: Writable, count: number): void {
  let left = count;
  from.on('data', (chunk: Buffer) => {
    let end = 0;
    while (left > 0) {
      const newline = chunk.indexOf(0x0a, end);
      if (newline < 0) {
        to.write(chunk); // the line goes on in the next chunk
        return;
      }
      end = newline + 1;
      left -= 1;
    }
    if (end > 0) to.write(chunk.subarray(0, end));
  });
}
