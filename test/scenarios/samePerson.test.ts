/**
 * The same person twice, whichever client ends first, and the declarations of a revision, on the real service (doc 1,
 * Rules of POST /clients and PUT .../kyc 4 and 7; D1; A1-28).
 */
import { assert, describe, it } from "@effect/vitest"
import { personClaims } from "../../src/machines/kyc/personKey.ts"
import { RowReads } from "../../src/runtime/ports/RowReads.ts"
import { samePersonAs } from "../../src/runtime/services/clients/client/samePerson.ts"
import { advance, comply, ofClient, onboard, query, rowsOf } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, call, personOf, sectionsOf, eventNames, close, reopen, refuse, nextPerson } = await openScenario()

let copies = 0

type Paths = Readonly<Record<string, unknown>>
/** Onboards person `n` under a new reference and a new e-mail address. */
const onboarded = async (n: number, paths: Paths = {}) => {
  const unique = { partnerClientRef: `same-${++copies}`, email: `same.${copies}@mail.example` }
  const { status, text, json } = await onboard(service, key, { ...personOf(n, paths), ...unique })
  assert.strictEqual(status, 201, text)
  return json.data as { readonly clientId: number; readonly status: string }
}
const revise = async (clientId: number, n: number, names: ReadonlyArray<string>, paths: Paths = {}) => {
  const answer = await call("PUT", clientId, "/kyc", sectionsOf(n, names, paths))
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.json.data
}
const casesOf = async (clientId: number) =>
  (await ofClient(service, "cases", clientId)).map(({ state, reason, details }) => [state, reason, details] as const)

describe("who leaves first (A1-28)", () => {
  it("A1-28: the holder of the claim moves away: the one left is still found", async () => {
    const n = nextPerson()
    const [first, second] = [await onboarded(n), await onboarded(n)]
    assert.deepStrictEqual([first.status, second.status], ["ACTIVE", "PENDING_REVIEW"])
    await revise(first.clientId, n, ["identification"], { "kyc.identification.number": "MOVED0001" })
    const third = await onboarded(n)
    assert.strictEqual(third.status, "PENDING_REVIEW")
    const [[, reason, details] = []] = await casesOf(third.clientId)
    assert.deepStrictEqual([reason, details?.["duplicateOf"]], ["DUPLICATE_PERSON", second.clientId])
    // The first document again: the client is the same person as both others.
    await revise(first.clientId, n, ["identification"])
    assert.deepInclude((await casesOf(first.clientId))[0]?.[2], { reasons: ["DUPLICATE_PERSON"] })
  })

  it("A1-28: the holder closes first, then the other: the person is free again", async () => {
    const n = nextPerson()
    const [first, second] = [await onboarded(n), await onboarded(n)]
    await close(first.clientId)
    const third = await onboarded(n)
    assert.strictEqual(third.status, "PENDING_REVIEW")
    await close(second.clientId)
    await close(third.clientId)
    assert.strictEqual((await onboarded(n)).status, "ACTIVE")
  })

  it("A1-28: a claim that its holder left behind is given back with the last client of the person", async () => {
    const n = nextPerson()
    const { clientId } = await onboarded(n)
    const [row] = await rowsOf(service, "clients", "id = $1", [BigInt(clientId)])
    const gone = (await onboarded(nextPerson())).clientId
    await close(gone)
    await query(service, "UPDATE claims SET owner = $1 WHERE name = $2", [
      BigInt(gone),
      personClaims(row?.personKey ?? "")[0] ?? ""
    ])
    await close(clientId)
    assert.strictEqual((await onboarded(n)).status, "ACTIVE")
  })

  it("A1-28, A1-48: a person refused for good stays known, whichever of its clients closes and in any order", async () => {
    const n = nextPerson()
    const [first, second] = [await onboarded(n), await onboarded(n)]
    await refuse(second.clientId)
    await close(second.clientId)
    await close(first.clientId)
    const third = await onboarded(n)
    assert.strictEqual(third.status, "PENDING_REVIEW")
    assert.deepInclude((await casesOf(third.clientId))[0]?.[2], { duplicateOf: second.clientId })
  })

  it("D1: a refusal that was taken back is none", async () => {
    const n = nextPerson()
    const [first, second] = [await onboarded(n), await onboarded(n)]
    await refuse(second.clientId)
    await reopen(second.clientId)
    await close(second.clientId)
    await close(first.clientId)
    assert.strictEqual((await onboarded(n)).status, "ACTIVE")
  })

  it("D1: clients that the sandbox closes by itself leave no person behind", async () => {
    const n = nextPerson()
    const sandbox = { "kyc.personalInfo.last_name": "Closedlater" }
    const { clientId } = await onboarded(n, sandbox)
    await advance(service, 60_000)
    const [row] = await rowsOf(service, "clients", "id = $1", [BigInt(clientId)])
    assert.strictEqual(row?.state, "CLOSED")
    assert.strictEqual((await onboarded(n, sandbox)).status, "ACTIVE")
  })

  it("A1-28: the search continues beyond a page of closed clients", async () => {
    const n = nextPerson()
    const ids: Array<number> = []
    for (let copy = 0; copy < 5; copy++) ids.push((await onboarded(n)).clientId)
    const [open, ...closed] = ids as [number, ...Array<number>]
    for (const clientId of closed) await close(clientId)
    const [row] = await rowsOf(service, "clients", "id = $1", [BigInt(open)])
    const search = (besides: number) =>
      service.run(RowReads.use((stored) => samePersonAs(stored, row?.personKey ?? "", besides, 2)))
    assert.deepStrictEqual(
      [await search(0), await search(open)],
      [{ clientId: open, refusedAt: null, refused: [] }, null]
    )
  })
})

