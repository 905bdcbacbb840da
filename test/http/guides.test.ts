/**
 * The guides in the reference are true: named routes exist, links have a target, the test vector's signature is
 * correct, and the receivers run unchanged, in each installed language, and distinguish a true delivery from a false
 * one.
 */
import { assert, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { guides, receivers, testVector } from "../../src/http/guides/guides.ts"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { hasTool, skipNote, type ToolName } from "../support/tools.ts"

const text = guides()
const document = openApiDocument()
const { secret, timestamp, body } = testVector

const signed = (at: number, sent: string = body): string =>
  `v1=${createHmac("sha256", secret).update(`${at}.`).update(sent).digest("hex")}`

describe("guides", () => {
  it("every route that they name is in the description, with its method", () => {
    const named = [...text.matchAll(/`(GET|POST|PUT|DELETE)\s+(?:\.\.\.)?(\/[\w/{}.-]+)`/g)]
    assert.isAbove(named.length, 15)
    for (const [whole, method = "", path = ""] of named) {
      const found = Object.entries(document.paths).some(
        ([known, item]) => known.endsWith(path) && Object.hasOwn(item, method.toLowerCase())
      )
      assert.isTrue(found, whole)
    }
  })

  it("every link leads to a heading of the page", () => {
    const description = document.info.description ?? ""
    const headings = new Set(
      [...description.matchAll(/^# (.+)$/gm)].map(([, heading = ""]) => heading.toLowerCase().replaceAll(" ", "-"))
    )
    const links = [...description.matchAll(/\]\(#description\/([\w-]+)\)/g)].map(([, to = ""]) => to)
    assert.isNotEmpty(links)
    for (const to of links) assert.include([...headings], to)
  })

  it("no placeholder is left, and the guide shows each receiver as the test runs it", () => {
    assert.notMatch(text, /<<[\w.]+>>|\{\{/)
    for (const name of receivers) {
      const source = readFileSync(new URL(`../../src/http/guides/receivers/${name}`, import.meta.url), "utf8")
      assert.include(text, source.trimEnd(), name)
    }
  })

  it("doc 3: the test vector has the signature that anybody computes", () =>
    assert.include(text, `\`${signed(timestamp)}\``))
})

/** The command that runs each receiver, and the tool that its language needs. */
const runsAs = (
  name: string,
  folder: string
): { readonly command: readonly [string, ...Array<string>]; readonly tools: ReadonlyArray<ToolName> } => {
  const file = join(folder, name)
  if (name.endsWith(".mjs")) return { command: [process.execPath, file], tools: [] }
  if (name.endsWith(".py")) return { command: ["python3", file], tools: ["python3"] }
  if (name.endsWith(".go")) return { command: ["go", "run", file], tools: ["go"] }
  return { command: ["java", file], tools: ["javac"] }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { readonly port: number }
  server.close()
  await once(server, "close")
  return port
}

const folder = mkdtempSync(join(tmpdir(), "brokerage-receivers-"))

describe("receivers", () => {
  for (const name of receivers) {
    copyFileSync(join(import.meta.dirname, "../../src/http/guides/receivers", name), join(folder, name))
    const { command, tools } = runsAs(name, folder)
    it.skipIf(!tools.every(hasTool))(
      `${name} answers 204 to signed requests, 400 to others${skipNote(...tools)}`,
      async () => {
        const port = await freePort()
        const [program, ...args] = command
        const child = spawn(program, args, {
          env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret },
          stdio: "ignore"
        })
        try {
          const now = Math.floor(Date.now() / 1_000)
          await vi.waitFor(async () => assert.strictEqual(await post(port, now, signed(now)), 204), {
            timeout: 60_000,
            interval: 100
          })
          assert.strictEqual(await post(port, now, signed(now, `${body} `)), 400, "another body")
          assert.strictEqual(await post(port, now - 400, signed(now - 400)), 400, "too old")
          assert.strictEqual(await post(port, now, ""), 400, "no signature")
        } finally {
          await ended(child)
        }
      },
      90_000
    )
  }
  it("leave nothing behind", () => rmSync(folder, { recursive: true }))
})

const post = async (port: number, at: number, signature: string): Promise<number> => {
  const headers = { "x-brokerage-timestamp": String(at), "x-brokerage-signature": signature }
  return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers })).status
}

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return
  child.kill("SIGKILL")
  await once(child, "exit")
}
