/**
 * Address ranges that a partner may call from. A bad entry is rejected when the operator sets the list, so gates read
 * valid entries only (A1-08).
 */
import ipaddr from "ipaddr.js"

const tooMany = 256

/** The errors of a list, by index in the list; null when every entry is valid. */
export const cidrErrors = (cidrs: ReadonlyArray<string>): Readonly<Record<string, string>> | null => {
  if (cidrs.length > tooMany) return { cidrs: `The list must have at most ${tooMany} entries.` }
  const errors: Record<string, string> = {}
  const seen = new Set<string>()
  for (const [index, cidr] of cidrs.entries()) {
    const sentence = cidrSentence(cidr) ?? (seen.has(cidr) ? "The address range is listed twice." : null)
    if (sentence !== null) errors[`cidrs.${index}`] = sentence
    seen.add(cidr)
  }
  return Object.keys(errors).length === 0 ? null : errors
}

/** The error of one range, or null. A bare address is a range of one address. */
export const cidrSentence = (cidr: string): string | null => {
  const [address = "", bits, ...rest] = cidr.split("/")
  const notRange = "Each entry must be an address range such as 203.0.113.0/24 or 2001:db8::/32."
  if (rest.length > 0 || address.includes("%")) return notRange
  // The parser also accepts octal, hexadecimal and short forms of IPv4, which most readers would misread.
  const v4 = ipaddr.IPv4.isValidFourPartDecimal(address)
  if (!v4 && !ipaddr.IPv6.isValid(address)) return notRange
  if (!v4 && ipaddr.IPv6.parse(address).isIPv4MappedAddress()) return "Write an IPv4-mapped range as plain IPv4."
  // IPv4 parts inside IPv6 addresses are ambiguous for readers too.
  if (!v4 && address.includes(".")) return notRange
  if (bits === undefined) return null
  const widest = v4 ? 32 : 128
  if (!/^(0|[1-9][0-9]{0,2})$/.test(bits) || Number(bits) > widest) return notRange
  const network = v4 ? ipaddr.IPv4.networkAddressFromCIDR(cidr) : ipaddr.IPv6.networkAddressFromCIDR(cidr)
  return network.toString() === ipaddr.parse(address).toString()
    ? null
    : "The address has bits set beyond its prefix: write the network address."
}
