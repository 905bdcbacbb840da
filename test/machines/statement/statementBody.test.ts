/** Requests for a statement in every wrong form, and the period that each valid request means (A2-65, STS-15). */
import { assert, describe, it } from "@effect/vitest"
import { decodeStatement } from "../../../src/machines/statement/StatementBody.ts"
import { periodOf } from "../../../src/machines/statement/statementPeriod.ts"

const now = Date.parse("2026-08-15T10:00:00Z")
const day = 86_400_000

const errorsOf = (body: unknown): Readonly<Record<string, string>> => {
  const decoded = decodeStatement(body)
  return decoded.ok ? {} : decoded.errors
}
const judged = (body: unknown) => {
  const decoded = decodeStatement(body)
  if (!decoded.ok || decoded.request.kind === "TAX") throw new Error(JSON.stringify(decoded))
  return periodOf(decoded.request, now)
}
const period = (body: unknown) => {
  const verdict = judged(body)
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal))
  const { from, to } = verdict.value
  return [new Date(from).toISOString(), new Date(to).toISOString()]
}
const refused = (body: unknown) => {
  const verdict = judged(body)
  return verdict.ok || verdict.refusal._tag !== "Invalid" ? null : Object.keys(verdict.refusal.errors ?? {})
}

describe("fields", () => {
  it.each<[unknown, ReadonlyArray<string>]>([
    [{}, ["kind"]],
    [{ kind: "account" }, ["kind"]],
    [{ kind: 7 }, ["kind"]],
    [{ kind: "ACCOUNT", from: "1", to: 2 }, ["from"]],
    [{ kind: "ACCOUNT", from: -1, to: 2 }, ["from"]],
    [{ kind: "ACCOUNT", from: 1.5, to: 2 }, ["from"]],
    [{ kind: "ACCOUNT", from: 1, to: 1e18 }, ["to"]],
    [{ kind: "ACCOUNT", from: 1 }, ["to"]],
    [{ kind: "ACCOUNT", to: 1 }, ["from"]],
    [{ kind: "ACCOUNT", taxYear: 2025, quarter: "2026-Q1" }, ["taxYear", "quarter"]],
    [{ kind: "TAX", from: 1, to: 2 }, ["from", "to"]],
    [{ kind: "TAX", taxYear: "2025" }, ["taxYear"]],
    [{ kind: "TAX", taxYear: 1999 }, ["taxYear"]],
    [{ kind: "TAX", taxYear: 2025.5 }, ["taxYear"]],
    [{ kind: "TAX", quarter: "2026-Q1" }, ["quarter"]],
    [{ kind: "CLIENT_ASSETS", quarter: "2026-Q5" }, ["quarter"]],
    [{ kind: "CLIENT_ASSETS", quarter: "2026Q1" }, ["quarter"]],
    [{ kind: "CLIENT_ASSETS", quarter: 1 }, ["quarter"]],
    [{ kind: "CLIENT_ASSETS", quarter: "0026-Q1" }, ["quarter"]],
    [{ kind: "CLIENT_ASSETS", quarter: "1999-Q4" }, ["quarter"]],
    [{ kind: "CLIENT_ASSETS", quarter: "9999-Q1" }, ["quarter"]],
    [{ kind: "CLIENT_ASSETS", taxYear: 2025 }, ["taxYear"]]
  ])("STS-15: %j is refused by %j", (body, fields) => assert.deepStrictEqual(Object.keys(errorsOf(body)), fields))

  it.each([[null], [[]], ["ACCOUNT"], [7]])("A1-01: %j is no object", (body) => {
    const decoded = decodeStatement(body)
    assert.deepStrictEqual(decoded.ok ? null : decoded.errors, {})
  })

  it("A1-01: a null field counts as not sent", () =>
    assert.deepStrictEqual(decodeStatement({ kind: "TAX", taxYear: null, from: null }), {
      ok: true,
      request: { kind: "TAX", taxYear: null }
    }))
})

describe("periods", () => {
  it("A2-65: the last month and quarter that have ended", () => {
    assert.deepStrictEqual(period({ kind: "ACCOUNT" }), ["2026-07-01T00:00:00.000Z", "2026-08-01T00:00:00.000Z"])
    assert.deepStrictEqual(period({ kind: "CLIENT_ASSETS" }), ["2026-04-01T00:00:00.000Z", "2026-07-01T00:00:00.000Z"])
    assert.deepStrictEqual(period({ kind: "CLIENT_ASSETS", quarter: "2025-Q4" }), [
      "2025-10-01T00:00:00.000Z",
      "2026-01-01T00:00:00.000Z"
    ])
  })

  it("A2-65: an end in the future becomes now", () => {
    const verdict = judged({ kind: "COSTS", from: now - day, to: now + 400 * day })
    assert.deepInclude(verdict.ok ? verdict.value : null, { from: now - day, to: now, cutFrom: now + 400 * day })
  })

  it.each<[unknown, ReadonlyArray<string>]>([
    [{ kind: "ACCOUNT", from: now - 1, to: now - 1 }, ["to"]],
    [{ kind: "ACCOUNT", from: now - 1, to: now - 2 }, ["to"]],
    [{ kind: "ACCOUNT", from: now, to: now + 1 }, ["from"]],
    [{ kind: "ACCOUNT", from: now + day, to: now }, ["from", "to"]],
    [{ kind: "TRANSACTIONS", from: now - 367 * day, to: now }, ["to"]],
    [{ kind: "CLIENT_ASSETS", quarter: "2026-Q3" }, ["quarter"]]
  ])("STS-15: %j is refused by %j", (body, fields) => assert.deepStrictEqual(refused(body), fields))

  it("STS-15: 366 days are allowed", () =>
    assert.isTrue(judged({ kind: "ACCOUNT", from: now - 366 * day, to: now }).ok))
})
