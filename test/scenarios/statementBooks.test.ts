/**
 * Statements and the books: adjoining periods agree at their border, and all figures agree with the ledger (STS-19,
 * STS-23).
 */
import { assert, describe, it } from "@effect/vitest"
import { get } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, client, now, call } = await openScenario()

interface Section {
  readonly opening: { readonly cash: string; readonly reserved: string }
  readonly closing: { readonly cash: string; readonly reserved: string }
  readonly rows: ReadonlyArray<{ readonly amount: string }>
}

describe("ACCOUNT", () => {
  it("STS-23: the end of a period is the beginning of the next, and equals the balances of that moment", async () => {
    const clientId = await client()
    const moments = [await now()]
    for (let n = 0; n < 4; n++) {
      const body = { partnerRef: `s-${n}`, direction: n === 2 ? "WITHDRAWAL" : "DEPOSIT", amount: `${n + 1}.5` }
      const answer = await call("POST", clientId, "/collateral", body)
      assert.strictEqual(answer.status, 201, answer.text)
      moments.push((await now()) + 1)
      while ((await now()) <= (moments.at(-1) ?? 0)) await get(service, key, "/me")
    }
    const sections: Array<Section> = []
    for (let n = 1; n < moments.length; n++) {
      const row = await call("POST", clientId, "/statements", { kind: "ACCOUNT", from: moments[n - 1], to: moments[n] })
      assert.strictEqual(row.status, 200, row.text)
      const shown = await get(service, key, `/clients/${clientId}/statements/${row.json.statementId}`)
      sections.push(shown.json.model.sections[0])
      const balances = await get(service, key, `/clients/${clientId}/balances?at=${(moments[n] ?? 0) - 1}`)
      assert.strictEqual(balances.json.balances[0].cash, sections.at(-1)?.closing.cash)
    }
    for (const [n, section] of sections.entries()) {
      if (n > 0) assert.deepStrictEqual(section.opening, sections[n - 1]?.closing)
      assert.lengthOf(section.rows, 1)
    }
  })
})
