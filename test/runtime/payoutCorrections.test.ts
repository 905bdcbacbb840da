/**
 * Payouts that an older version booked under PARTNER custody as collateral withdrawals, on a database on which a newer
 * version starts: corrected once, to the last unit, without a change of written rows (decision record 13; A3-43).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { applyEffects } from "../../src/runtime/effects/Interpreter.ts"
import { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { clientSubject, instanceOf } from "../../src/runtime/services/account/clientState.ts"
import { Directory } from "../../src/runtime/services/partners/Directory.ts"
import { Partners } from "../../src/runtime/services/lifecycle/Partners.ts"
import { brokenInvariants, collateral, get, ofClient, onboard, person, query } from "../support/Builders.ts"
import { operator, type Service, startService } from "../support/Service.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { testSealing } from "./engine/fixtures.ts"

type Firm = Awaited<ReturnType<Service["partner"]>>

describe("decision 13: payouts booked as if the partner had paid", () => {
  let database: TestDatabase
  let service: Service
  let persons = 0
  beforeAll(async () => {
    database = await makeTestDatabase()
    service = await start()
  })
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service), [])
    await service.stop()
    await database.drop()
  })
  const start = () => startService({ database: { url: database.url, sealing: testSealing } })
  const restart = async () => {
    await service.stop()
    service = await start()
  }

  /** A client whose collateral the service has paid out, as version 19 booked it. Returns the payout's transaction. */
  const paidOut = async (firm: Firm, amount: string) => {
    const clientId: number = (await onboard(service, firm.key, person(++persons, "owed"))).json.data.clientId
    await collateral(service, firm.key, clientId, { partnerRef: `in-${clientId}`, direction: "DEPOSIT", amount })
    const payout = await service.run(
      Effect.gen(function* () {
        const host = yield* ActorHost
        const directory = yield* Directory
        return yield* host.dispatch({
          subject: clientSubject(clientId),
          by: operator.by,
          partner: () => directory.stamp(firm.partnerId),
          decide: (turn) => {
            const client = turn.state.one("clients")
            const partner = directory.partner(firm.partnerId)
            if (client === undefined || partner === null) throw new Error("no such client")
            const txId = turn.nextId("transaction")
            applyEffects(turn, { ...instanceOf(client, partner), txId }, [
              {
                type: "ledger.post",
                entry: "PARTNER_COLLATERAL_OUT",
                key: `payout:${txId}`,
                currency: "USDC",
                amount: `-${amount}`,
                reason: "relationship ended",
                refs: { payoutId: txId, reference: "case-1" }
              }
            ])
            turn.draft.claim(`payout:${clientId}:case-1`, txId)
            return txId
          }
        })
      })
    )
    return { clientId, payout }
  }
  const steps = (clientId: number) =>
    query(
      service,
      `SELECT t.type, t.key, p.account, p.amount::text AS amount FROM ledger_transactions t JOIN postings p USING (tx_id)
        WHERE t.client_id = $1 AND t.key LIKE 'payout:%' ORDER BY p.posting_id`,
      [BigInt(clientId)]
    )
  const figures = async ({ key }: Firm) => {
    const [line] = (await get(service, key, "/settlement/summary")).json.data.currencies
    return [line.collateralHeld, line.clientCash, line.interfirm.outstanding]
  }
  const close = ({ code }: Firm) =>
    service.run(Partners.use((partners) => partners.status(operator, code, "CLOSED", "contract ended")))

  it("the start reverses the withdrawal and books the partner's debt, once", async () => {
    const firm = await service.partner({ code: "OWES" })
    const { clientId, payout } = await paidOut(firm, "30.000000")
    assert.deepStrictEqual(await figures(firm), ["0.000000", "0.000000", "0.000000"])
    await restart()
    const own = `client:${clientId}`
    const house = `partner_custody:${firm.partnerId}`
    const corrected = [
      { type: "PARTNER_COLLATERAL_OUT", key: `payout:${payout}`, account: own, amount: "-30000000" },
      { type: "PARTNER_COLLATERAL_OUT", key: `payout:${payout}`, account: house, amount: "30000000" },
      { type: "PARTNER_COLLATERAL_OUT", key: `payout:${payout}:reversed`, account: own, amount: "30000000" },
      { type: "PARTNER_COLLATERAL_OUT", key: `payout:${payout}:reversed`, account: house, amount: "-30000000" },
      { type: "MANUAL", key: `payout:${payout}:owed`, account: own, amount: "-30000000" },
      { type: "MANUAL", key: `payout:${payout}:owed`, account: "manual", amount: "30000000" }
    ]
    assert.deepStrictEqual(await steps(clientId), corrected)
    assert.deepStrictEqual(await figures(firm), ["30.000000", "0.000000", "-30.000000"])
    const [item] = await ofClient(service, "settlementItems", clientId)
    assert.deepInclude(item, { state: "PENDING", type: "MANUAL", amount: -30_000_000n })
    const [balance] = await ofClient(service, "balances", clientId)
    assert.deepInclude(balance, { cash: 0n, reserved: 0n, deposited: 30_000_000n })
    assert.deepStrictEqual(await brokenInvariants(service), [])
    assert.isFalse((await close(firm)).ok)
    await restart()
    assert.deepStrictEqual(await steps(clientId), corrected)
  })

  it("a partner that was closed with the debt gets no item; every partner that can report gets its own", async () => {
    const [gone, present] = [await service.partner({ code: "GONE" }), await service.partner({ code: "HERE" })]
    const lost = await paidOut(gone, "5.000000")
    const [one, two] = [await paidOut(present, "7.000000"), await paidOut(present, "0.000001")]
    assert.isTrue((await close(gone)).ok)
    await restart()
    assert.lengthOf(await steps(lost.clientId), 2)
    for (const { clientId } of [one, two]) assert.lengthOf(await steps(clientId), 6)
    assert.deepStrictEqual(await figures(present), ["7.000001", "0.000000", "-7.000001"])
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })
})