describe("declarations in a revision (A1-28)", () => {
  const mayor = {
    "kyc.pep.is_pep": true,
    "kyc.pep.details": { position: "mayor", country: "FR", institution: "City", start_date: "2020-03-01" }
  }
  const high = { "attestation.riskRating": "HIGH" }

  it("A1-28: a function declared later and a HIGH rating are reviewed, not held, and not published", async () => {
    const n = nextPerson()
    const { clientId } = await onboarded(n)
    const answer = await revise(clientId, n, ["pep"], { ...mayor, ...high })
    assert.deepInclude(answer, { lifecycleState: "ACTIVE", status: "ACCEPTED", screening: "NOT_RUN" })
    const [[state, reason, details] = [], ...more] = await casesOf(clientId)
    assert.deepStrictEqual(
      [state, reason, details?.["reasons"], more],
      ["OPEN", "PEP_DECLARED", ["PEP_DECLARED", "HIGH_RISK_RATING"], []]
    )
    assert.deepStrictEqual(await eventNames(clientId), ["client.onboarded"])
    assert.deepStrictEqual(await ofClient(service, "notifications", clientId), [])
    // The declaration opens a case once, and not again after compliance has decided it.
    await revise(clientId, n, ["pep"], { ...mayor, ...high })
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), "known to us"))
    await revise(clientId, n, ["pep"], { ...mayor, ...high })
    await revise(clientId, n, ["fatca"], high)
    assert.deepStrictEqual(
      (await casesOf(clientId)).map(([was]) => was),
      ["CLEARED"]
    )
    const [row] = await rowsOf(service, "clients", "id = $1", [BigInt(clientId)])
    assert.strictEqual(row?.state, "ACTIVE")
  })

  it("A1-28: while a case is open a rating that falls and rises again opens no second one", async () => {
    const n = nextPerson()
    const { clientId } = await onboarded(n)
    for (const riskRating of ["HIGH", "LOW", "HIGH"]) {
      await revise(clientId, n, ["fatca"], { "attestation.riskRating": riskRating })
    }
    assert.deepStrictEqual(
      (await casesOf(clientId)).map(([state, reason]) => [state, reason]),
      [["OPEN", "HIGH_RISK_RATING"]]
    )
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), "looked at"))
    await revise(clientId, n, ["fatca"], { "attestation.riskRating": "LOW" })
    await revise(clientId, n, ["fatca"], high)
    assert.deepStrictEqual(
      (await casesOf(clientId)).map(([state]) => state),
      ["CLEARED", "OPEN"]
    )
  })
})
