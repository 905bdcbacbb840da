/**
 * An answer to a partner survives the service: a second service takes over the database while the first is under load
 * and can't finish (doc 1, Idempotency; A1-51, A1-53; architecture, Commit and takeover).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Journal } from "../../src/runtime/engine/journal/Journal.ts"
import { brokenInvariants, collateral, get, onboard, person, query, rowsOf } from "../support/Builders.ts"
import { type Answer, type Service, startService } from "../support/Service.ts"

describe("restart", () => {
  const lives: Array<Service> = []
  let key: string
  let partnerId: number
  let clients: ReadonlyArray<number>
  /** The service that owns the database. */
  const service = (): Service => lives.at(-1) as Service
  const restart = async (): Promise<void> => void lives.push(await startService({ database: service().database }))

  beforeAll(async () => {
    lives.push(await startService())
    ;({ key, partnerId } = await service().partner())
    clients = await Promise.all(Array.from({ length: 4 }, () => service().client(key)))
  })
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service()), [])
    for (const life of lives.toReversed()) await life.stop()
  })

  const send = (life: Service, n: number, extra: object = {}): Promise<Answer> =>
    collateral(
      life,
      key,
      clients[n % clients.length] as number,
      { partnerRef: `r-${n}`, direction: "DEPOSIT", amount: "1", ...extra },
      { "idempotency-key": `k-${n}` }
    )
  const told = (answer: Answer) => [answer.status, answer.text]

  it("A1-51: answers of every kind replay byte for byte, and reads are the same", async () => {
    const bodies = [
      person(1, "kept"),
      person(2, "kept", { "attestation.riskRating": "HIGH" }),
      person(3, "kept", { email: "no" }),
      person(4, "kept", { partnerClientRef: "kept-1" })
    ]
    const requests: ReadonlyArray<(life: Service) => Promise<Answer>> = [
      ...bodies.map((body, n) => (life: Service) => onboard(life, key, body, { "idempotency-key": `o-${n}` })),
      (life) => send(life, 1),
      (life) => send(life, 2, { direction: "WITHDRAWAL", amount: "50" }),
      (life) => send(life, 3, { amount: "0" }),
      (life) => send(life, 4, { amount: "20000" })
    ]
    const first = []
    for (const request of requests) first.push(await request(service()))
    assert.deepStrictEqual(
      first.map((answer) => answer.status),
      [201, 201, 400, 409, 201, 409, 400, 403]
    )
    const routes = [
      "/clients",
      "/collateral",
      ...clients.flatMap((id) => [`/clients/${id}/balances`, `/clients/${id}/ledger`, `/clients/${id}/verification`])
    ]
    const reads = await Promise.all(routes.map((route) => get(service(), key, route)))
    await restart()
    for (const [index, request] of requests.entries()) {
      const again = await request(service())
      assert.deepStrictEqual(told(again), told(first[index] as Answer))
      assert.strictEqual(again.headers["idempotency-replayed"], "true")
    }
    const after = await Promise.all(routes.map((route) => get(service(), key, route)))
    assert.deepStrictEqual(after.map(told), reads.map(told))
  })

  it("A1-53: taken over under load, every report is booked exactly once in the end", async () => {
    const dying = service()
    const before = new Set(await bookedRefs())
    const answers = new Map<number, Answer>()
    let next = 1_000
    const work = async (): Promise<void> => {
      for (;;) {
        const n = next++
        const answer = await send(dying, n)
        answers.set(n, answer)
        // The service that lost the database gives only this answer from then on.
        if (answer.status === 503) return
      }
    }
    const working = Promise.all(Array.from({ length: 8 }, work))
    // A takeover can be quicker than the first answer.
    await vi.waitFor(() => assert.isTrue([...answers.values()].some(({ status }) => status === 201)), 10_000)
    await restart()
    await working
    const statuses = new Set([...answers.values()].map(({ status }) => status))
    assert.sameMembers([...statuses], [201, 503])
    for (const [n, answer] of answers) {
      const again = await send(service(), n)
      assert.strictEqual(again.status, 201)
      if (answer.status === 201) assert.deepStrictEqual(told(again), told(answer))
    }
    const refs = (await bookedRefs()).filter((ref) => !before.has(ref))
    assert.deepStrictEqual(refs.sort(), [...answers.keys()].map((n) => `r-${n}`).sort())
  })

  it("the balance is the sum of the acknowledged reports", async () => {
    for (const id of clients) {
      const rows = await query<{ readonly total: string }>(
        service(),
        "SELECT coalesce(sum(amount), 0)::text AS total FROM postings WHERE client_id = $1",
        [BigInt(id)]
      )
      const { cash } = (await get(service(), key, `/clients/${id}/balances`)).json.balances[0]
      assert.strictEqual(cash.replace(".", "").replace(/^0+(?=\d)/, ""), rows[0]?.total)
    }
  })

  it("takeover: the first service stops for ever, refuses writes with 503, and is notified once", async () => {
    const usurped = service()
    let stops = 0
    await usurped.run(Journal.useSync((journal) => journal.onUsurped(() => void stops++)))
    await restart()
    await vi.waitFor(() => assert.strictEqual(stops, 1), 10_000)
    const before = await bookedRefs()
    for (let n = 0; n < 3; n++) {
      const { status, json, headers } = await send(usurped, 3_000 + n)
      assert.deepStrictEqual([status, json.code, headers["retry-after"]], [503, 5030, "1"])
      assert.strictEqual((await onboard(usurped, key, person(100 + n, "late"))).status, 503)
    }
    assert.strictEqual(stops, 1)
    assert.deepStrictEqual(await bookedRefs(), before)
    for (let n = 0; n < 3; n++) assert.strictEqual((await send(service(), 3_000 + n)).status, 201)
  })

  it("A1-53: a key that a 503 released runs in the next process", async () => {
    const [dead, living] = [lives.at(-2) as Service, service()]
    const body = person(200, "back")
    const refused = await onboard(dead, key, body, { "idempotency-key": "given-back" })
    assert.strictEqual(refused.status, 503)
    const done = await onboard(living, key, body, { "idempotency-key": "given-back" })
    assert.deepStrictEqual([done.status, done.headers["idempotency-replayed"]], [201, undefined])
  })

  it("event numbers continue without a gap over every takeover", async () => {
    const seqs = (await rowsOf(service(), "events", "partner_id = $1", [BigInt(partnerId)])).map(({ seq }) => seq)
    assert.deepStrictEqual(
      seqs,
      seqs.map((_, index) => index + 1)
    )
  })

  const bookedRefs = async (): Promise<ReadonlyArray<string> & Array<string>> =>
    (
      await query<{ readonly ref: string }>(
        service(),
        "SELECT context ->> 'partnerRef' AS ref FROM collateral_reports WHERE state = 'BOOKED' ORDER BY id"
      )
    ).map(({ ref }) => ref)
})
