/**
 * The allowed targets of a webhook: literals, names with every kind of address, exempt hosts; nothing is cached (doc 3,
 * Webhook registration and delivery; A3-32; SSRF-001..SSRF-041).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import ipaddr from "ipaddr.js"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"
import { isPublicAddress, refusedIPv4, refusedIPv6 } from "../../../src/runtime/services/webhooks/publicAddress.ts"
import {
  AddressRefused,
  notPublic,
  type Resolve,
  WebhookAddresses
} from "../../../src/runtime/services/webhooks/WebhookAddresses.ts"

const smokescreen = "stripe/smokescreen a3294a6c pkg/smokescreen/smokescreen_test.go"
const iana = "IANA special-purpose address registries (RFC 6890)"

/** Published verdicts. */
const golden: ReadonlyArray<readonly [id: string, source: string, address: string, isPublic: boolean]> = [
  ["SSRF-001", smokescreen, "10.0.0.1", false],
  ["SSRF-003", smokescreen, "192.168.0.1", false],
  ["SSRF-005", smokescreen, "100.127.255.254", false],
  ["SSRF-007", smokescreen, "127.255.255.255", false],
  ["SSRF-009", smokescreen, "169.254.169.254", false],
  ["SSRF-011", smokescreen, "ff02:0:0:0:0:0:0:2", false],
  ["SSRF-013", smokescreen, "64:ff9b::a00:1", false],
  ["SSRF-015", smokescreen, "2002:c000:201::1", false],
  ["SSRF-017", smokescreen, "2002:808:808::1", false],
  ["SSRF-019", smokescreen, "8.8.8.8", true],
  ["SSRF-021", smokescreen, "100.128.0.1", true],
  ["SSRF-023", smokescreen, "2606:4700:4700::1111", true],
  ["SSRF-025", iana, "0.0.0.0", false],
  ["SSRF-027", iana, "172.31.255.255", false],
  ["SSRF-029", iana, "192.0.2.1", false],
  ["SSRF-031", iana, "198.51.100.1", false],
  ["SSRF-033", iana, "224.0.0.1", false],
  ["SSRF-035", iana, "192.169.0.1", true],
  ["SSRF-037", iana, "::ffff:10.0.0.1", false],
  ["SSRF-039", iana, "fd12:3456::1", false],
  ["SSRF-041", iana, "2001:db8::1", false]
]

/** The first and last address of each refused IPv4 range, and the public neighbours. */
const edges: ReadonlyArray<readonly [address: string, isPublic: boolean]> = [
  ["0.255.255.255", false],
  ["1.0.0.0", true],
  ["9.255.255.255", true],
  ["11.0.0.0", true],
  ["100.63.255.255", true],
  ["100.64.0.0", false],
  ["126.255.255.255", true],
  ["128.0.0.0", true],
  ["169.253.255.255", true],
  ["169.255.0.0", true],
  ["172.15.255.255", true],
  ["172.16.0.0", false],
  ["172.32.0.0", true],
  ["192.0.0.255", false],
  ["192.0.1.0", true],
  ["192.88.99.1", false],
  ["198.17.255.255", true],
  ["198.19.255.255", false],
  ["198.20.0.0", true],
  ["203.0.113.255", false],
  ["203.0.114.0", true],
  ["223.255.255.255", true],
  ["239.255.255.255", false],
  ["240.0.0.1", false],
  ["255.255.255.255", false],
  ["::", false],
  ["::1", false],
  ["::7f00:1", false],
  ["::ffff:8.8.8.8", false],
  ["64:ff9b::8.8.8.8", false],
  ["64:ff9b:1::1", false],
  ["100::1", false],
  ["2001::1", false],
  ["2001:0:53aa:64c:0:fbff:f5ff:fff7", false],
  ["2001:20::1", false],
  ["2001:1ff:ffff::1", false],
  ["2001:200::1", true],
  ["2001:4860:4860::8888", true],
  ["2a00:1450:4001::1", true],
  ["3fff:fff::1", false],
  ["5f00::1", false],
  ["fc00::1", false],
  ["fe80::1", false],
  ["fec0::1", false],
  ["ff0e::1", false],
  ["fe80::1%eth0", false],
  ["2606:4700:4700::1111%1", false],
  ["127.1", false],
  ["0x7f.0.0.1", false],
  ["010.8.8.8", false],
  ["8.8.8.8 ", false],
  ["example.com", false],
  ["", false]
]

