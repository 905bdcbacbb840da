/** The local certificate authority: real TLS connections, and its rules for keeping, renewing and refusing. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { X509Certificate } from "node:crypto"
import * as Fs from "node:fs"
import * as Https from "node:https"
import { type AddressInfo, isIP } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkServerIdentity } from "node:tls"
import { LocalAuthority, type ServerCertificate } from "../../src/runtime/adapters/LocalAuthority.ts"

const day = 86_400_000
const folders: Array<string> = []
const folder = () => {
  const made = Fs.mkdtempSync(join(tmpdir(), "brokerage-tls-"))
  folders.push(made)
  return made
}
afterAll(() => {
  for (const each of folders) Fs.rmSync(each, { recursive: true, force: true })
})

/** Serves one HTTPS answer with the certificate and requests it as `name`, trusting only `ca`. */
const ask = (server: ServerCertificate, ca: string, name: string) =>
  Effect.callback<string, NodeJS.ErrnoException>((resume) => {
    const https = Https.createServer({ cert: server.certificate, key: server.key }, (_, response) => response.end("hi"))
    const answer = (effect: Effect.Effect<string, NodeJS.ErrnoException>) => https.close(() => resume(effect))
    https.listen(0, "127.0.0.1", () => {
      const { port } = https.address() as AddressInfo
      const request = Https.get({
        host: "127.0.0.1",
        port,
        ca,
        agent: false,
        ...(isIP(name) === 0 ? { servername: name } : {}),
        checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate)
      })
      request.on("error", (error) => answer(Effect.fail(error)))
      request.on("response", (response) => {
        let text = ""
        response.on("data", (chunk: Buffer) => void (text += chunk.toString("utf8")))
        response.on("end", () => answer(Effect.succeed(text)))
      })
    })
  })

const serial = (pem: string) => new X509Certificate(pem).serialNumber

describe("local authority", () => {
  it.live("serve: Node trusts the server by ca.pem under every certified host, and under no other authority", () =>
    Effect.gen(function* () {
      const ours = yield* LocalAuthority.ensure({ dataDirectory: folder(), host: "Broker.Test" })
      const other = yield* LocalAuthority.ensure({ dataDirectory: folder() })
      for (const host of ["localhost", "127.0.0.1", "::1", "broker.test"]) {
        assert.strictEqual(yield* ask(ours, ours.ca, host), "hi", host)
      }
      assert.strictEqual(
        (yield* Effect.flip(ask(ours, ours.ca, "elsewhere.test"))).code,
        "ERR_TLS_CERT_ALTNAME_INVALID"
      )
      const refused = yield* Effect.flip(ask(ours, other.ca, "localhost"))
      assert.oneOf(refused.code, ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"])
    })
  )

  it.live("serve: keys are P-256 in files of mode 0600; only the authority may sign certificates", () =>
    Effect.gen(function* () {
      const dataDirectory = folder()
      const made = yield* LocalAuthority.ensure({ dataDirectory })
      assert.deepStrictEqual(Fs.readdirSync(join(dataDirectory, "tls")), [
        "ca.key",
        "ca.pem",
        "server.key",
        "server.pem"
      ])
      for (const name of ["ca.key", "server.key"]) {
        assert.strictEqual(Fs.statSync(join(dataDirectory, "tls", name)).mode & 0o777, 0o600)
      }
      const [ca, leaf] = [new X509Certificate(made.ca), new X509Certificate(Fs.readFileSync(made.certificateFile))]
      assert.deepStrictEqual([ca.ca, leaf.ca], [true, false])
      assert.strictEqual(leaf.publicKey.asymmetricKeyDetails?.namedCurve, "prime256v1")
      assert.isTrue(leaf.checkIssued(ca) && leaf.verify(ca.publicKey))
      assert.strictEqual(leaf.subjectAltName, "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1")
    })
  )

  // [the event, days until the next start, the host then, authority kept, certificate kept]
  it.effect.each([
    ["the next day", 1, undefined, true, true],
    ["31 days before the end", 365, undefined, true, true],
    ["29 days before the end", 368, undefined, true, false],
    ["another host", 1, "broker.test", true, false],
    ["an address as host", 1, "10.1.2.3", true, false],
    ["a host that is certified anyway", 1, "localhost", true, true],
    ["an IPv6 host in brackets, certified anyway", 1, "[::1]", true, true],
    ["29 days before the authority ends", 3622, undefined, false, false]
  ] as const)("serve: next start, %s (day %d, host %s): authority kept %s, certificate kept %s", (row) =>
    Effect.gen(function* () {
      const [, days, host, authorityKept, leafKept] = row
      const dataDirectory = folder()
      yield* TestClock.setTime(1_765_000_000_000)
      const first = yield* LocalAuthority.ensure({ dataDirectory })
      yield* TestClock.setTime(1_765_000_000_000 + days * day)
      const second = yield* LocalAuthority.ensure({ dataDirectory, ...(host === undefined ? {} : { host }) })
      assert.strictEqual(serial(second.ca) === serial(first.ca), authorityKept)
      assert.strictEqual(second.certificate === first.certificate, leafKept)
      assert.strictEqual(second.certificate, Fs.readFileSync(second.certificateFile, "utf8"))
      assert.strictEqual(second.key, Fs.readFileSync(second.keyFile, "utf8"))
    })
  )

  it.live("serve: an incomplete server pair is made again, a removed host is dropped", () =>
    Effect.gen(function* () {
      const dataDirectory = folder()
      const first = yield* LocalAuthority.ensure({ dataDirectory, host: "broker.test" })
      const other = yield* LocalAuthority.ensure({ dataDirectory: folder() })
      Fs.writeFileSync(first.keyFile, other.key)
      const second = yield* LocalAuthority.ensure({ dataDirectory, host: "broker.test" })
      assert.notStrictEqual(serial(second.certificate), serial(first.certificate))
      assert.strictEqual(yield* ask(second, first.ca, "broker.test"), "hi")
      const third = yield* LocalAuthority.ensure({ dataDirectory })
      assert.notInclude(new X509Certificate(third.certificate).subjectAltName ?? "", "broker.test")
    })
  )

  it.live("serve: an authority that clients may trust is never replaced silently", () =>
    Effect.gen(function* () {
      const dataDirectory = folder()
      const first = yield* LocalAuthority.ensure({ dataDirectory })
      const key = join(dataDirectory, "tls/ca.key")
      Fs.writeFileSync(key, first.key)
      assert.match(
        (yield* Effect.flip(LocalAuthority.ensure({ dataDirectory }))).message,
        /can not be used\. Move the tls/
      )
      Fs.rmSync(key)
      assert.strictEqual((yield* LocalAuthority.ensure({ dataDirectory })).certificate, first.certificate)
      const error = yield* Effect.flip(LocalAuthority.ensure({ dataDirectory, host: "broker.test" }))
      assert.match(error.message, /^The key of the local certificate authority is missing\. /)
      assert.strictEqual(Fs.readFileSync(first.caFile, "utf8"), first.ca)
    })
  )

  it.effect.each(["", "a b", "-x;", "http://x", "a..b", "x".repeat(64)])(
    "serve: host %j is refused with a sentence",
    (host) =>
      Effect.gen(function* () {
        const dataDirectory = folder()
        const error = yield* Effect.flip(LocalAuthority.ensure({ dataDirectory, host }))
        assert.strictEqual(error.message, "The host of the service has to be a host name or an IP address.")
        assert.deepStrictEqual(Fs.readdirSync(dataDirectory), [])
      })
  )
})
