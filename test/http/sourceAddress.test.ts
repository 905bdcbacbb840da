/**
 * The allowlist: the addresses that a range contains, and the trusted source of the caller's address (doc 1, IP
 * allowlist; A1-08).
 */
import { assert, describe, it } from "@effect/vitest"
import { admits, cidrContains, sourceAddress } from "../../src/http/middleware/sourceAddress.ts"

describe("A1-08: allowlist", () => {
  it("A1-08 [CIDR-001]: ranges of both families; a mapped peer counts as IPv4", () => {
    const cidrs = ["203.0.113.0/24", "2001:db8::/32"]
    const ips = ["203.0.113.255", "203.0.114.0", "::ffff:203.0.113.9", "2001:db8:ffff::1", "2001:db9::1"]
    assert.deepStrictEqual(
      ips.map((ip) => cidrContains(cidrs, ip)),
      [true, false, true, true, false]
    )
  })

  const rows: ReadonlyArray<readonly [name: string, cidrs: ReadonlyArray<string>, ip: string, inside: boolean]> = [
    ["an empty list admits everybody", [], "198.51.100.1", true],
    ["an empty list admits even what is no address", [], "", true],
    ["a bare IPv4 address is /32", ["198.51.100.1"], "198.51.100.1", true],
    ["a bare IPv4 address is no more", ["198.51.100.1"], "198.51.100.2", false],
    ["a bare IPv6 address is /128", ["2001:db8::1"], "2001:db8::2", false],
    ["/0 admits its own family", ["0.0.0.0/0"], "2001:db8::1", false],
    ["what is no address is outside", ["0.0.0.0/0"], "nonsense", false],
    ["an unreadable entry admits nobody", ["nonsense"], "198.51.100.1", false]
  ]
  for (const [name, cidrs, ip, inside] of rows)
    it(`A1-08: ${name}`, () => assert.strictEqual(admits(cidrs, ip), inside))

  it("A1-08: X-Forwarded-For counts only from an edge host, and only its last hop", () => {
    const edge = ["10.0.0.0/8"]
    assert.strictEqual(sourceAddress("198.51.100.1", "203.0.113.9", edge), "198.51.100.1")
    assert.strictEqual(sourceAddress("::ffff:10.1.2.3", "203.0.113.9, 203.0.113.8", edge), "203.0.113.8")
    assert.strictEqual(sourceAddress("10.1.2.3", ["203.0.113.9", "203.0.113.8"], edge), "203.0.113.8")
    assert.strictEqual(sourceAddress("10.1.2.3", undefined, edge), "10.1.2.3")
    assert.strictEqual(sourceAddress("10.1.2.3", "203.0.113.9", []), "10.1.2.3")
    assert.strictEqual(sourceAddress(undefined, "203.0.113.9", edge), "")
  })

  const forms: ReadonlyArray<readonly [text: string, read: boolean]> = [
    ["203.0.113.5", true],
    ["::ffff:203.0.113.5", true],
    ["::ffff:cb00:7105", true],
    ["203.0.113.005", false],
    ["0313.0.0161.5", false],
    ["0xcb.0.113.5", false],
    ["0xcb007105", false],
    ["3405803781", false],
    ["203.0.28933", false],
    ["203.113.5", false],
    ["+203.0.113.5", false],
    ["203.0.113.5.", false],
    ["203.0.113.5:443", false],
    ['"203.0.113.5"', false],
    ["::203.0.113.5", false],
    ["::ffff:203.0.113.005", false],
    ["::FFFF:203.0.113.5", false],
    ["0:0:0:0:0:ffff:203.0.113.5", false],
    ["2001:db8::5", true],
    ["2001:DB8::5", false],
    ["2001:0db8::5", false],
    ["2001:db8:0:0:0:0:0:5", false],
    ["2001:db8::0:5", false],
    ["[2001:db8::5]", false],
    ["2001:db8::5%eth0", false],
    ["unknown", false],
    ["", false]
  ]
  for (const [text, read] of forms) {
    it(`A1-08: the hop "${text}" is ${read ? "an address" : "no address, so its caller is unknown"}`, () => {
      const allowed = ["203.0.113.0/24", "2001:db8::/32"]
      assert.strictEqual(admits(allowed, sourceAddress("10.1.2.3", text, ["10.0.0.0/8"])), read)
      assert.strictEqual(sourceAddress("10.1.2.3", `203.0.113.5, ${text}`, ["10.0.0.0/8"]), read ? text : "")
    })
  }

  it("A1-08: a peer's zone is no part of its address, and a range is read in one way or not at all", () => {
    assert.isTrue(admits(["fe80::/10"], sourceAddress("fe80::1%eth0", undefined, [])))
    for (const range of ["010.0.0.0/8", "0xa.0.0.0/8", "10.0/16", "10", "10.0.0.0/08", "10.0.0.0/33", "10.0.0.0/8/8"]) {
      assert.isFalse(cidrContains([range], "10.0.0.1"), range)
      assert.isFalse(cidrContains([range], "8.0.0.1"), range)
    }
  })
})