const bytes = (count: number) => fc.array(fc.nat(255), { minLength: count, maxLength: count })

/** A random address inside a range. */
const within = (range: string): fc.Arbitrary<string> => {
  const [network, prefix] = ipaddr.parseCIDR(range)
  const base = network.toByteArray()
  return bytes(base.length).map((random) =>
    ipaddr
      .fromByteArray(
        base.map((byte, index) => {
          const kept = Math.min(8, Math.max(0, prefix - index * 8))
          const mask = (0xff << (8 - kept)) & 0xff
          return (byte & mask) | ((random[index] ?? 0) & ~mask & 0xff)
        })
      )
      .toString()
  )
}

/** Every refused range, including the parts of IPv6 outside global unicast. */
const refusedRanges = [
  ...refusedIPv4,
  ...refusedIPv6,
  "::/8",
  "::ffff:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/32",
  "4000::/2",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8"
]

describe("A3-32: addresses on the public internet", () => {
  it.each(golden)("%s (%s): %s is public: %s", (_id, _source, address, isPublic) =>
    assert.strictEqual(isPublicAddress(address), isPublic)
  )
  it.each(edges)("A3-32: %s is public: %s", (address, isPublic) =>
    assert.strictEqual(isPublicAddress(address), isPublic)
  )

  it.each(refusedRanges)("A3-32: no address of %s is public", (range) =>
    fc.assert(fc.property(within(range), (address) => assert.isFalse(isPublicAddress(address), address)))
  )

  it("A3-32: every public address is plain unicast according to an independent table of ranges too", () => {
    const plain = ["unicast", "as112", "as112v6", "amt"]
    fc.assert(
      fc.property(fc.oneof(bytes(4), bytes(16)), (random) => {
        const address = ipaddr.fromByteArray(random)
        if (isPublicAddress(address.toString())) assert.include(plain, address.range(), address.toString())
      }),
      { numRuns: 2_000 }
    )
  })

  it("A3-32: the rest of IPv4 is public", () => {
    const partly = [100, 169, 172, 192, 198, 203]
    const closed = Array.from({ length: 256 }, (_, first) => first).filter(
      (first) => !partly.includes(first) && !isPublicAddress(`${first}.88.113.7`)
    )
    assert.deepStrictEqual(closed, [0, 10, 127, ...Array.from({ length: 32 }, (_, index) => 224 + index)])
  })
})

const addressesWith = (resolve: Resolve, webhookHosts: ReadonlyArray<string> = []) =>
  WebhookAddresses.layer({ resolve }).pipe(
    Layer.provide(Settings.layer({ ...defaultSettings, sandbox: true, webhookHosts: new Set(webhookHosts) }))
  )

/** The result of a check: the addresses, or the sentence. */
const checked = (resolve: Resolve, host: string, webhookHosts: ReadonlyArray<string> = []) =>
  Effect.flatMap(WebhookAddresses, (addresses) => addresses.check(host)).pipe(
    Effect.map((found) => found.map(({ address, family }) => `${family} ${address}`)),
    Effect.catch((error) => {
      assert.instanceOf(error, AddressRefused)
      return Effect.succeed(error.sentence)
    }),
    Effect.provide(addressesWith(resolve, webhookHosts))
  )

const names: Readonly<Record<string, ReadonlyArray<string>>> = {
  "hooks.example": ["93.184.215.14", "2606:2800:21f::1"],
  "private.example": ["10.1.2.3"],
  "mixed.example": ["93.184.215.14", "192.168.1.1"],
  "mapped.example": ["::ffff:93.184.215.14"],
  "metadata.example": ["169.254.169.254"],
  "zone.example": ["fe80::1%eth0"],
  "odd.example": ["not an address"],
  "empty.example": [],
  localhost: ["127.0.0.1", "::1"],
  "receiver.internal": ["127.0.0.1"]
}
const dns: Resolve = (name) =>
  names[name] === undefined ? Effect.fail(new Error("ENOTFOUND")) : Effect.succeed(names[name])

