/**
 * All writes of partners are played black box: some scenario calls the route and afterwards checks the whole books. The
 * test reads the sources as text, in milliseconds; a route counts as called if the last fixed part of its path occurs.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { partnerRoutes } from "../src/http/features.ts"
import { nounLists } from "../src/machines/venue/venueNouns.ts"

type Named = { readonly method: string; readonly path: string }

/** The routes, as `METHOD path`, that no text calls and follows with a check of the invariants. */
export const unplayed = (routes: ReadonlyArray<Named>, texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const checking = texts.filter(provesBooks)
  return routes
    .filter(({ path }) => {
      const last = path.split("/").findLast((part) => part !== "" && !part.startsWith(":")) ?? ""
      return !checking.some((text) => new RegExp(`/${last}\\b`).test(text))
    })
    .map(({ method, path }) => `${method} ${path}`)
}

/**
 * True if the text checks the books itself, or opens its service by a helper that checks them after the file's last
 * test.
 */
const provesBooks = (text: string): boolean =>
  text.includes("brokenInvariants(") || (/\bopen(Scenario|Service)\(/.test(text) && !text.includes("damaged: true"))

describe("played black box", () => {
  const folder = join(import.meta.dirname, "scenarios")
  const scenarios = readdirSync(folder)
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
  const writes = partnerRoutes.routes.filter(({ method, rules }) => method !== "GET" && rules.reads !== true)

  it("every write of the partner's contract has a scenario that checks the books", () =>
    assert.deepStrictEqual(unplayed(writes, scenarios), []))

  it("every noun of the venue has a crash test that reads its table", () => {
    const crashes = readdirSync(join(import.meta.dirname, "crash"))
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => readFileSync(join(import.meta.dirname, "crash", name), "utf8"))
    assert.deepStrictEqual(
      nounLists.filter((list) => !crashes.some((text) => text.includes(`FROM ${list}`))),
      []
    )
  })

  it("misses a route that is called where nothing is checked, or only looks like one that is", () =>
    assert.deepStrictEqual(
      unplayed(
        [
          { method: "POST", path: "/clients/:clientId/a" },
          { method: "POST", path: "/clients/:clientId/b" },
          { method: "POST", path: "/c/:cId/cancel" }
        ],
        ["`/clients/${id}/a`", "`/clients/${id}/bb` `/c/${id}/cancel` brokenInvariants()"]
      ),
      ["POST /clients/:clientId/a", "POST /clients/:clientId/b"]
    ))

  it("an opened scenario checks the books by itself, unless it damages them", () => {
    const routes = [{ method: "POST", path: "/a" }]
    assert.deepStrictEqual(unplayed(routes, ["await openScenario() `/a`"]), [])
    assert.deepStrictEqual(unplayed(routes, ["await openScenario({ damaged: true }) `/a`"]), ["POST /a"])
  })
})
