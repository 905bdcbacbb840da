/**
 * kill -9 of the service exactly at each pause point of a change of custody model, in both directions. Either the
 * change exists with its fact and its audit row, or none of the three exists, and a repetition of the command leads to
 * one change (doc 3, Changing the custody model; SC-PLT-04; architecture, Proof: crash runs).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { type PausePoint, pausePoints } from "../../src/runtime/engine/PausePoints.ts"
import type { PartnerCall, PartnerClient } from "../../simulator/partner/PartnerClient.ts"
import { clientsPath } from "../../simulator/partner/PartnerRequest.ts"
import { makeTally, sendUntilAcknowledged } from "../../simulator/partner/sendUntilAcknowledged.ts"
import { ledgerFaults } from "./crashRound.ts"
import { type CrashWorld, withCrashWorld } from "./CrashWorld.ts"
import { bounded } from "./patience.ts"
import { dataOf } from "./moneyMoves.ts"
import { restartToDieAt, screenedOnce } from "./strike.ts"
import { isDeep } from "../support/every.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"

const seed = 60_211
const code = "CUSTODY"

/**
 * All passes of a change through a pause point. First an empty commit ensures that all earlier commits are durable
 * while the partner's clients are held; then comes the change. A command has no Idempotency-Key, so it passes no point
 * behind a claim.
 */
const passes: ReadonlyArray<{ readonly point: PausePoint; readonly times: number; readonly isIn: boolean }> = [
  { point: "after-decide", times: 1, isIn: false },
  { point: "before-commit", times: 1, isIn: false },
  { point: "before-commit", times: 2, isIn: false },
  { point: "after-commit", times: 1, isIn: false },
  { point: "after-commit", times: 2, isIn: true }
]

type Custody = "BROKER" | "PARTNER"
/** The models that the changes lead to, from BROKER on. Each change takes two starts of the service. */
const directions: ReadonlyArray<Custody> = isDeep ? ["PARTNER", "BROKER"] : ["PARTNER"]

const Shown = Schema.Struct({
  custodyModel: Schema.Literals(["BROKER", "PARTNER"]),
  collateralAsset: Schema.String,
  custodyChanges: Schema.optionalKey(
    Schema.Array(Schema.Struct({ before: Schema.String, after: Schema.String, collateralAsset: Schema.String }))
  )
})
const Audit = Schema.Struct({ entries: Schema.Array(Schema.Struct({ action: Schema.String, after: Schema.Unknown })) })

const post = (path: string, body?: object): PartnerCall => ({
  method: "POST",
  path,
  ...(body === undefined ? {} : { body: JSON.stringify(body) })
})
const asset = (custody: Custody): string => (custody === "PARTNER" ? "EURD" : "")
const change = (custody: Custody): PartnerCall =>
  post(`/operator/v1/partners/${code}/custody`, { custody, collateralAsset: asset(custody), reason: "both agreed" })

describe("a change of custody model, killed", () => {
  it.live(
    "SC-PLT-04: killed at every pause point of the change, the partner has the old model or the new one, completely",
    () =>
      withCrashWorld({ seed, rate: 1, workers: 4 }, (world) =>
        Effect.gen(function* () {
          const desk = yield* makeDesk(world)
          let changes = 0
          assert.sameMembers([...pausePoints], ["after-claim", ...new Set(passes.map(({ point }) => point))])
          for (const { point, times, isIn } of isDeep ? passes : passes.slice(-1))
            for (const to of directions) {
              const from = to === "PARTNER" ? "BROKER" : "PARTNER"
              yield* desk.trade(from)
              // Otherwise the screening of the first start would pass the point before the change.
              yield* screenedOnce(world)
              assert.deepStrictEqual(yield* restartToDieAt(world, point, times), [])
              const struck = yield* Effect.exit(world.operator.send(change(to)))
              assert.isTrue(Exit.isFailure(struck), `the change to ${to} was answered, not killed at ${point}`)
              assert.strictEqual((yield* bounded("the kill", world.service().exited)).signal, "SIGKILL")
              yield* world.start()
              yield* desk.assertStands(isIn ? to : from, isIn ? changes + 1 : changes, point)
              const again = yield* desk.send(world.operator, change(to))
              assert.strictEqual(again.status, isIn ? 409 : 200, `${point}: ${again.body.toString()}`)
              yield* desk.assertStands(to, ++changes, point)
            }
          yield* desk.trade(isDeep ? "BROKER" : "PARTNER")
          assert.deepStrictEqual(yield* ledgerFaults(world), [])
        })
      ),
    240_000
  )

  it.live.runIf(isDeep)(
    "SC-PLT-04: killed while the model changes and a deposit notice is filed at the same time, exactly one of them succeeds",
    () =>
      withCrashWorld({ seed: seed + 1, rate: 1, workers: 4 }, (world) =>
        Effect.gen(function* () {
          const desk = yield* makeDesk(world)
          let changes = 0
          for (const { point, times } of passes) {
            const filing = desk.deposit("10")
            assert.deepStrictEqual(yield* restartToDieAt(world, point, times), [])
            const both = [Effect.exit(desk.partner.send(filing)), Effect.exit(world.operator.send(change("PARTNER")))]
            yield* Effect.all(both, { concurrency: 2 })
            // Two commits of one flush pass the point once, so the kill comes right after the answers.
            world.service().signal("SIGKILL")
            assert.strictEqual((yield* bounded("the kill", world.service().exited)).signal, "SIGKILL")
            yield* world.start()
            const [filed, changed] = yield* Effect.all(
              [desk.send(desk.partner, filing), desk.send(world.operator, change("PARTNER"))],
              { concurrency: 2 }
            )
            const isFiled = filed.status < 300
            if (!isFiled) changes++
            assert.strictEqual(isFiled ? changed.status : filed.status, 409, `${point}: ${filed.body.toString()}`)
            yield* desk.assertStands(isFiled ? "BROKER" : "PARTNER", changes, point)
            if (isFiled) {
              const notice = `/operator/v1/deposits/${String(dataOf(filed)["noticeId"])}`
              assert.strictEqual(
                (yield* desk.send(world.operator, post(`${notice}/reject`, { reason: "r" }))).status,
                200
              )
            } else {
              assert.strictEqual((yield* desk.send(world.operator, change("BROKER"))).status, 200)
              changes++
            }
          }
          assert.deepStrictEqual(yield* ledgerFaults(world), [])
        })
      ),
    240_000
  )
})

