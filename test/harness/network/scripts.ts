/** What is set up inside the two namespaces of an isolated network, and nowhere else. */
import { serviceRange } from '../control-plane/files.ts';
import { clusterRange, devices, insideAddress, nodeAddress, outsideAddress } from './layout.ts';

const { outside, inside, node } = devices;

/** In the outside: the wire, and a route to everything inside, so that only the cluster's firewall is in the way. */
export function outsideScript(insidePid: number): string {
  return `
ip link add name ${outside} type veth peer name ${inside} netns ${insidePid}
ip address add ${outsideAddress}/30 dev ${outside}
ip link set ${outside} up
ip route add ${clusterRange} via ${insideAddress}`;
}

/**
 * In the cluster: its end of the wire, the node's address, and the firewall. It stands in `mangle PREROUTING`, before
 * the rules by which kube-proxy sends connections to Services on. Pods go out under the cluster's one address.
 */
export const insideScript = `
ip address add ${insideAddress}/30 dev ${inside}
ip link set ${inside} up
ip route add default via ${outsideAddress}
ip link add name ${node} type bridge
ip address add ${nodeAddress}/32 dev ${node}
ip link set ${node} up
ip route add ${serviceRange} dev ${node}
echo 1 > /proc/sys/net/ipv4/ip_forward
iptables -w -t mangle -A PREROUTING -i ${inside} -m conntrack --ctstate NEW -j DROP
iptables -w -t nat -A POSTROUTING -o ${inside} -j MASQUERADE`;

/** In the outside, where neither end of a connection notices. */
export const cutScript = `
iptables -w -I INPUT -i ${outside} -j DROP
iptables -w -I OUTPUT -o ${outside} -j DROP`;

/** Undoes {@link cutScript}, however often it ran. */
export const healScript = `
iptables -w -F INPUT
iptables -w -F OUTPUT`;
