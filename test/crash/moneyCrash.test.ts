/**
 * kill -9 of the service exactly at each pause point of every money transition. Writes are neither lost nor doubled,
 * answers are replayed byte for byte, and `ledger verify` holds (architecture, Proof: crash runs; SC-PLT-04; doc 3,
 * States and transitions).
 *
 * One start per transition: the restarted service answers the retry of the last transition, which passes the point once
 * if it has to commit, and is killed in the next transition.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { pausePoints } from "../../src/runtime/engine/PausePoints.ts"
import type { PartnerAnswer } from "../../simulator/partner/PartnerClient.ts"
import { ledgerFaults } from "./crashRound.ts"
import { type CrashWorld, withCrashWorld } from "./CrashWorld.ts"
import {
  type Books,
  dataOf,
  makeMoneyDesk,
  type MoneyDesk,
  type Move,
  type MoveName,
  moveNames,
  type Row
} from "./moneyMoves.ts"
import { isDeep, played } from "../support/every.ts"
import { bounded } from "./patience.ts"
import { restartToDieAt, screenedOnce } from "./strike.ts"

const seed = 30_811

/** Before the commit nothing is stored, after it everything: the expected state after the restart. */
const isCommitted = (point: string): boolean => point === "after-commit"

/** Only requests with a key pass the point behind its claim. */
const passes = (point: string, { call }: Move): boolean => point !== "after-claim" || call.idempotencyKey !== undefined

/**
 * A sixth of the transitions. A deep run plays half of them at each point, so each at half of the points; slices play
 * the others.
 */
const sampled = (point: (typeof pausePoints)[number], names: ReadonlyArray<MoveName>): ReadonlyArray<MoveName> => {
  const half = names.filter((_, index) => (index + pausePoints.indexOf(point)) % 2 === 0)
  return played({ usual: names.filter((_, index) => index % 6 === 0), deep: half, every: names })
}

const listOf = (data: Row): ReadonlyArray<Row> =>
  (Object.values(data).find((value) => Array.isArray(value)) ?? []) as ReadonlyArray<Row>

describe("money transitions, killed", () => {
  for (const point of isDeep ? pausePoints : (["before-commit"] as const))
    it.live(
      `SC-PLT-04: killed at ${point} of money transitions, the service loses and doubles nothing`,
      () =>
        withCrashWorld({ seed, rate: 1, workers: 4 }, (world) =>
          Effect.gen(function* () {
            const desk = yield* makeMoneyDesk(world)
            const names = sampled(
              point,
              moveNames.filter((name) => point !== "after-claim" || isKeyed(name))
            )
            const moves = yield* Effect.forEach(names, desk.ready)
            const books = booksOf(world, desk)
            yield* screenedOnce(world)
            assert.deepStrictEqual(yield* restartToDieAt(world, point, 1), [])
            const answers: Array<readonly [Move, PartnerAnswer]> = []
            for (const [index, move] of moves.entries()) {
              assert.isTrue(passes(point, move))
              const struck = yield* Effect.exit(move.client.send(move.call))
              assert.isTrue(Exit.isFailure(struck), `${move.name} was answered, not killed at ${point}`)
              assert.strictEqual((yield* bounded("the kill", world.service().exited)).signal, "SIGKILL")
              const last = index === moves.length - 1
              yield* world.start(last ? {} : { killAt: { point, times: isCommitted(point) ? 1 : 2 } })
              const found = yield* books(move)
              // A report over several clients may be partly done.
              if (move.name !== "items reported")
                assert.deepStrictEqual(found, isCommitted(point) ? move.after : move.before, move.name)
              if (move.name === "client paid out" && isCommitted(point)) continue
              answers.push([move, yield* desk.send(move.client, move.call)])
            }
            for (const [move, answer] of answers) yield* assertOnce(desk, move, answer)
            for (const move of moves) {
              assert.deepStrictEqual(yield* books(move), move.after, move.name)
              yield* assertObject(desk, move)
            }
            assert.deepStrictEqual(yield* ledgerFaults(world), [])
          })
        ),
      240_000
    )

  it.live.runIf(isDeep)(
    "SC-CUS-07: killed while the partner cancels and finance approves at the same time, exactly one of them succeeds, once",
    () =>
      withCrashWorld({ seed, rate: 1, workers: 4 }, (world) =>
        Effect.gen(function* () {
          const desk = yield* makeMoneyDesk(world)
          const moves = yield* Effect.forEach(pausePoints, () => desk.ready("withdrawal cancelled"))
          for (const [index, point] of pausePoints.entries()) {
            const move = moves[index] as Move
            const path = `/operator/v1/withdrawals/${/withdrawals\/(\d+)/.exec(move.call.path)?.[1]}/approve`
            const approve = { method: "POST", path } as const
            yield* screenedOnce(world)
            assert.deepStrictEqual(yield* restartToDieAt(world, point, 1), [])
            const both = [Effect.exit(move.client.send(move.call)), Effect.exit(world.operator.send(approve))]
            yield* Effect.all(both, { concurrency: 2 })
            assert.strictEqual((yield* bounded("the kill", world.service().exited)).signal, "SIGKILL")
            yield* world.start()
            const [cancelled, approved] = yield* Effect.all(
              [desk.send(move.client, move.call), desk.send(world.operator, approve)],
              { concurrency: 2 }
            )
            const taken = cancelled.status === 200
            assert.strictEqual(dataOf(approved)["status"], taken ? "CANCELLED" : "APPROVED", point)
            assert.strictEqual(taken ? approved.status : cancelled.status, 409, point)
            const books: Books = taken ? move.after : ["6.000000", "0.000000", 4]
            assert.deepStrictEqual(yield* booksOf(world, desk)(move), books, point)
            const again = yield* desk.send(move.client, move.call)
            assert.deepStrictEqual([again.body.toString(), again.replayed], [cancelled.body.toString(), true], point)
          }
          assert.deepStrictEqual(yield* ledgerFaults(world), [])
        })
      ),
    240_000
  )
})