/** A partner with one client, money in and out under each model, and a check of the change. */
const makeDesk = Effect.fnUntraced(function* (world: CrashWorld) {
  const partner = yield* world.brokerPartner(code)
  let count = 0
  const send = (client: PartnerClient, call: PartnerCall) =>
    sendUntilAcknowledged(client, call, world.random, makeTally())
  const done = Effect.fnUntraced(function* (client: PartnerClient, call: PartnerCall) {
    const answer = yield* send(client, call)
    assert.isBelow(answer.status, 300, `${call.path}: ${answer.body.toString()}`)
    return dataOf(answer)
  })
  const body = sampleOnboarding(1, "custody", Date.now())
  const clientId = String((yield* done(partner, post(clientsPath, body)))["clientId"])
  const file = (kind: string, request: object): PartnerCall => ({
    ...post(`${clientsPath}/${clientId}/${kind}`, { partnerRef: `custody-${++count}`, ...request }),
    idempotencyKey: `custody-${count}`
  })
  const deposit = (amount: string) => file("deposits", { currency: "USDC", amount })
  const report = (direction: "DEPOSIT" | "WITHDRAWAL") => file("collateral", { direction, amount: "5" })
  const order = (path: string, order: object = {}) => done(world.operator, post(`/operator/v1${path}`, order))
  return {
    partner,
    send,
    deposit,
    /** Moves money in and out again by the model's own route, and checks that the other model's route is closed. */
    trade: Effect.fnUntraced(function* (custody: Custody) {
      const other = yield* send(partner, custody === "BROKER" ? report("DEPOSIT") : deposit("1"))
      assert.strictEqual(other.status, 409, other.body.toString())
      if (custody === "PARTNER") {
        yield* done(partner, report("DEPOSIT"))
        yield* done(partner, report("WITHDRAWAL"))
        return
      }
      const { noticeId } = yield* done(partner, deposit("10"))
      yield* order(`/deposits/${String(noticeId)}/confirm`)
      const withdrawal = file("withdrawals", { currency: "USDC", amount: "10", destination: { iban: "X" } })
      const { requestId } = yield* done(partner, withdrawal)
      yield* order(`/withdrawals/${String(requestId)}/approve`)
      yield* order(`/withdrawals/${String(requestId)}/pay`)
    }),
    /** Checks that the partner's model, the facts of its changes and their audit rows agree. */
    assertStands: Effect.fnUntraced(function* (custody: Custody, changes: number, point: string) {
      const read = (path: string) => world.operatorRead(path)
      const shown = Schema.decodeUnknownSync(Shown)(yield* read(`/partners/${code}`))
      const facts = shown.custodyChanges ?? []
      assert.deepStrictEqual([shown.custodyModel, shown.collateralAsset], [custody, asset(custody)], point)
      assert.lengthOf(facts, changes, point)
      if (changes > 0) assert.strictEqual(facts.at(-1)?.after, custody, point)
      const { entries } = Schema.decodeUnknownSync(Audit)(yield* read(`/audit?partner=${code}&limit=500`))
      assert.lengthOf(
        entries.filter(({ action }) => action === "partner.custody"),
        changes,
        point
      )
    })
  }
})
