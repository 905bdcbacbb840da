/**
 * One attempt over a real TLS socket: the connected addresses, the responses that count as an answer, and the log's
 * sentences (doc 3, Webhook registration and delivery; A3-32, A3-33).
 */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createServer } from "node:tls"
import { webhookLimits } from "../../../src/machines/shared/Limits.ts"
import { LocalAuthority, type ServerCertificate } from "../../../src/runtime/adapters/LocalAuthority.ts"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"
import { EndpointAgents } from "../../../src/runtime/services/webhooks/EndpointAgents.ts"
import { HttpsWebhookSender } from "../../../src/runtime/services/webhooks/HttpsWebhookSender.ts"
import { type Resolve, WebhookAddresses } from "../../../src/runtime/services/webhooks/WebhookAddresses.ts"
import { type SendOutcome, WebhookSender } from "../../../src/runtime/ports/WebhookSender.ts"
import { type Behaviour, secretOf, startCanary, startReceiver, until } from "./webhookWorld.ts"

let folder: string
let tls: ServerCertificate
const closers: Array<() => Promise<unknown>> = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "brokerage-sender-"))
  tls = await Effect.runPromise(LocalAuthority.ensure({ dataDirectory: folder, host: "hooks.test" }))
})
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface SenderOptions {
  readonly acknowledgeMillis?: number
  readonly exempt?: ReadonlyArray<string>
  readonly trusted?: boolean
  readonly resolve?: Resolve
}

const open = async ({ exempt = ["127.0.0.1"], trusted = true, resolve, ...options }: SenderOptions = {}) => {
  const scope = await Effect.runPromise(Scope.make())
  const context = await Effect.runPromise(
    Layer.buildWithScope(
      HttpsWebhookSender.layer(options).pipe(
        Layer.provide(WebhookAddresses.layer(resolve === undefined ? {} : { resolve })),
        Layer.provide(
          Settings.layer({
            ...defaultSettings,
            sandbox: true,
            webhookHosts: new Set(exempt),
            webhookAuthority: trusted ? tls.ca : null
          })
        )
      ),
      scope
    )
  )
  closers.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const sender = Context.get(context, WebhookSender)
  return (url: string, deliveryId = 1): Promise<SendOutcome> =>
    Effect.runPromise(
      sender.send({ deliveryId, event: "webhook.test", body: `{"id":${deliveryId}}`, url, secret: secretOf(1) })
    )
}
const receiver = async (behave?: Behaviour) => {
  const made = await startReceiver(tls, behave)
  closers.push(made.close)
  return made
}
const canary = async () => {
  const made = await startCanary()
  closers.push(made.close)
  return made
}
const failed = (error: string, status: number | null = null): SendOutcome => ({ _tag: "Failed", status, error })

