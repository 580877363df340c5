/** Where an image is pulled from when a cluster has a registry of its own. */
import { posix } from 'node:path';

/** Whether an image is one of Fleet's agent, by the name that Fleet and its mirrors give it. */
export function isFleetImage(image: string): boolean {
  return /(^|\/)fleet-agent([:@]|$)/.test(image);
}

/**
 * The image for a cluster (Fleet: agent manifest, Resolve). With `privateRepoURL`, the default registry's prefix is cut
 * off and the private one put before, unless it is there already; without, the image stays as it is.
 */
export function resolveImage(image: string, privateRepoURL = '', systemDefaultRegistry = ''): string {
  if (privateRepoURL === '') return image;
  const short =
    systemDefaultRegistry !== '' && image.startsWith(systemDefaultRegistry)
      ? image.slice(systemDefaultRegistry.length)
      : image;
  return short.startsWith(privateRepoURL) ? short : posix.join(privateRepoURL, short);
}
