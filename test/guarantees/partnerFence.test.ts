/**
 * A partner's status, reliance and keys are checked at the moment of the commit, not at the moment of the gate
 * (architecture, Journal: fence; doc 1, Rules of POST /clients 1; D15, D17): nothing is booked after the operator's
 * command, and a partner with client money is never closed. The audit stream proves it, because its order is commit
 * order.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { Partners } from "../../src/runtime/services/lifecycle/Partners.ts"
import { query } from "../support/Builders.ts"
import { type Answer, operator, startService } from "../support/Service.ts"
import { openService } from "../support/Scenario.ts"

const service = await openService(startService)

describe("partner fence", () => {
  let serial = 0

  const move = (code: string, to: "SUSPENDED" | "CLOSED") =>
    service.run(Effect.flatMap(Partners, (partners) => partners.status(operator, code, to, "test")))

  /** Reports and onboardings of a partner in flight while `act` runs. Returns their answers. */
  const underLoad = async (
    key: string,
    clientId: number,
    act: () => Promise<unknown>
  ): Promise<ReadonlyArray<Answer>> => {
    const sends = Array.from({ length: 40 }, (_, n) =>
      n % 2 === 0
        ? service.call("POST", `/partner/v1/clients/${clientId}/collateral`, {
            key,
            body: { partnerRef: `r${++serial}`, direction: "DEPOSIT", amount: "1.00" }
          })
        : service.call("POST", "/partner/v1/clients", { key, body: sampleOnboarding(++serial, "fence", Date.now()) })
    )
    // The command starts after the first answers, while the other requests are in flight.
    const moved = Promise.race(sends.slice(0, 4)).then(act)
    const answers = await Promise.all(sends)
    await moved
    return answers
  }

  /** Partner writes with an audit row after the operator's action. */
  const writesAfter = async (partnerId: number, action: string): Promise<number> => {
    const rows = await query<{ n: bigint }>(
      service,
      `SELECT count(*) AS n FROM audit WHERE partner_id = ${partnerId} AND role = 'PARTNER'
         AND id > (SELECT max(id) FROM audit WHERE partner_id = ${partnerId} AND action = '${action}')`
    )
    return Number(rows[0]?.n)
  }

  it.each([1, 2, 3, 4, 5])("nothing is written after a suspension, round %d", async (round) => {
    const partner = await service.partner({ code: `SUS${round}` })
    const clientId = await service.client(partner.key)
    const answers = await underLoad(partner.key, clientId, () => move(partner.code, "SUSPENDED"))
    assert.isTrue(answers.every(({ status, json }) => status === 201 || (status === 403 && json.code === 4037)))
    assert.strictEqual(await writesAfter(partner.partnerId, "partner.suspend"), 0)
  })

  it.each([1, 2, 3])("D17: a revoked key writes nothing, round %d", async (round) => {
    const partner = await service.partner({ code: `KEY${round}` })
    const clientId = await service.client(partner.key)
    const revoke = () =>
      service.run(Effect.flatMap(Partners, (partners) => partners.revokeKey(operator, partner.keyId, "lost")))
    const answers = await underLoad(partner.key, clientId, revoke)
    assert.isTrue(answers.every(({ status, json }) => status === 201 || (status === 401 && json.code === 4010)))
    const late = await query<{ n: bigint }>(
      service,
      `SELECT count(*) AS n FROM audit WHERE partner_id = ${partner.partnerId} AND role = 'PARTNER'
         AND id > (SELECT max(id) FROM audit WHERE action = 'key.revoke' AND object = 'apiKey:${partner.keyId}')`
    )
    assert.strictEqual(Number(late[0]?.n), 0)
  })

  it.each([1, 2, 3])("no client is onboarded after reliance is suspended, round %d", async (round) => {
    const partner = await service.partner({ code: `REL${round}` })
    const clientId = await service.client(partner.key)
    const suspend = () =>
      service.run(
        Effect.flatMap(Partners, (partners) => partners.reliance(operator, partner.code, "SUSPENDED", "test"))
      )
    const answers = await underLoad(partner.key, clientId, suspend)
    assert.isTrue(answers.every(({ status, json }) => status === 201 || (status === 403 && json.code === 4036)))
    const late = await query<{ n: bigint }>(
      service,
      `SELECT count(*) AS n FROM audit WHERE partner_id = ${partner.partnerId} AND action = 'client.onboard'
         AND id > (SELECT max(id) FROM audit WHERE partner_id = ${partner.partnerId} AND action = 'reliance.suspend')`
    )
    assert.strictEqual(Number(late[0]?.n), 0)
  })

  it.each([1, 2, 3, 4, 5])("D15: a partner with client money is never CLOSED, round %d", async (round) => {
    const partner = await service.partner({ code: `CLO${round}` })
    const clientId = await service.client(partner.key)
    const verdicts: Array<boolean> = []
    await underLoad(partner.key, clientId, async () => void verdicts.push((await move(partner.code, "CLOSED")).ok))
    const rows = await query<{ state: string; cash: string }>(
      service,
      `SELECT state, (SELECT coalesce(sum(cash), 0)::text FROM balances b WHERE b.partner_id = p.id) AS cash
         FROM partners p WHERE id = ${partner.partnerId}`
    )
    const [row] = rows
    assert.isTrue(
      row?.state === "CLOSED"
        ? row.cash === "0" && verdicts[0] === true
        : row?.state === "ACTIVE" && verdicts[0] === false
    )
    if (row?.state === "CLOSED") assert.strictEqual(await writesAfter(partner.partnerId, "partner.close"), 0)
  })
})
