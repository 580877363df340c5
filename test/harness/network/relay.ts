/** Carrying bytes between two sockets. */
import type { Socket } from 'node:net';

/** Carries bytes both ways until either ends; a reset of one resets the other. Both want `allowHalfOpen`. */
export function relay(near: Socket, far: Socket): void {
  near.pipe(far);
  far.pipe(near);
  near.on('error', () => reset(far));
  far.on('error', () => reset(near));
  near.once('close', () => far.destroy());
  far.once('close', () => near.destroy());
}

/** Ends a connection at once, as a failure where that can be told: Unix sockets know no reset, and Node throws then. */
export function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