describe("A3-32: the host of a webhook", () => {
  it.effect.each<readonly [host: string, answer: ReadonlyArray<string> | string]>([
    ["8.8.8.8", ["4 8.8.8.8"]],
    ["2606:4700:4700::1111", ["6 2606:4700:4700::1111"]],
    ["hooks.example", ["4 93.184.215.14", "6 2606:2800:21f::1"]],
    ["HOOKS.example.", ["4 93.184.215.14", "6 2606:2800:21f::1"]],
    ["127.0.0.1", notPublic],
    ["::1", notPublic],
    ["[::1]", notPublic],
    ["::ffff:7f00:1", notPublic],
    ["localhost", notPublic],
    ["LocalHost.", notPublic],
    ["api.localhost", notPublic],
    ["private.example", notPublic],
    ["mixed.example", notPublic],
    ["mapped.example", notPublic],
    ["metadata.example", notPublic],
    ["zone.example", notPublic],
    ["odd.example", notPublic],
    ["empty.example", notPublic],
    ["unknown.example", notPublic]
  ])("A3-32: %j", ([host, answer]) => Effect.map(checked(dns, host), (found) => assert.deepStrictEqual(found, answer)))

  it.effect.each<readonly [host: string, answer: ReadonlyArray<string> | string]>([
    ["localhost", ["4 127.0.0.1", "6 ::1"]],
    ["LOCALHOST.", ["4 127.0.0.1", "6 ::1"]],
    ["127.0.0.1", ["4 127.0.0.1"]],
    ["::1", ["6 ::1"]],
    ["receiver.internal", ["4 127.0.0.1"]],
    ["private.example", notPublic],
    ["127.0.0.2", notPublic],
    ["api.localhost", notPublic],
    ["gone.example", notPublic]
  ])("operator surface, --allow-webhook-host: %j", ([host, answer]) =>
    Effect.map(
      checked(dns, host, ["Localhost", "127.0.0.1:9443", "[::1]:9443", "receiver.internal.", "gone.example"]),
      (found) => assert.deepStrictEqual(found, answer)
    )
  )

  it.effect("A3-32: an exempt host is known by its name, whatever its port and spelling", () =>
    Effect.gen(function* () {
      const addresses = yield* WebhookAddresses
      for (const host of ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.1", "::1", "[::1]"])
        assert.isTrue(addresses.isExempt(host), host)
      for (const host of ["localhost.example", "127.0.0.2", "::2", ""]) assert.isFalse(addresses.isExempt(host), host)
      assert.isFalse(addresses.isPublic("127.0.0.1"))
      assert.isTrue(addresses.isPublic("8.8.8.8"))
    }).pipe(Effect.provide(addressesWith(dns, ["localhost:1", "127.0.0.1", "[::1]:8443"])))
  )

  it.effect("A3-32: a name is resolved again at each check: a change to an inside address is seen", () =>
    Effect.gen(function* () {
      let answers = ["93.184.215.14"]
      const moving: Resolve = () => Effect.sync(() => answers)
      yield* Effect.gen(function* () {
        const addresses = yield* WebhookAddresses
        assert.deepStrictEqual(yield* addresses.check("moving.example"), [{ address: "93.184.215.14", family: 4 }])
        answers = ["169.254.169.254"]
        const refused = yield* Effect.flip(addresses.check("moving.example"))
        assert.strictEqual(refused.sentence, notPublic)
      }).pipe(Effect.provide(addressesWith(moving)))
    })
  )

  it.effect("A3-32: a name server that never answers is given up within the time of an attempt", () =>
    Effect.gen(function* () {
      const asking = yield* Effect.forkChild(
        checked(() => Effect.never, "slow.example"),
        { startImmediately: true }
      )
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(asking), notPublic)
    })
  )

  it("A3-32: the one sentence for partners is plain, does not repeat their input, and reveals nothing about inside addresses", () => {
    assert.match(notPublic, /^The url's host [^0-9]*\.$/)
  })
})
