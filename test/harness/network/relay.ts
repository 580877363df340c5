/** Carrying bytes between two sockets. */
import type { Socket } from 'node:net';

/** Carries bytes both ways until either ends; a reset of one resets the other. Both want `allowHalfOpen`. */
export function relay(near: Socket, far: Socket): void {
  near.pipe(far);
  far.pipe(near);
  near.on('error', () => far.resetAndDestroy());
  far.on('error', () => near.resetAndDestroy());
  near.once('close', () => far.destroy());
  far.once('close', () => near.destroy());
}
