/**
 * The addresses to which webhooks may be sent: those that the IANA special-purpose registries leave to the public
 * internet. IPv6 forms that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) are always refused: no receiver needs
 * them, and each would be a second way to write an internal address (A3-32).
 */
import ipaddr from "ipaddr.js"

/**
 * IPv4 ranges that the internet does not reach, or that are reserved for other uses than web servers (RFC 6890 and its
 * registries).
 */
export const refusedIPv4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // shared by carriers
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local; cloud metadata
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "168.63.129.16/32", // a cloud's host agent, reachable only from its guests
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4" // reserved; broadcast
] as const

/**
 * All global unicast addresses. The range excludes loopback, mapped, NAT64, discard, unique local, link-local and
 * multicast.
 */
export const globalIPv6 = "2000::/3"

/** Ranges of global unicast that no web server uses. */
export const refusedIPv6 = [
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "3ffe::/16", // returned by the 6bone
  "3fff::/20" // documentation
] as const

const refused4 = refusedIPv4.map((range) => ipaddr.IPv4.parseCIDR(range))
const refused6 = refusedIPv6.map((range) => ipaddr.IPv6.parseCIDR(range))
const global6 = ipaddr.IPv6.parseCIDR(globalIPv6)

/** True for an address on the public internet; false for text that is not a plainly written address. */
export const isPublicAddress = (address: string): boolean => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    const parsed = ipaddr.IPv4.parse(address)
    return !refused4.some((range) => parsed.match(range))
  }
  if (address.includes("%") || !ipaddr.IPv6.isValid(address)) return false
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.match(global6) && !refused6.some((range) => parsed.match(range))
}