const isKeyed = (name: Move["name"]): boolean =>
  name === "deposit filed" ||
  name === "withdrawal requested" ||
  name === "withdrawal cancelled" ||
  name === "items reported"

/**
 * Checks that the request succeeded, or was refused because it had been carried out. With a key every repetition
 * returns the same bytes.
 */
const assertOnce = Effect.fnUntraced(function* (desk: MoneyDesk, move: Move, answer: PartnerAnswer) {
  if (move.call.idempotencyKey === undefined) {
    const done = answer.status === 200 || dataOf(answer)["status"] === move.object?.status
    return assert.isTrue(done, `${move.name}: ${answer.body.toString()}`)
  }
  assert.isBelow(answer.status, 300, `${move.name}: ${answer.body.toString()}`)
  const again = yield* desk.send(move.client, move.call)
  assert.deepStrictEqual(
    [again.status, again.body.toString(), again.replayed],
    [answer.status, answer.body.toString(), true],
    move.name
  )
  const changed = dataOf(answer)["settled"]
  if (move.name === "items reported") assert.strictEqual(changed, 6, "what the request did is told, whoever did it")
})

/** Cash, reserve and the number of postings of the transition's client. */
const booksOf = (world: CrashWorld, desk: MoneyDesk) =>
  Effect.fnUntraced(function* ({ reader, clientId }: Move): Effect.fn.Return<Books> {
    const read = (what: string) =>
      Effect.map(desk.send(reader, { method: "GET", path: `/partner/v1/clients/${clientId}/${what}` }), ({ body }) => {
        const answer = JSON.parse(body.toString()) as { readonly data?: object }
        return (answer.data ?? answer) as { readonly [name: string]: ReadonlyArray<Row> }
      })
    assert.isFalse(world.service().hasExited())
    const usdc = (yield* read("balances"))["balances"]?.find(({ currency }) => currency === "USDC")
    const postings = (yield* read("ledger?limit=500"))["postings"] ?? []
    return [String(usdc?.["cash"]), String(usdc?.["reserved"]), postings.length]
  })

const assertObject = Effect.fnUntraced(function* (desk: MoneyDesk, { name, reader, object }: Move) {
  if (object === null) return
  const rows = listOf(dataOf(yield* desk.send(reader, { method: "GET", path: object.path }))).filter(object.is)
  assert.lengthOf(rows, name === "items reported" ? 6 : 1, name)
  for (const { status = "" } of rows) assert.strictEqual(status, object.status, name)
})
