/**
 * The published description as a partner's tools read it: Redocly finds nothing, and the types that openapi-typescript makes of it
 * compile strictly under the TypeScript that most have.
 */
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { assert, describe, it } from "@effect/vitest"
import openapiTS, { astToString } from "openapi-typescript"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { openApiText } from "../src/http/openApiDocument.ts"

const text = openApiText()

/** Findings that the contract forces: by rule, what they are about, and why. */
const forced: Readonly<Record<string, RegExp>> = {
  // The contract's own paths: a reference, or an offer's id, stands where another route has a word. Words win.
  "no-ambiguous-paths": /\/clients\/by-ref\/\{partnerClientRef\}|\/staking\/\{offerId\}\/accept/,
  // Asked without a key, by balancers: it is well, or it is not.
  "operation-4xx-response": /^#\/paths\/~1healthz\/get\/responses$/
}

describe("the published description", () => {
  it("Redocly's recommended rules find nothing that the contract does not force", async () => {
    const config = await createConfig({ extends: ["recommended"] })
    const found = await lintFromString({ source: text, absoluteRef: "/openapi.json", config })
    const seen = new Set<string>()
    const rest = found.filter(({ ruleId, message, location }) => {
      const about = `${message}`
      const isForced = [about, location[0]?.pointer ?? ""].some((place) => forced[ruleId]?.test(place))
      if (isForced) seen.add(ruleId)
      return !isForced
    })
    assert.deepStrictEqual(
      rest.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
      []
    )
    assert.deepStrictEqual([...seen].toSorted(), Object.keys(forced), "each exception is one")
  }, 60_000)

  it("types made of it compile strictly, and are those of what is sent and answered", async () => {
    const folder = mkdtempSync(join(tmpdir(), "brokerage-types-"))
    try {
      writeFileSync(join(folder, "api.ts"), astToString(await openapiTS(text)))
      writeFileSync(join(folder, "use.ts"), use)
      const compiler = createRequire(import.meta.url).resolve("typescript/bin/tsc")
      const flags = [
        "--strict",
        "--noEmit",
        "--target",
        "es2022",
        "--moduleResolution",
        "bundler",
        "--module",
        "esnext"
      ]
      const { stdout } = await promisify(execFile)(process.execPath, [compiler, ...flags, "use.ts"], {
        cwd: folder
      }).catch((failed: { readonly stdout: string }) => failed)
      assert.strictEqual(stdout, "")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }, 120_000)
})

/** What a partner writes against the types; what is marked is no body of the route. */
const use = `
import type { paths, webhooks } from "./api.ts"
type Place = paths["/partner/v1/clients/{clientId}/orders"]["post"]
export const body: Place["requestBody"]["content"]["application/json"] = {
  symbol: "BTC-USDC-PERP", side: "BUY", type: "MARKET", qty: "0.01"
}
// @ts-expect-error a quantity is a decimal text
export const wrong: Place["requestBody"]["content"]["application/json"] = { symbol: "BTC-USDC-PERP", side: "BUY", type: "MARKET", qty: 1 }
export type Events = keyof webhooks
`
