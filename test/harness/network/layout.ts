/**
 * Where things are on an isolated network. Every such network is a world of its own, so the addresses are the same in
 * each: a certificate can name {@link outsideAddress} before there is a network.
 */

/** The outside as a cluster sees it, and the cluster's default route. RFC 2544: 198.18.0.0/15 is for tests of networks. */
export const outsideAddress = '198.18.0.1';
/** The cluster's own end of the wire: where an outsider would look for its API server. */
export const insideAddress = '198.18.0.2';
/** Network devices: the outside's end of the wire, the cluster's end, and a bridge that carries the node's address. */
export const devices = { outside: 'wire', inside: 'uplink', node: 'node0' } as const;
/** Name and address of the node. Not on the wire, and not on loopback: an endpoint of a Service must not be. */
export const nodeAddress = '10.88.255.1';
/** Addresses of pods. */
export const podRange = '10.88.1.0/24';
/** All of the cluster's own addresses, for NO_PROXY: pods, node and Services. */
export const clusterRange = '10.0.0.0/8';