describe("Webhook attempt: answers", () => {
  it.each([200, 201, 202, 204, 299])("doc 3: a %i acknowledges", async (status) => {
    const to = await receiver(() => status)
    assert.deepStrictEqual(await (await open())(to.url), { _tag: "Acknowledged", status })
  })

  it("doc 3: the body of an acknowledgement is ignored, even an endless one", async () => {
    const to = await receiver((_delivery, response) => {
      response.writeHead(200)
      const pour = () => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
        if (!response.destroyed) response.once("drain", pour)
      }
      pour()
    })
    assert.deepStrictEqual(await (await open())(to.url), { _tag: "Acknowledged", status: 200 })
    await until("the connection to be given up", () => to.openSockets() === 0)
  })

  it.each([400, 401, 404, 410, 429, 500, 503])("doc 3: a %i fails with its own text", async (status) => {
    const to = await receiver((_delivery, response) => void response.writeHead(status).end("no\nthanks"))
    assert.deepStrictEqual(await (await open())(to.url), failed(`The endpoint answered ${status}: no thanks`, status))
  })

  it("doc 3 Limits: of a failure at most 16 KiB are read and 256 bytes stored", async () => {
    let poured = 0
    const to = await receiver((_delivery, response) => {
      response.writeHead(500)
      const pour = () => {
        while (!response.destroyed && poured < 64 * 1_048_576) {
          poured += 65_536
          if (!response.write("e".repeat(65_536))) break
        }
        if (!response.destroyed) response.once("drain", pour)
      }
      pour()
    })
    const outcome = await (await open())(to.url)
    assert.deepInclude(outcome, { _tag: "Failed", status: 500 })
    assert.strictEqual(outcome._tag === "Failed" ? Buffer.byteLength(outcome.error) : 0, 256)
    assert.isBelow(poured, 32 * 1_048_576)
  })

  /** Answers each request with these bytes after `hints` interim answers; endless ones as fast as they are read. */
  const hinting = async (hints: number) => {
    const hint = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    const server = createServer({ key: tls.key, cert: tls.certificate }, (socket) => {
      socket.on("error", () => {})
      socket.once("data", () => {
        if (hints !== Infinity) {
          return void socket.end(`${hint.repeat(hints)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`)
        }
        const pour = (): void => {
          while (socket.writable && socket.write(hint));
          if (socket.writable) socket.once("drain", pour)
        }
        pour()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closers.push(() => new Promise((resolve) => server.close(resolve)))
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  it("doc 3: a few interim answers are allowed, and an attempt ends after one too many, however many follow", async () => {
    const send = await open({ acknowledgeMillis: 60_000 })
    for (const hints of [0, 1, 8]) {
      assert.deepStrictEqual(await send(await hinting(hints)), { _tag: "Acknowledged", status: 200 })
    }
    for (const hints of [9, 1_000, Infinity]) {
      assert.deepStrictEqual(await send(await hinting(hints)), failed("The endpoint sent more than 8 interim answers."))
    }
  })

  it("doc 3: an answer after the limit counts as silence, and its late 200 is ignored", async () => {
    const answer: Array<() => void> = []
    const to = await receiver((_delivery, response) => {
      answer.push(() => response.writeHead(200).end())
    })
    const send = await open({ acknowledgeMillis: 150 })
    assert.deepStrictEqual(await send(to.url), failed("The endpoint did not answer within 0.15 seconds."))
    answer[0]?.()
    await until("the connection to be closed", () => to.openSockets() === 0)
    assert.strictEqual(webhookLimits.acknowledgeMillis, 10_000)
  })

  it("A3-33: headers in time and a body that never ends: the status counts, with the part of the body that was read", async () => {
    const to = await receiver((_delivery, response) => void response.writeHead(500).write("half"))
    const send = await open({ acknowledgeMillis: 300 })
    assert.deepStrictEqual(await send(to.url), failed("The endpoint answered 500: half", 500))
  })

  it("doc 3: a redirect is a failed attempt and is never followed", async () => {
    const trap = await canary()
    const to = await receiver((_delivery, response) => {
      response.writeHead(302, { location: `https://127.0.0.1:${trap.port}/` }).end()
    })
    const send = await open()
    assert.deepStrictEqual(await send(to.url), failed("The endpoint answered 302: redirects are not followed.", 302))
    assert.deepStrictEqual([to.received.length, trap.connections()], [1, 0])
  })

  it("doc 3: a connection that ends without an answer fails", async () => {
    const to = await receiver((_delivery, _response, request) => void request.socket.destroy())
    assert.deepStrictEqual(await (await open())(to.url), failed("The connection failed: ECONNRESET."))
  })

  it("A3-33: a failure answer that breaks off keeps its status and the part that was read", async () => {
    const to = await receiver((_delivery, response) => {
      response.writeHead(503, { "content-length": "100" })
      response.write("maintenance", () => void response.socket?.end())
    })
    assert.deepStrictEqual(await (await open())(to.url), failed("The endpoint answered 503: maintenance", 503))
  })

  it("A3-34: acknowledgements whose bodies never end hold a bounded number of connections", async () => {
    const to = await receiver((_delivery, response) => void response.writeHead(200).write("more"))
    const send = await open()
    for (let id = 1; id <= 20; id++) {
      assert.deepStrictEqual(await send(to.url, id), { _tag: "Acknowledged", status: 200 })
    }
    await until("the surplus to be closed", () => to.openSockets() <= 5)
  })

  it("doc 3: no receiver listens", async () => {
    const to = await receiver()
    await to.close()
    assert.deepStrictEqual(await (await open())(to.url), failed("The connection failed: ECONNREFUSED."))
  })
})

describe("Webhook attempt: certificates", () => {
  it("A3-33: a certificate of an unknown authority is refused, and nothing is sent", async () => {
    const to = await receiver()
    assert.deepStrictEqual(
      await (
        await open({ trusted: false })
      )(to.url),
      failed("The endpoint's certificate is not trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE.")
    )
    assert.strictEqual(to.received.length, 0)
  })

  it("A3-33: the certificate must name the host", async () => {
    const to = await receiver()
    const send = await open({ exempt: ["other.test"], resolve: () => Effect.succeed(["127.0.0.1"]) })
    assert.deepStrictEqual(
      await send(`https://other.test:${to.port}/`),
      failed("The endpoint's certificate is not trusted: ERR_TLS_CERT_ALTNAME_INVALID.")
    )
    assert.strictEqual(to.received.length, 0)
  })

  it("operator surface: the local authority is trusted for exempt hosts, by name too", async () => {
    const to = await receiver()
    const send = await open({ exempt: ["hooks.test"], resolve: () => Effect.succeed(["127.0.0.1"]) })
    assert.deepStrictEqual(await send(`https://hooks.test:${to.port}/in`), { _tag: "Acknowledged", status: 200 })
    assert.strictEqual(to.received[0]?.headers.host, `hooks.test:${to.port}`)
  })
})

describe("Webhook attempt: addresses", () => {
  it("SC-WHK-05: public at registration, private at send: no connection, and the log says why", async () => {
    const trap = await canary()
    let answers = ["93.184.216.34"]
    const send = await open({ exempt: [], resolve: () => Effect.sync(() => answers), acknowledgeMillis: 50 })
    const url = `https://rebind.example:${trap.port}/`
    answers = ["127.0.0.1"]
    const outcome = await send(url)
    assert.strictEqual(outcome._tag, "Failed")
    assert.match(outcome._tag === "Failed" ? outcome.error : "", /must be public.*\.$/)
    // One private address among public ones suffices for a refusal.
    answers = ["93.184.216.34", "10.0.0.1"]
    assert.deepStrictEqual(await send(url), outcome)
    assert.strictEqual(trap.connections(), 0)
  })

  it("A3-32: the connection goes to the checked address, even if the name resolves to another one a moment later", async () => {
    const to = await receiver()
    const asked: Array<string> = []
    const send = await open({
      exempt: ["hooks.test"],
      resolve: (name) => Effect.sync(() => (asked.push(name) === 1 ? ["127.0.0.1"] : ["127.0.0.2"]))
    })
    assert.deepStrictEqual(await send(`https://hooks.test:${to.port}/`), { _tag: "Acknowledged", status: 200 })
    assert.deepStrictEqual(asked, ["hooks.test"])
  })

  it("doc 3: the check repeats before every delivery: a kept connection does not outlive a changed answer", async () => {
    const to = await receiver()
    const trap = await canary()
    let answers = ["127.0.0.1"]
    const send = await open({ exempt: ["hooks.test"], resolve: () => Effect.sync(() => answers) })
    const url = `https://hooks.test:${to.port}/`
    assert.deepInclude(await send(url, 1), { _tag: "Acknowledged" })
    assert.deepInclude(await send(url, 2), { _tag: "Acknowledged" })
    assert.strictEqual(to.connections(), 1)
    answers = []
    assert.strictEqual((await send(url, 3))._tag, "Failed")
    answers = ["127.0.0.9"]
    assert.deepStrictEqual(await send(url, 4), failed("The connection failed: ECONNREFUSED."))
    assert.deepStrictEqual(
      to.received.map(({ id }) => id),
      [1, 2]
    )
    assert.strictEqual(trap.connections(), 0)
  })

  it("A3-32: a socket that ends up at another address is closed before a request goes out", async () => {
    const to = await receiver()
    const agents = new EndpointAgents(tls.ca)
    const agent = agents.get({
      origin: to.url,
      addresses: [{ address: "127.0.0.9", family: 4 }],
      exempt: true
    })
    const error = await new Promise<unknown>((resolve) => {
      // A literal host needs no lookup, so only the check of the socket remains.
      request(to.url, { method: "POST", agent }, () => resolve("answered"))
        .on("error", resolve)
        .end("{}")
    })
    assert.deepInclude(error, { code: "UNCHECKED_ADDRESS" })
    assert.strictEqual(to.received.length, 0)
    agents.close()
  })
})

describe("Webhook attempt: connections", () => {
  it("keeps its connection between deliveries", async () => {
    const to = await receiver()
    const send = await open()
    for (let id = 1; id <= 5; id++) assert.deepInclude(await send(to.url, id), { _tag: "Acknowledged" })
    assert.strictEqual(to.connections(), 1)
  })

  it("a kept connection that the receiver closed is no failed attempt: a new one is opened once", async () => {
    const used = new Set<unknown>()
    const to = await receiver((_delivery, _response, { socket }) => {
      if (used.has(socket)) return void socket.destroy()
      used.add(socket)
      return 200
    })
    const send = await open()
    assert.deepInclude(await send(to.url, 1), { _tag: "Acknowledged" })
    assert.deepInclude(await send(to.url, 2), { _tag: "Acknowledged" })
    assert.deepStrictEqual(
      to.received.map(({ id }) => id),
      [1, 2, 2]
    )
  })
})
